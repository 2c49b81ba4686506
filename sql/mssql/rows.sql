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

-- Shows a schedule by its id, with its payload if @payload is not 0.  With @due, a
-- schedule that is not due then is not shown, and "busy" says whether its last intent is
-- still pending.  Where there is no such schedule, the only row has no id, or an empty one
-- if @schedule_id is empty, and has @next as next_run_at.

CREATE OR ALTER FUNCTION submission.submission_schedule_shown
    (@lease_name varchar(64), @schedule_id nvarchar(400), @payload bigint,
     @due datetime2(6), @next datetime2(6))
RETURNS TABLE
AS
RETURN
    SELECT CASE WHEN s.schedule_id IS NULL AND DATALENGTH(@schedule_id) = 0
                THEN @schedule_id COLLATE Latin1_General_BIN2
                ELSE s.schedule_id END AS schedule_id,
           s.submission_target, s.body, s.payload_hash, s.last_intent_id,
           s.pause_reason, s.last_error, s.actor,
           CASE WHEN s.source = 'configuration' THEN 1
                WHEN s.source IS NOT NULL THEN 0 END AS configured, s.revision,
           CASE WHEN s.schedule_id IS NULL THEN submission.submission_us(@next)
                ELSE submission.submission_us(s.next_run_at) END AS next_run_at,
           submission.submission_us(s.last_run_at) AS last_run_at,
           s.fired_count, s.skipped_count, s.missed_count,
           submission.submission_us(s.paused_at) AS paused_at,
           submission.submission_us(s.created_at) AS created_at,
           submission.submission_us(s.last_modified_at) AS last_modified_at,
           CASE WHEN i.status = 'pending' THEN 1
                WHEN s.source IS NOT NULL THEN 0 END AS busy,
           CASE WHEN @payload <> 0 THEN s.payload END AS payload
    FROM (SELECT 1 AS one) AS o
         OUTER APPLY (
             SELECT TOP (1) *
             FROM submission.submission_schedules AS t
                  WITH (FORCESEEK (submission_schedules_pk
                                   (lease_name, schedule_id)))
             WHERE t.lease_name = @lease_name
                   AND t.schedule_id = @schedule_id COLLATE Latin1_General_BIN2
                   AND (@due IS NULL
                        OR (t.next_run_at <= @due AND t.paused_at IS NULL
                            AND t.last_error IS NULL))
         ) AS s
         OUTER APPLY (
             SELECT TOP (1) e.status
             FROM submission.submission_intents AS e
                  WITH (FORCESEEK (submission_intents_pk
                                   (lease_name, intent_id)))
             WHERE @due IS NOT NULL AND e.lease_name = @lease_name
                   AND e.intent_id = s.last_intent_id
         ) AS i;
GO
