-- The retries, and what has a not_before and was never tried, in the order of due
-- time, strictly after (:after_at, :after_id).

SELECT intent_id, submission_target, next_attempt_at, next_attempt_at
FROM (
         SELECT *
         FROM (
                  SELECT intent_id, submission_target, next_attempt_at
                  FROM submission_intents
                  WHERE lease_name = :lease_name AND next_attempt_at IS NOT NULL
                        AND attempt_count > 0
                        AND (next_attempt_at, intent_id)
                            > (:after_at, :after_id)
                  ORDER BY next_attempt_at, intent_id
                  LIMIT :limit
              )
         UNION ALL
         SELECT *
         FROM (
                  SELECT intent_id, submission_target, next_attempt_at
                  FROM submission_intents
                  WHERE lease_name = :lease_name AND next_attempt_at IS NOT NULL
                        AND not_before IS NOT NULL AND attempt_count = 0
                        AND (next_attempt_at, intent_id)
                            > (:after_at, :after_id)
                  ORDER BY next_attempt_at, intent_id
                  LIMIT :limit
              )
     )
ORDER BY next_attempt_at, intent_id
LIMIT :limit;
