-- What has an attempt to come, in the order of modification, strictly after
-- (:after_at, :after_id).

SELECT intent_id, submission_target, last_modified_at, next_attempt_at
FROM submission_intents
WHERE lease_name = :lease_name AND next_attempt_at IS NOT NULL
      AND (last_modified_at, intent_id) > (:after_at, :after_id)
ORDER BY last_modified_at, intent_id
LIMIT :limit;
