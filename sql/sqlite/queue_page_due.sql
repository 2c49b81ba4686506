-- Reads a page of retries, and of intents with a not_before that were never tried, in
-- the order of their due time, strictly after (:after_at, :after_id).  SQLite reads
-- both indexes side by side, and only as far as the page goes.

SELECT :now AS now, intent_id, submission_target, next_attempt_at,
       next_attempt_at AS due_at,
       CASE policy WHEN 'deadline'
       THEN max(created_at, coalesce(not_before, created_at)) END,
       CASE policy WHEN 'deadline' THEN max_acceptance_seconds END
FROM submission_intents
WHERE lease_name = :lease_name AND next_attempt_at IS NOT NULL
      AND attempt_count > 0
      AND (next_attempt_at, intent_id) > (:after_at, :after_id)
UNION ALL
SELECT :now AS now, intent_id, submission_target, next_attempt_at,
       next_attempt_at AS due_at,
       CASE policy WHEN 'deadline'
       THEN max(created_at, coalesce(not_before, created_at)) END,
       CASE policy WHEN 'deadline' THEN max_acceptance_seconds END
FROM submission_intents
WHERE lease_name = :lease_name AND next_attempt_at IS NOT NULL
      AND not_before IS NOT NULL AND attempt_count = 0
      AND (next_attempt_at, intent_id) > (:after_at, :after_id)
ORDER BY 4, 2
LIMIT :limit;
