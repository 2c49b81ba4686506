-- Reads a page like queue_page_modified.sql, but without intents whose deadline has
-- passed.

SELECT :now AS now, intent_id, submission_target, last_modified_at, next_attempt_at,
       CASE policy WHEN 'deadline'
       THEN max(created_at, coalesce(not_before, created_at)) END,
       CASE policy WHEN 'deadline' THEN max_acceptance_seconds END
FROM submission_intents
WHERE lease_name = :lease_name AND next_attempt_at IS NOT NULL
      AND (last_modified_at, intent_id) > (:after_at, :after_id)
      AND (policy = 'deadline'
           AND (:now - max(created_at, coalesce(not_before, created_at))) / 1000000
               >= max_acceptance_seconds) IS NOT TRUE
ORDER BY last_modified_at, intent_id
LIMIT :limit;
