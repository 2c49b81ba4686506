-- Reads a page of the list, newest first, strictly after (:created_at, :intent_id), or
-- from the newest on if that is NULL.
--
-- The index has the intents of each target and status in that order, and the recursion
-- "page" merges them.  Its queue holds the next intent of each target and status; each
-- step gives the newest of these, and puts the next one of the same target and status
-- in its place.  So a page costs one search for each target and status, and one for
-- each of its intents, however many intents there are.  The "+" removes an affinity,
-- with which SQLite would not search the index by the id.  Targets with a space in
-- their name are hidden.

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
                    AND (p.created_at, p.intent_id)
                        < (coalesce(:created_at, 9223372036854775807),
                           coalesce(:intent_id, ''))
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
SELECT 0 AS n, i.*
FROM page AS g
     CROSS JOIN submission_intents_shown AS i
     ON i.row_id = g.id
ORDER BY i.created_at DESC, i.intent_id DESC;
