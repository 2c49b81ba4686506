-- The version of the schema.

SET ANSI_NULLS ON;
SET QUOTED_IDENTIFIER ON;
GO

DROP PROCEDURE IF EXISTS submission.submission_schema_version;
GO

CREATE PROCEDURE submission.submission_schema_version
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;

    SELECT CAST(version AS bigint) AS version
    FROM submission.submission_schema;
END
GO
