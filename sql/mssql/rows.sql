-- What the procedures answer with, said once: functions that become part of the query
-- that applies them.  sql/install.sh runs this before all procedures.
--
-- An intent by its id, with @n; or, where there is none, one row without an id, whose
-- created_at and exhausted_reason are what the caller says.

SET ANSI_NULLS ON;
SET QUOTED_IDENTIFIER ON;
SET ANSI_PADDING ON;
SET ANSI_WARNINGS ON;
SET ARITHABORT ON;
SET CONCAT_NULL_YIELDS_NULL ON;
SET NUMERIC_ROUNDABORT OFF;
GO

CREATE OR ALTER FUNCTION submission.submission_intent_shown
    (@lease_name varchar(64), @intent_id nvarchar(400), @n bigint,
     @at bigint, @reason varchar(32))
RETURNS TABLE
AS
RETURN
    SELECT @n AS n, i.intent_id, i.submission_target, i.status,
           CASE WHEN i.intent_id IS NULL THEN @at
                ELSE submission.submission_us(i.created_at) END AS created_at,
           i.attempt_count,
           submission.submission_us(i.next_attempt_at) AS next_attempt_at,
           submission.submission_us(i.completed_at) AS completed_at,
           i.final_outcome_reason,
           CASE WHEN i.intent_id IS NULL
                THEN @reason COLLATE Latin1_General_BIN2
                ELSE i.exhausted_reason END AS exhausted_reason,
           i.payload_hash, submission.submission_us(i.not_before) AS not_before,
           CASE WHEN i.inflight_epoch IS NULL THEN 0 ELSE 1 END AS in_flight,
           i.last_error, i.replay_of,
           CASE WHEN i.stripped_at IS NULL THEN 0 ELSE 1 END AS stripped,
           i.traceparent
    FROM (SELECT 1 AS one) AS o
         OUTER APPLY (
             SELECT TOP (1) *
             FROM submission.submission_intents AS s
                  WITH (FORCESEEK (submission_intents_pk
                                   (lease_name, intent_id)))
             WHERE s.lease_name = @lease_name
                   AND s.intent_id = @intent_id COLLATE Latin1_General_BIN2
         ) AS i;
GO

-- A job by its kind and id, or one row without an id.

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
