-- The attempts of one intent, in their order.

SELECT attempt_number, started_at, finished_at, outcome_status,
       outcome_reason, error
FROM submission_attempts
WHERE lease_name = :lease_name AND intent_id = :intent_id
ORDER BY attempt_number;
