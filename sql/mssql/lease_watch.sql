-- The lease as it is, and where its holder is told.

SET ANSI_NULLS ON;
SET QUOTED_IDENTIFIER ON;
SET ANSI_PADDING ON;
SET ANSI_WARNINGS ON;
SET ARITHABORT ON;
SET CONCAT_NULL_YIELDS_NULL ON;
SET NUMERIC_ROUNDABORT OFF;
GO

CREATE OR ALTER PROCEDURE submission.submission_lease_watch
    @lease_name varchar(64)
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;

    DECLARE @now datetime2(6);

    SET @now = submission.submission_now();

    SELECT submission.submission_us(@now) AS now, CAST(0 AS bigint) AS held,
           l.holder_id, l.lease_epoch,
           submission.submission_us(l.acquired_at) AS acquired_at,
           submission.submission_us(l.renewed_at) AS renewed_at,
           submission.submission_us(l.expires_at) AS expires_at,
           c.wake_url
    FROM (SELECT 1 AS one) AS o
         LEFT JOIN submission.submission_manager_leases AS l
         ON l.lease_name = @lease_name AND l.lease_epoch > 0
         LEFT JOIN submission.submission_manager_candidates AS c
         ON c.lease_name = l.lease_name AND c.holder_id = l.holder_id;
END
GO
