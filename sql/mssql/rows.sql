-- What procedures answer with, other than intents (see intent.sql).  The functions become
-- part of the queries that apply them.  sql/install.sh runs this file before the
-- procedures.

SET ANSI_NULLS ON;
SET QUOTED_IDENTIFIER ON;
SET ANSI_PADDING ON;
SET ANSI_WARNINGS ON;
SET ARITHABORT ON;
SET CONCAT_NULL_YIELDS_NULL ON;
SET NUMERIC_ROUNDABORT OFF;
GO

-- Shows a job by its kind and id.  Where there is no such job, the only row has no id.

CREATE OR ALTER FUNCTION submission.submission_job_shown
    (@lease_name varchar(64), @kind varchar(16), @job_id nvarchar(400))
RETURNS TABLE
AS
RETURN
    SELECT j.kind, j.job_id, j.filter, j.max_intents, j.state, j.position,
           j.seen_count, j.done_count, j.skipped_count, j.last_error, j.actor,
           submission.submission_us(j.created_at) AS created_at,
           submission.submission_us(j.last_modified_at) AS last_modified_at,
           submission.submission_us(j.completed_at) AS completed_at
    FROM (SELECT 1 AS one) AS o
         LEFT JOIN submission.submission_jobs AS j
         ON j.lease_name = @lease_name AND j.kind = @kind
            AND j.job_id = @job_id COLLATE Latin1_General_BIN2;
GO

-- Has a row if a schedule exists.  The range of its id stays locked until the transaction
-- ends, so that nobody makes such a schedule before that.

CREATE OR ALTER FUNCTION submission.submission_schedule_there
    (@lease_name varchar(64), @schedule_id nvarchar(400))
RETURNS TABLE
AS
RETURN
    SELECT TOP (1) 1 AS there
    FROM submission.submission_schedules AS s
         WITH (SERIALIZABLE, FORCESEEK (submission_schedules_pk
                                        (lease_name, schedule_id)))
    WHERE s.lease_name = @lease_name
          AND s.schedule_id = @schedule_id COLLATE Latin1_General_BIN2;
GO

-- Shows the lease at @now.  Where nobody has ever held it, the only row has the time
-- alone.

CREATE OR ALTER FUNCTION submission.submission_lease_shown
    (@lease_name varchar(64), @now datetime2(6))
RETURNS TABLE
AS
RETURN
    SELECT submission.submission_us(@now) AS now, CAST(0 AS bigint) AS held,
           l.holder_id, l.lease_epoch,
           submission.submission_us(l.acquired_at) AS acquired_at,
           submission.submission_us(l.renewed_at) AS renewed_at,
           submission.submission_us(l.expires_at) AS expires_at
    FROM (SELECT 1 AS one) AS o
         LEFT JOIN submission.submission_manager_leases AS l
         ON l.lease_name = @lease_name AND l.lease_epoch > 0;
GO
