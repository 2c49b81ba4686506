-- Counts the intents that have an attempt to come, by target, among the :bound that
-- were modified first.  "seen" is how many it looked at, or :bound + 1 if there are
-- more.

WITH pending AS MATERIALIZED (
    SELECT submission_target AS target, next_attempt_at AS due_at
    FROM submission_intents
    WHERE lease_name = :lease_name AND next_attempt_at IS NOT NULL
    ORDER BY last_modified_at, intent_id
    LIMIT :bound + 1
)
SELECT :now AS now, (SELECT count(*) FROM pending) AS seen, g.*
FROM (SELECT 1)
     LEFT JOIN (
         SELECT target, sum(due_at <= :now) AS due, sum(due_at > :now) AS waiting,
                min(due_at) AS oldest
         FROM pending
         GROUP BY target
         ORDER BY target
         LIMIT :groups
     ) AS g
ORDER BY g.target;
