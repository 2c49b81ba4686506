-- Shows the lease beside each live instance, oldest first, or alone if there is none.

SET ANSI_NULLS ON;
SET QUOTED_IDENTIFIER ON;
SET ANSI_PADDING ON;
SET ANSI_WARNINGS ON;
SET ARITHABORT ON;
SET CONCAT_NULL_YIELDS_NULL ON;
SET NUMERIC_ROUNDABORT OFF;
GO

CREATE OR ALTER PROCEDURE submission.submission_cluster_get
    @lease_name varchar(64)
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;

    DECLARE @now datetime2(6);

    SET @now = submission.submission_now();

    SELECT l.*, c.holder_id AS candidate_holder_id, c.role, c.version,
           submission.submission_us(c.started_at) AS started_at,
           submission.submission_us(c.heartbeat_at) AS heartbeat_at,
           submission.submission_us(c.expires_at) AS candidate_expires_at
    FROM submission.submission_lease_shown(@lease_name, @now) AS l
         LEFT JOIN submission.submission_manager_candidates AS c
         ON c.lease_name = @lease_name AND c.expires_at > @now
    ORDER BY c.started_at, c.holder_id;
END
GO
