-- Shows the job to work on: of the oldest that are running, the one that has waited
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

    SELECT r.now, s.*
    FROM (
             SELECT CAST(NULL AS nvarchar(400))
                    COLLATE Latin1_General_BIN2 AS job_id,
                    submission.submission_us(@now) AS now
             UNION ALL
             SELECT @job_id, NULL
             WHERE @job_id IS NOT NULL
         ) AS r
         CROSS APPLY submission.submission_job_shown(@lease_name, @kind,
                                                     r.job_id) AS s
    WHERE r.job_id IS NULL
          OR (s.job_id IS NOT NULL AND s.completed_at IS NULL);
END
GO
