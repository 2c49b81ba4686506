-- Finds out whether a commit is possible.  SQL Server logs nothing for an UPDATE that
-- changes nothing, so a full log would not be noticed.  Therefore the row is changed, and
-- changed back before others can see it.

SET ANSI_NULLS ON;
SET QUOTED_IDENTIFIER ON;
SET ANSI_PADDING ON;
SET ANSI_WARNINGS ON;
SET ARITHABORT ON;
SET CONCAT_NULL_YIELDS_NULL ON;
SET NUMERIC_ROUNDABORT OFF;
GO

CREATE OR ALTER PROCEDURE submission.submission_ping
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;

    BEGIN TRANSACTION;

    UPDATE submission.submission_schema SET version = version + 1;
    UPDATE submission.submission_schema SET version = version - 1;

    COMMIT TRANSACTION;

    SELECT submission.submission_us(submission.submission_now()) AS now;
END
GO
