-- A page of the list, newest first, strictly after (:created_at, :intent_id).
-- Each target and status has its intents in that order; they are merged: the
-- queue of "page" has the next one of each, gives the newest of them, and takes
-- the one after it in its place.  So a page costs a search for each target and
-- status, and one for each of its intents, however many there are.  The "+"
-- takes an affinity away, with which the index would not be searched by the id.
-- Targets with a space in their name are hidden.

WITH RECURSIVE
target (name) AS (
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
),
page (id, name, status, created_at, intent_id) AS (
    SELECT k.rowid, t.name, s.value, k.created_at, k.intent_id
    FROM target AS t
         CROSS JOIN json_each('["pending","accepted","rejected","exhausted",'
                              || '"canceled"]') AS s
         CROSS JOIN submission_intents AS k
    WHERE t.name IS NOT NULL AND instr(t.name, ' ') = 0
          AND (:status IS NULL OR s.value = :status)
          AND k.rowid = (
              SELECT p.rowid
              FROM submission_intents AS p
              WHERE p.lease_name = :lease_name
                    AND p.submission_target = t.name AND p.status = s.value
                    AND (p.created_at, p.intent_id) < (:created_at, :intent_id)
              ORDER BY p.created_at DESC, p.intent_id DESC
              LIMIT 1
          )
    UNION ALL
    SELECT k.rowid, g.name, g.status, k.created_at, k.intent_id
    FROM page AS g
         CROSS JOIN submission_intents AS k
    WHERE k.rowid = (
              SELECT p.rowid
              FROM submission_intents AS p
              WHERE p.lease_name = :lease_name
                    AND p.submission_target = g.name AND p.status = g.status
                    AND (p.created_at, p.intent_id) < (g.created_at, +g.intent_id)
              ORDER BY p.created_at DESC, p.intent_id DESC
              LIMIT 1
          )
    ORDER BY 4 DESC, 5 DESC
    LIMIT :limit
)
SELECT 0, i.intent_id, i.submission_target, i.status, i.created_at,
       i.attempt_count, i.next_attempt_at, i.completed_at,
       i.final_outcome_reason, i.exhausted_reason, i.payload_hash,
       i.not_before, i.inflight_epoch IS NOT NULL, i.last_error, i.replay_of,
       i.stripped_at IS NOT NULL, i.traceparent
FROM page AS g
     CROSS JOIN submission_intents AS i
     ON i.rowid = g.id
ORDER BY i.created_at DESC, i.intent_id DESC;
