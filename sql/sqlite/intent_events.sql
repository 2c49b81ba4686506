-- Reads the events of an intent, one for each message to a webhook.

SELECT intent_id, event_of, submission_target, status, created_at, attempt_count,
       next_attempt_at, completed_at, last_error
FROM submission_intents
WHERE lease_name = :lease_name AND event_of = :intent_id
ORDER BY intent_id
LIMIT :limit;
