-- Shows the lease beside each live instance, oldest first, or alone if there is none.  The
-- names of an instance's targets are shown if their hash is not @names_hash.  They are
-- bytes, and the last column, because a text of the driver has a bound.

SET ANSI_NULLS ON;
SET QUOTED_IDENTIFIER ON;
SET ANSI_PADDING ON;
SET ANSI_WARNINGS ON;
SET ARITHABORT ON;
SET CONCAT_NULL_YIELDS_NULL ON;
SET NUMERIC_ROUNDABORT OFF;
GO

CREATE OR ALTER PROCEDURE submission.submission_cluster_get
    @lease_name varchar(64),
    @names_hash varchar(16) = NULL
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;

    DECLARE @now datetime2(6);

    SET @now = submission.submission_now();

    SELECT l.*, c.holder_id AS candidate_holder_id, c.role, c.version,
           submission.submission_us(c.started_at) AS started_at,
           submission.submission_us(c.heartbeat_at) AS heartbeat_at,
           submission.submission_us(c.expires_at) AS candidate_expires_at,
           c.config, submission.submission_us(c.config_since) AS config_since,
           submission.submission_us(c.shared_at) AS shared_at, c.events,
           CAST(n.names AS varbinary(max)) AS names
    FROM submission.submission_lease_shown(@lease_name, @now) AS l
         LEFT JOIN submission.submission_manager_candidates AS c
         ON c.lease_name = @lease_name AND c.expires_at > @now
         LEFT JOIN submission.submission_manager_target_names AS n
         ON n.lease_name = c.lease_name AND n.holder_id = c.holder_id
            AND n.names_hash <> @names_hash
    ORDER BY c.started_at, c.holder_id;
END
GO
