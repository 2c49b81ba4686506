-- What a module of version 1 asks for, and wants to be 1: so it is while modules of
-- that version may use this schema.  A database that need not write its log before
-- a commit is answered is refused: a client would be told of an intent that is lost
-- with the server.

SET ANSI_NULLS ON;
SET QUOTED_IDENTIFIER ON;
SET ANSI_PADDING ON;
SET ANSI_WARNINGS ON;
SET ARITHABORT ON;
SET CONCAT_NULL_YIELDS_NULL ON;
SET NUMERIC_ROUNDABORT OFF;
GO

CREATE OR ALTER PROCEDURE submission.submission_schema_version
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;

    IF EXISTS (SELECT 1 FROM sys.databases
               WHERE name = DB_NAME() AND delayed_durability = 2)
        THROW 57004, N'DELAYED_DURABILITY is FORCED in this database, so that commits may be lost: ALTER DATABASE CURRENT SET DELAYED_DURABILITY = DISABLED',
              1;

    SELECT CAST(CASE compatible_from WHEN 1 THEN 1 ELSE version END
                AS bigint) AS version
    FROM submission.submission_schema;
END
GO
