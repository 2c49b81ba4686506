-- A page of the list, newest first, strictly after (:created_at, :intent_id).
-- Each target and status is a seek of its own, and so is the step from one
-- target to the next: a page costs the same however many intents there are.

WITH RECURSIVE target (name) AS (
    SELECT coalesce(:target, (
               SELECT min(submission_target)
               FROM submission_intents
               WHERE lease_name = :lease_name
           ))
    UNION ALL
    SELECT (
               SELECT min(submission_target)
               FROM submission_intents
               WHERE lease_name = :lease_name AND submission_target > name
           )
    FROM target
    WHERE name IS NOT NULL AND :target IS NULL
)
SELECT s.key, i.intent_id, i.submission_target, i.status, i.created_at,
       i.attempt_count, i.next_attempt_at, i.completed_at,
       i.final_outcome_reason, i.exhausted_reason, i.payload_hash
FROM target AS t
     CROSS JOIN json_each('["pending","accepted","rejected","exhausted"]') AS s
     CROSS JOIN submission_intents AS i
WHERE t.name IS NOT NULL
      AND (:status IS NULL OR s.value = :status)
      AND i.rowid IN (
          SELECT p.rowid
          FROM submission_intents AS p
          WHERE p.lease_name = :lease_name AND p.submission_target = t.name
                AND p.status = s.value
                AND (p.created_at, p.intent_id) < (:created_at, :intent_id)
          ORDER BY p.created_at DESC, p.intent_id DESC
          LIMIT :limit
      )
ORDER BY i.created_at DESC, i.intent_id DESC
LIMIT :limit;
