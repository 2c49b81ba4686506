-- Reads a page of the events of a webhook with a status, newest first, strictly after
-- (:created_at, :intent_id), or from the newest on if that is NULL.

SELECT intent_id, event_of, submission_target, status, created_at, attempt_count,
       next_attempt_at, completed_at, last_error
FROM submission_intents
WHERE lease_name = :lease_name AND submission_target = :target AND status = :status
      AND (created_at, intent_id)
          < (coalesce(:created_at, 9223372036854775807), coalesce(:intent_id, ''))
ORDER BY created_at DESC, intent_id DESC
LIMIT :limit;
