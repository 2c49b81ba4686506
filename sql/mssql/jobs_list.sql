-- A page of jobs of a kind, newest first, strictly before (@at, @id), or from the
-- newest on where @at is NULL; or the one that is @job_id.

SET ANSI_NULLS ON;
SET QUOTED_IDENTIFIER ON;
SET ANSI_PADDING ON;
SET ANSI_WARNINGS ON;
SET ARITHABORT ON;
SET CONCAT_NULL_YIELDS_NULL ON;
SET NUMERIC_ROUNDABORT OFF;
GO

CREATE OR ALTER PROCEDURE submission.submission_jobs_list
    @lease_name varchar(64),
    @kind varchar(16),
    @job_id nvarchar(400),
    @at bigint,
    @id nvarchar(400),
    @limit bigint
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;

    DECLARE @before datetime2(6);

    IF @job_id IS NOT NULL
    BEGIN
        SELECT CAST(0 AS bigint) AS outcome,
               j.kind, j.job_id, j.filter, j.max_intents, j.state, j.position,
               j.seen_count, j.done_count, j.skipped_count, j.last_error,
               j.actor, submission.submission_us(j.created_at) AS created_us,
               submission.submission_us(j.last_modified_at) AS modified_us,
               submission.submission_us(j.completed_at) AS completed_us
        FROM submission.submission_jobs AS j
        WHERE j.lease_name = @lease_name AND j.kind = @kind
              AND j.job_id = @job_id;

        RETURN;
    END;

    SET @before = CASE WHEN @at IS NULL
                       THEN CAST('9999-12-31' AS datetime2(6))
                       ELSE submission.submission_at(@at) END;
    SET @id = COALESCE(@id, N'');

    SELECT TOP (@limit) CAST(0 AS bigint) AS outcome,
           j.kind, j.job_id, j.filter, j.max_intents, j.state, j.position,
           j.seen_count, j.done_count, j.skipped_count, j.last_error, j.actor,
           submission.submission_us(j.created_at) AS created_us,
           submission.submission_us(j.last_modified_at) AS modified_us,
           submission.submission_us(j.completed_at) AS completed_us
    FROM submission.submission_jobs AS j
    WHERE j.lease_name = @lease_name AND j.kind = @kind
          AND j.created_at <= @before
          AND (j.created_at < @before OR j.job_id < @id)
    ORDER BY j.created_at DESC, j.job_id DESC;
END
GO
