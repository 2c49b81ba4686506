-- Whether a commit is possible: writes a row as it was.

SET ANSI_NULLS ON;
SET QUOTED_IDENTIFIER ON;
GO

DROP PROCEDURE IF EXISTS submission.submission_ping;
GO

CREATE PROCEDURE submission.submission_ping
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;

    UPDATE submission.submission_schema SET version = version;

    SELECT submission.submission_us(submission.submission_now()) AS now;
END
GO
