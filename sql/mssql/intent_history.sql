-- The attempts of one intent, in their order, each with the intent; one row
-- without an attempt where there is none.

SET ANSI_NULLS ON;
SET QUOTED_IDENTIFIER ON;
GO

DROP PROCEDURE IF EXISTS submission.submission_intent_history;
GO

CREATE PROCEDURE submission.submission_intent_history
    @lease_name varchar(64),
    @intent_id nvarchar(400)
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;

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
    FROM submission.submission_intents AS i
         LEFT JOIN submission.submission_attempts AS a
         ON a.lease_name = @lease_name AND a.intent_id = @intent_id
    WHERE i.lease_name = @lease_name AND i.intent_id = @intent_id
    ORDER BY a.attempt_number;
END
GO
