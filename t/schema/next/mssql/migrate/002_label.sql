-- From version 1 to 2: what is added to tables that are there, while they are in
-- use.  New tables, the procedures and the version come after it, by schema.sql and
-- the other files: sql/install.sh does.  Every batch may run again, and does nothing
-- on a database that has no tables yet, or has what it adds.
--
-- A column that may be NULL is a change of the catalogue alone, yet it needs the
-- table for itself, and whoever comes after it waits with it: so it waits for a
-- short time, and install.sh tries again.  Indexes are made online where the edition
-- can; elsewhere writers wait for them.

SET ANSI_NULLS ON;
SET QUOTED_IDENTIFIER ON;
SET ANSI_PADDING ON;
SET ANSI_WARNINGS ON;
SET ARITHABORT ON;
SET CONCAT_NULL_YIELDS_NULL ON;
SET NUMERIC_ROUNDABORT OFF;
GO

SET LOCK_TIMEOUT 500;
GO

IF OBJECT_ID(N'submission.submission_schema') IS NOT NULL
    IF EXISTS (SELECT 1 FROM submission.submission_schema WHERE version > 2)
        THROW 57005, N'the schema in this database is newer than these files: take those of the newer release',
              1;
GO

IF OBJECT_ID(N'submission.submission_intents') IS NOT NULL
   AND NOT EXISTS (SELECT 1 FROM sys.columns
                   WHERE object_id = OBJECT_ID(N'submission.submission_intents')
                         AND name = N'label')
    ALTER TABLE submission.submission_intents
        ADD label nvarchar(64) COLLATE Latin1_General_BIN2 NULL;
GO

IF OBJECT_ID(N'submission.submission_intents') IS NOT NULL
   AND CAST(SERVERPROPERTY('EngineEdition') AS int) IN (3, 5, 8)
   AND NOT EXISTS (SELECT 1 FROM sys.indexes
                   WHERE object_id = OBJECT_ID(N'submission.submission_intents')
                         AND name LIKE N'submission[_]intents[_]label%')
    EXECUTE (N'
        CREATE INDEX submission_intents_label
            ON submission.submission_intents (lease_name, label, completed_at)
            WHERE completed_at IS NOT NULL
            WITH (ONLINE = ON)');
GO
