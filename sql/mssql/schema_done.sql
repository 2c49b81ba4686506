-- Sets the version of the schema, after everything of that version has been made.

SET ANSI_NULLS ON;
SET QUOTED_IDENTIFIER ON;
SET ANSI_PADDING ON;
SET ANSI_WARNINGS ON;
SET ARITHABORT ON;
SET CONCAT_NULL_YIELDS_NULL ON;
SET NUMERIC_ROUNDABORT OFF;
GO

IF NOT EXISTS (SELECT 1 FROM submission.submission_schema)
    INSERT INTO submission.submission_schema (version, compatible_from)
    VALUES (1, 1);
GO

UPDATE submission.submission_schema
SET version = 1,
    compatible_from = 1
WHERE version < 1;
GO
