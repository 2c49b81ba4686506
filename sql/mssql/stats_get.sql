-- Shows the leader's numbers.  The document is NULL if its time is @seen.

SET ANSI_NULLS ON;
SET QUOTED_IDENTIFIER ON;
SET ANSI_PADDING ON;
SET ANSI_WARNINGS ON;
SET ARITHABORT ON;
SET CONCAT_NULL_YIELDS_NULL ON;
SET NUMERIC_ROUNDABORT OFF;
GO

CREATE OR ALTER PROCEDURE submission.submission_stats_get
    @lease_name varchar(64),
    @seen bigint
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;

    SELECT s.lease_epoch, submission.submission_us(s.at) AS at,
           CASE WHEN submission.submission_us(s.at) <> @seen
                THEN s.stats END AS stats
    FROM submission.submission_stats AS s
    WHERE s.lease_name = @lease_name;
END
GO
