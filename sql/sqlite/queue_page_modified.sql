-- Reads a page of intents that have an attempt to come, in the order of their
-- modification, strictly after (:after_at, :after_id).  The last two columns are the
-- deadline: the time from which it counts, which is created_at or not_before, whichever
-- is later, and its seconds.

SELECT :now AS now, intent_id, submission_target, last_modified_at, next_attempt_at,
       CASE policy WHEN 'deadline'
       THEN max(created_at, coalesce(not_before, created_at)) END,
       CASE policy WHEN 'deadline' THEN max_acceptance_seconds END
FROM submission_intents
WHERE lease_name = :lease_name AND next_attempt_at IS NOT NULL
      AND (last_modified_at, intent_id) > (:after_at, :after_id)
ORDER BY last_modified_at, intent_id
LIMIT :limit;
