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

IF OBJECT_ID(N'submission.submission_schema') IS NOT NULL
   AND NOT EXISTS (SELECT 1 FROM sys.columns
                   WHERE object_id = OBJECT_ID(N'submission.submission_schema')
                         AND name = N'compatible_from')
    ALTER TABLE submission.submission_schema
        ADD compatible_from int NULL;
GO

IF OBJECT_ID(N'submission.submission_manager_candidates') IS NOT NULL
   AND NOT EXISTS (SELECT 1 FROM sys.columns
                   WHERE object_id = OBJECT_ID(N'submission.submission_manager_candidates')
                         AND name = N'wake_url')
    ALTER TABLE submission.submission_manager_candidates
        ADD wake_url nvarchar(1024) COLLATE Latin1_General_BIN2 NULL;
GO

IF OBJECT_ID(N'submission.submission_attempts') IS NOT NULL
   AND NOT EXISTS (SELECT 1 FROM sys.columns
                   WHERE object_id = OBJECT_ID(N'submission.submission_attempts')
                         AND name = N'http_status')
    ALTER TABLE submission.submission_attempts
        ADD http_status int NULL;
GO

IF OBJECT_ID(N'submission.submission_attempts') IS NOT NULL
   AND NOT EXISTS (SELECT 1 FROM sys.columns
                   WHERE object_id = OBJECT_ID(N'submission.submission_attempts')
                         AND name = N'answer')
    ALTER TABLE submission.submission_attempts
        ADD answer nvarchar(1000) COLLATE Latin1_General_BIN2 NULL;
GO

IF OBJECT_ID(N'submission.submission_attempts') IS NOT NULL
   AND NOT EXISTS (SELECT 1 FROM sys.columns
                   WHERE object_id = OBJECT_ID(N'submission.submission_attempts')
                         AND name = N'span_id')
    ALTER TABLE submission.submission_attempts
        ADD span_id varchar(16) COLLATE Latin1_General_BIN2 NULL;
GO

IF OBJECT_ID(N'submission.submission_intents') IS NOT NULL
   AND NOT EXISTS (SELECT 1 FROM sys.columns
                   WHERE object_id = OBJECT_ID(N'submission.submission_intents')
                         AND name = N'not_before')
    ALTER TABLE submission.submission_intents
        ADD not_before datetime2(6) NULL;
GO

IF OBJECT_ID(N'submission.submission_intents') IS NOT NULL
   AND NOT EXISTS (SELECT 1 FROM sys.columns
                   WHERE object_id = OBJECT_ID(N'submission.submission_intents')
                         AND name = N'retry_schedule')
    ALTER TABLE submission.submission_intents
        ADD retry_schedule varchar(500) COLLATE Latin1_General_BIN2 NULL;
GO

IF OBJECT_ID(N'submission.submission_intents') IS NOT NULL
   AND NOT EXISTS (SELECT 1 FROM sys.columns
                   WHERE object_id = OBJECT_ID(N'submission.submission_intents')
                         AND name = N'notify')
    ALTER TABLE submission.submission_intents
        ADD notify nvarchar(1000) COLLATE Latin1_General_BIN2 NULL;
GO

IF OBJECT_ID(N'submission.submission_intents') IS NOT NULL
   AND NOT EXISTS (SELECT 1 FROM sys.columns
                   WHERE object_id = OBJECT_ID(N'submission.submission_intents')
                         AND name = N'contract_version')
    ALTER TABLE submission.submission_intents ADD contract_version int NULL;
GO

IF OBJECT_ID(N'submission.submission_intents') IS NOT NULL
   AND NOT EXISTS (SELECT 1 FROM sys.columns
                   WHERE object_id = OBJECT_ID(N'submission.submission_intents')
                         AND name = N'replay_of')
    ALTER TABLE submission.submission_intents
        ADD replay_of nvarchar(400) COLLATE Latin1_General_BIN2 NULL;
GO

IF OBJECT_ID(N'submission.submission_intents') IS NOT NULL
   AND NOT EXISTS (SELECT 1 FROM sys.columns
                   WHERE object_id = OBJECT_ID(N'submission.submission_intents')
                         AND name = N'job_id')
    ALTER TABLE submission.submission_intents
        ADD job_id nvarchar(400) COLLATE Latin1_General_BIN2 NULL;
GO

IF OBJECT_ID(N'submission.submission_intents') IS NOT NULL
   AND NOT EXISTS (SELECT 1 FROM sys.columns
                   WHERE object_id = OBJECT_ID(N'submission.submission_intents')
                         AND name = N'event_of')
    ALTER TABLE submission.submission_intents
        ADD event_of nvarchar(400) COLLATE Latin1_General_BIN2 NULL;
GO

IF OBJECT_ID(N'submission.submission_intents') IS NOT NULL
   AND NOT EXISTS (SELECT 1 FROM sys.columns
                   WHERE object_id = OBJECT_ID(N'submission.submission_intents')
                         AND name = N'traceparent')
    ALTER TABLE submission.submission_intents
        ADD traceparent varchar(64) COLLATE Latin1_General_BIN2 NULL;
GO

IF OBJECT_ID(N'submission.submission_intents') IS NOT NULL
   AND NOT EXISTS (SELECT 1 FROM sys.columns
                   WHERE object_id = OBJECT_ID(N'submission.submission_intents')
                         AND name = N'tracestate')
    ALTER TABLE submission.submission_intents
        ADD tracestate varchar(512) COLLATE Latin1_General_BIN2 NULL;
GO

