-- Reads a page of the attempts of one intent, newest first, before :before, or from the
-- newest on if that is NULL.  Each row also has the intent; an intent without attempts
-- gives one row.

SELECT 0 AS n, i.*, a.attempt_number, a.started_at, a.finished_at,
       a.outcome_status, a.outcome_reason, a.error, a.http_status, a.answer,
       a.span_id, a.lease_epoch
FROM submission_intents_shown AS i
     LEFT JOIN submission_attempts AS a
     ON a.lease_name = i.lease_name AND a.intent_id = i.intent_id
        AND a.attempt_number < coalesce(:before, 9223372036854775807)
WHERE i.lease_name = :lease_name AND i.intent_id = :intent_id
ORDER BY a.attempt_number DESC
LIMIT :limit;
