-- A page of the attempts of one intent, newest first, before @before, or from
-- the newest on where that is NULL.  Each comes with the intent; one row without
-- an attempt where there is none.
--
-- @version is that of the module that asks: one of version 1 knows fewer columns.

SET ANSI_NULLS ON;
SET QUOTED_IDENTIFIER ON;
SET ANSI_PADDING ON;
SET ANSI_WARNINGS ON;
SET ARITHABORT ON;
SET CONCAT_NULL_YIELDS_NULL ON;
SET NUMERIC_ROUNDABORT OFF;
GO

CREATE OR ALTER PROCEDURE submission.submission_intent_history
    @lease_name varchar(64),
    @intent_id nvarchar(400),
    @limit bigint = 500,
    @before bigint = NULL,
    @version bigint = 1
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;

    SET @before = COALESCE(@before, 9223372036854775807);

    IF @version = 1
        SELECT CAST(0 AS bigint) AS n, i.intent_id, i.submission_target, i.status,
               submission.submission_us(i.created_at) AS created_at,
               i.attempt_count,
               submission.submission_us(i.next_attempt_at) AS next_attempt_at,
               submission.submission_us(i.completed_at) AS completed_at,
               i.final_outcome_reason, i.exhausted_reason, i.payload_hash,
               a.attempt_number,
               submission.submission_us(a.started_at) AS started_at,
               submission.submission_us(a.finished_at) AS finished_at,
               a.outcome_status, a.outcome_reason, a.error
        FROM submission.submission_intents AS i WITH (FORCESEEK)
             OUTER APPLY (
                 SELECT TOP (@limit) s.attempt_number, s.started_at, s.finished_at,
                        s.outcome_status, s.outcome_reason, s.error
                 FROM submission.submission_attempts AS s WITH (FORCESEEK)
                 WHERE s.lease_name = @lease_name AND s.intent_id = @intent_id
                       AND s.attempt_number < @before
                 ORDER BY s.attempt_number DESC
             ) AS a
        WHERE i.lease_name = @lease_name AND i.intent_id = @intent_id
        ORDER BY a.attempt_number DESC;
    ELSE
        SELECT CAST(0 AS bigint) AS n, i.intent_id, i.submission_target, i.status,
               submission.submission_us(i.created_at) AS created_at,
               i.attempt_count,
               submission.submission_us(i.next_attempt_at) AS next_attempt_at,
               submission.submission_us(i.completed_at) AS completed_at,
               i.final_outcome_reason, i.exhausted_reason, i.payload_hash,
               submission.submission_us(i.not_before) AS not_before,
               CASE WHEN i.inflight_epoch IS NULL THEN 0 ELSE 1 END AS in_flight,
               i.last_error, i.replay_of,
               CASE WHEN i.stripped_at IS NULL THEN 0 ELSE 1 END AS stripped,
               i.traceparent,
               a.attempt_number,
               submission.submission_us(a.started_at) AS started_at,
               submission.submission_us(a.finished_at) AS finished_at,
               a.outcome_status, a.outcome_reason, a.error, a.http_status, a.answer,
               a.span_id, a.lease_epoch
        FROM submission.submission_intents AS i WITH (FORCESEEK)
             OUTER APPLY (
                 SELECT TOP (@limit) s.attempt_number, s.started_at, s.finished_at,
                        s.outcome_status, s.outcome_reason, s.error,
                        s.http_status, s.answer, s.span_id, s.lease_epoch
                 FROM submission.submission_attempts AS s WITH (FORCESEEK)
                 WHERE s.lease_name = @lease_name AND s.intent_id = @intent_id
                       AND s.attempt_number < @before
                 ORDER BY s.attempt_number DESC
             ) AS a
        WHERE i.lease_name = @lease_name AND i.intent_id = @intent_id
        ORDER BY a.attempt_number DESC;
END
GO
