-- The job to work on: of the oldest that are running, the one that has waited
-- longest.  One row of the answer has the time alone.

SET ANSI_NULLS ON;
SET QUOTED_IDENTIFIER ON;
SET ANSI_PADDING ON;
SET ANSI_WARNINGS ON;
SET ARITHABORT ON;
SET CONCAT_NULL_YIELDS_NULL ON;
SET NUMERIC_ROUNDABORT OFF;
GO

CREATE OR ALTER PROCEDURE submission.submission_job_next
    @lease_name varchar(64),
    @holder_id nvarchar(128),
    @lease_epoch bigint
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;

    DECLARE @now datetime2(6), @kind varchar(16), @job_id nvarchar(400);

    EXECUTE submission.submission_fence_read @lease_name, @holder_id,
                                             @lease_epoch, @now OUTPUT;

    SELECT TOP (1) @kind = j.kind, @job_id = j.job_id
    FROM (SELECT TOP (100) r.kind, r.job_id, r.created_at, r.last_modified_at
          FROM submission.submission_jobs AS r
          WHERE r.lease_name = @lease_name AND r.completed_at IS NULL
                AND (r.kind = 'replay' OR r.kind = 'cancel')
          ORDER BY r.created_at, r.job_id) AS j
    ORDER BY j.last_modified_at, j.created_at, j.job_id;

    SELECT submission.submission_us(@now) AS now, NULL AS kind, NULL AS job_id,
           NULL AS filter, NULL AS max_intents, NULL AS state,
           NULL AS position, NULL AS seen_count, NULL AS done_count,
           NULL AS skipped_count, NULL AS last_error, NULL AS actor,
           NULL AS created_us, NULL AS modified_us, NULL AS completed_us
    UNION ALL
    SELECT NULL, j.kind, j.job_id, j.filter, j.max_intents, j.state,
           j.position, j.seen_count, j.done_count, j.skipped_count,
           j.last_error, j.actor, submission.submission_us(j.created_at),
           submission.submission_us(j.last_modified_at),
           submission.submission_us(j.completed_at)
    FROM submission.submission_jobs AS j
    WHERE j.lease_name = @lease_name AND j.kind = @kind
          AND j.job_id = @job_id AND j.completed_at IS NULL;
END
GO
