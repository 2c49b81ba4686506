-- Shows the version of the schema, and the first version whose modules may use it; every
-- connection asks for it first.  A database that may answer a commit before the log is
-- written is refused: an intent that a client was told of could be lost with the server.

SET ANSI_NULLS ON;
SET QUOTED_IDENTIFIER ON;
SET ANSI_PADDING ON;
SET ANSI_WARNINGS ON;
SET ARITHABORT ON;
SET CONCAT_NULL_YIELDS_NULL ON;
SET NUMERIC_ROUNDABORT OFF;
GO

CREATE OR ALTER PROCEDURE submission.submission_schema_get
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;

    IF EXISTS (SELECT 1 FROM sys.databases
               WHERE name = DB_NAME() AND delayed_durability = 2)
        THROW 57004, N'DELAYED_DURABILITY is FORCED in this database, so that commits may be lost: ALTER DATABASE CURRENT SET DELAYED_DURABILITY = DISABLED',
              1;

    SELECT CAST(version AS bigint) AS version,
           CAST(compatible_from AS bigint) AS compatible_from
    FROM submission.submission_schema;
END
GO
