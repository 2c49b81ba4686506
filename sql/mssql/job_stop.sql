-- A job that is running ends here.  outcome is 1: it was stopped now, 2: it had
-- ended before.  No row: there is no such job.

SET ANSI_NULLS ON;
SET QUOTED_IDENTIFIER ON;
SET ANSI_PADDING ON;
SET ANSI_WARNINGS ON;
SET ARITHABORT ON;
SET CONCAT_NULL_YIELDS_NULL ON;
SET NUMERIC_ROUNDABORT OFF;
GO

CREATE OR ALTER PROCEDURE submission.submission_job_stop
    @lease_name varchar(64),
    @kind varchar(16),
    @job_id nvarchar(400),
    @actor nvarchar(max),
    @address nvarchar(max)
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;

    DECLARE @now datetime2(6), @stopped int, @action varchar(32);

    SET @action = @kind + '_job_stop';

    BEGIN TRANSACTION;

    SET @now = submission.submission_now();

    UPDATE submission.submission_jobs
    SET state = 'stopped',
        last_modified_at = @now,
        completed_at = @now
    WHERE lease_name = @lease_name AND kind = @kind AND job_id = @job_id
          AND completed_at IS NULL;

    SET @stopped = @@ROWCOUNT;

    IF @stopped = 1
        EXECUTE submission.submission_audit_add @lease_name, @now, @actor,
                @address, @action, @job_id, NULL;

    COMMIT TRANSACTION;

    SELECT CAST(CASE WHEN @stopped = 1 THEN 1 ELSE 2 END AS bigint) AS outcome,
           j.kind, j.job_id, j.filter, j.max_intents, j.state, j.position,
           j.seen_count, j.done_count, j.skipped_count, j.last_error, j.actor,
           submission.submission_us(j.created_at) AS created_us,
           submission.submission_us(j.last_modified_at) AS modified_us,
           submission.submission_us(j.completed_at) AS completed_us
    FROM submission.submission_jobs AS j
    WHERE j.lease_name = @lease_name AND j.kind = @kind
          AND j.job_id = @job_id;
END
GO
