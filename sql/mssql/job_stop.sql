-- Stops a job that is running.  outcome is 1: it was stopped now, 2: it had ended before.
-- There is no row if there is no such job.

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
           j.*
    FROM submission.submission_job_shown(@lease_name, @kind, @job_id) AS j
    WHERE j.job_id IS NOT NULL;
END
GO
