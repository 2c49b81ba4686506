-- Shows a page of jobs of a kind, newest first, strictly before (@at, @id), or from the
-- newest on if @at is NULL; or only the job @job_id.

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
        SELECT CAST(0 AS bigint) AS outcome, j.*
        FROM submission.submission_job_shown(@lease_name, @kind, @job_id) AS j
        WHERE j.job_id IS NOT NULL;

        RETURN;
    END;

    SET @before = CASE WHEN @at IS NULL
                       THEN CAST('9999-12-31' AS datetime2(6))
                       ELSE submission.submission_at(@at) END;
    SET @id = COALESCE(@id, N'');

    SELECT CAST(0 AS bigint) AS outcome, s.*
    FROM (
             SELECT TOP (@limit) j.created_at, j.job_id
             FROM submission.submission_jobs AS j
             WHERE j.lease_name = @lease_name AND j.kind = @kind
                   AND j.created_at <= @before
                   AND (j.created_at < @before OR j.job_id < @id)
             ORDER BY j.created_at DESC, j.job_id DESC
         ) AS k
         CROSS APPLY submission.submission_job_shown(@lease_name, @kind,
                                                     k.job_id) AS s
    ORDER BY k.created_at DESC, k.job_id DESC;
END
GO
