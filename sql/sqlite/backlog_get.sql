-- What has an attempt to come, by target: of the first :bound, those that were
-- modified first.  "seen" is how many were looked at, one more if there are more.

WITH pending AS MATERIALIZED (
    SELECT submission_target AS target, next_attempt_at AS due_at
    FROM submission_intents
    WHERE lease_name = :lease_name AND next_attempt_at IS NOT NULL
    ORDER BY last_modified_at, intent_id
    LIMIT :bound + 1
)
SELECT (SELECT count(*) FROM pending) AS seen, target,
       sum(due_at <= :now) AS due, sum(due_at > :now) AS waiting,
       min(due_at) AS oldest
FROM pending
GROUP BY target
ORDER BY target
LIMIT :groups;