IF OBJECT_ID(N'submission.submission_intents') IS NOT NULL
   AND NOT EXISTS (SELECT 1 FROM sys.columns
                   WHERE object_id = OBJECT_ID(N'submission.submission_intents')
                         AND name = N'last_error')
    ALTER TABLE submission.submission_intents
        ADD last_error nvarchar(1000) COLLATE Latin1_General_BIN2 NULL;
GO

IF OBJECT_ID(N'submission.submission_intents') IS NOT NULL
   AND NOT EXISTS (SELECT 1 FROM sys.columns
                   WHERE object_id = OBJECT_ID(N'submission.submission_intents')
                         AND name = N'stripped_at')
    ALTER TABLE submission.submission_intents
        ADD stripped_at datetime2(6) NULL;
GO

SET LOCK_TIMEOUT -1;
GO

-- Editions: Enterprise and Developer, Azure SQL, its managed instance.

IF OBJECT_ID(N'submission.submission_intents') IS NOT NULL
   AND CAST(SERVERPROPERTY('EngineEdition') AS int) IN (3, 5, 8)
   AND NOT EXISTS (SELECT 1 FROM sys.indexes
                   WHERE object_id = OBJECT_ID(N'submission.submission_intents')
                         AND name LIKE N'submission[_]intents[_]delayed%')
    EXECUTE (N'
        CREATE INDEX submission_intents_delayed
            ON submission.submission_intents
            (lease_name, next_attempt_at, intent_id)
            INCLUDE (submission_target, not_before, attempt_count, policy,
                     created_at, max_acceptance_seconds)
            WHERE next_attempt_at IS NOT NULL AND not_before IS NOT NULL
                  AND attempt_count = 0
            WITH (ONLINE = ON)');
GO

IF OBJECT_ID(N'submission.submission_intents') IS NOT NULL
   AND CAST(SERVERPROPERTY('EngineEdition') AS int) IN (3, 5, 8)
   AND NOT EXISTS (SELECT 1 FROM sys.indexes
                   WHERE object_id = OBJECT_ID(N'submission.submission_intents')
                         AND name LIKE N'submission[_]intents[_]completed%')
    EXECUTE (N'
        CREATE INDEX submission_intents_completed
            ON submission.submission_intents
            (lease_name, submission_target, status, completed_at, intent_id)
            INCLUDE (stripped_at)
            WHERE completed_at IS NOT NULL AND stripped_at IS NULL
            WITH (ONLINE = ON)');
GO

IF OBJECT_ID(N'submission.submission_intents') IS NOT NULL
   AND CAST(SERVERPROPERTY('EngineEdition') AS int) IN (3, 5, 8)
   AND NOT EXISTS (SELECT 1 FROM sys.indexes
                   WHERE object_id = OBJECT_ID(N'submission.submission_intents')
                         AND name LIKE N'submission[_]intents[_]stripped%')
    EXECUTE (N'
        CREATE INDEX submission_intents_stripped
            ON submission.submission_intents
            (lease_name, submission_target, status, completed_at, intent_id)
            WHERE stripped_at IS NOT NULL
            WITH (ONLINE = ON)');
GO

IF OBJECT_ID(N'submission.submission_intents') IS NOT NULL
   AND CAST(SERVERPROPERTY('EngineEdition') AS int) IN (3, 5, 8)
   AND NOT EXISTS (SELECT 1 FROM sys.indexes
                   WHERE object_id = OBJECT_ID(N'submission.submission_intents')
                         AND name LIKE N'submission[_]intents[_]rejected%')
    EXECUTE (N'
        CREATE INDEX submission_intents_rejected
            ON submission.submission_intents
            (lease_name, submission_target, final_outcome_reason, completed_at)
            WHERE status = ''rejected''
            WITH (ONLINE = ON)');
GO

IF OBJECT_ID(N'submission.submission_intents') IS NOT NULL
   AND CAST(SERVERPROPERTY('EngineEdition') AS int) IN (3, 5, 8)
   AND NOT EXISTS (SELECT 1 FROM sys.indexes
                   WHERE object_id = OBJECT_ID(N'submission.submission_intents')
                         AND name LIKE N'submission[_]intents[_]exhausted%')
    EXECUTE (N'
        CREATE INDEX submission_intents_exhausted
            ON submission.submission_intents
            (lease_name, submission_target, exhausted_reason, completed_at)
            WHERE status = ''exhausted''
            WITH (ONLINE = ON)');
GO

IF OBJECT_ID(N'submission.submission_intents') IS NOT NULL
   AND CAST(SERVERPROPERTY('EngineEdition') AS int) IN (3, 5, 8)
   AND NOT EXISTS (SELECT 1 FROM sys.indexes
                   WHERE object_id = OBJECT_ID(N'submission.submission_intents')
                         AND name LIKE N'submission[_]intents[_]replays%')
    EXECUTE (N'
        CREATE INDEX submission_intents_replays
            ON submission.submission_intents
            (lease_name, replay_of)
            WHERE replay_of IS NOT NULL
            WITH (ONLINE = ON)');
GO

IF OBJECT_ID(N'submission.submission_intents') IS NOT NULL
   AND CAST(SERVERPROPERTY('EngineEdition') AS int) IN (3, 5, 8)
   AND NOT EXISTS (SELECT 1 FROM sys.indexes
                   WHERE object_id = OBJECT_ID(N'submission.submission_intents')
                         AND name LIKE N'submission[_]intents[_]events%')
    EXECUTE (N'
        CREATE INDEX submission_intents_events
            ON submission.submission_intents
            (lease_name, event_of)
            WHERE event_of IS NOT NULL
            WITH (ONLINE = ON)');
GO
