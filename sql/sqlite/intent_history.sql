-- A page of the attempts of one intent, newest first, before :before.

SELECT attempt_number, started_at, finished_at, outcome_status,
       outcome_reason, error, http_status, answer, span_id,
       lease_epoch
FROM submission_attempts
WHERE lease_name = :lease_name AND intent_id = :intent_id
      AND attempt_number < :before
ORDER BY attempt_number DESC
LIMIT :limit;
