-- Reads recent failures in groups of the same target, status, reason and last error.
-- Failures are the newest :bound intents that were rejected or exhausted since :since and
-- not replayed, those of the newest :bound that were, and rows that the inbox refused.  Of
-- each of the newest :groups groups, it gives the newest three failures of each minute, so
-- the result also answers for any later :since.  The first row of a minute has the count
-- of its failures.  Failures before "seen" were not looked at; -1 means that all were.
-- The sources are merged as in intents_search.sql.
--
-- What was replayed is counted apart, in minutes of its own with "replayed" set.  It comes
-- last in its group, and groups that have nothing else come last.

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
place (name, status, source) AS (
    SELECT t.name, s.value, k.value
    FROM target AS t
         CROSS JOIN json_each('["rejected","exhausted"]') AS s
         CROSS JOIN json_each('["completed","stripped"]') AS k
    WHERE t.name IS NOT NULL AND instr(t.name, ' ') = 0
),
page (found, at, id, row_id, name, status, source) AS (
    SELECT 0, 9223372036854775807, '', NULL, name, status, source
    FROM place
    UNION ALL
    SELECT 1, k.completed_at, k.intent_id, k.rowid, g.name, g.status, g.source
    FROM page AS g
         CROSS JOIN submission_intents AS k
    WHERE k.rowid = (
              CASE g.source
              WHEN 'completed' THEN (
                  SELECT p.rowid
                  FROM submission_intents AS p
                  WHERE p.lease_name = :lease_name
                        AND p.submission_target = g.name AND p.status = g.status
                        AND p.completed_at IS NOT NULL
                        AND p.stripped_at IS NULL
                        AND (p.completed_at, p.intent_id) < (g.at, +g.id)
                        AND p.completed_at >= :since
                  ORDER BY p.completed_at DESC, p.intent_id DESC
                  LIMIT 1
              )
              ELSE (
                  SELECT p.rowid
                  FROM submission_intents AS p
                  WHERE p.lease_name = :lease_name
                        AND p.submission_target = g.name AND p.status = g.status
                        AND p.stripped_at IS NOT NULL
                        AND (p.completed_at, p.intent_id) < (g.at, +g.id)
                        AND p.completed_at >= :since
                  ORDER BY p.completed_at DESC, p.intent_id DESC
                  LIMIT 1
              )
              END
          )
    ORDER BY 1, 2 DESC, 3 DESC
    LIMIT :bound + 1 + (SELECT count(*) FROM place)
),
failed (found, at, id, row_id, name, status) AS (
    SELECT 0, 9223372036854775807, '', NULL, name, status
    FROM place
    WHERE source = 'completed'
    UNION ALL
    SELECT 1, k.completed_at, k.intent_id, k.rowid, g.name, g.status
    FROM failed AS g
         CROSS JOIN submission_intents AS k
    WHERE k.rowid = (
              SELECT p.rowid
              FROM submission_intents AS p INDEXED BY submission_intents_failed
              WHERE p.lease_name = :lease_name
                    AND p.submission_target = g.name AND p.status = g.status
                    AND p.status IN ('rejected', 'exhausted')
                    AND p.replay_count IS NULL
                    AND (p.completed_at, p.intent_id) < (g.at, +g.id)
                    AND p.completed_at >= :since
              ORDER BY p.completed_at DESC, p.intent_id DESC
              LIMIT 1
          )
    ORDER BY 1, 2 DESC, 3 DESC
    LIMIT :bound + 1 + (SELECT count(*) FROM place WHERE source = 'completed')
),
refused (target, reason, detail, at, id) AS (
    SELECT substr(i.submission_target, 1, 200), i.reason, i.detail, i.refused_at,
           substr(i.intent_id, 1, 200)
    FROM submission_inbox_refused AS i
    WHERE i.lease_name = :lease_name AND i.refused_at >= :since
    ORDER BY i.refused_at DESC, i.seq DESC
    LIMIT :bound + 1
),
looked (target, status, reason, last_error, at, id, replayed) AS (
    SELECT i.submission_target, i.status,
           iif(i.status = 'rejected', i.final_outcome_reason, i.exhausted_reason),
           i.last_error, i.completed_at, i.intent_id,
           i.replay_count IS NOT NULL
    FROM (
             SELECT row_id, 0 AS replayed FROM failed WHERE found = 1
             UNION ALL
             SELECT row_id, 1 FROM page WHERE found = 1
         ) AS g
         CROSS JOIN submission_intents AS i
         ON i.rowid = g.row_id
    WHERE g.replayed = (i.replay_count IS NOT NULL)
    UNION ALL
    SELECT r.target, 'refused', r.reason, r.detail, r.at, r.id, 0
    FROM refused AS r
    WHERE :target IS NULL OR r.target = :target
),
ranked AS (
    SELECT l.*,
           row_number() OVER (
               PARTITION BY l.target, l.status, l.reason, l.last_error,
                            l.replayed, l.at / 60000000
               ORDER BY l.at DESC, l.id DESC
           ) AS nth,
           count(*) OVER (
               PARTITION BY l.target, l.status, l.reason, l.last_error,
                            l.replayed, l.at / 60000000
           ) AS failures,
           max(iif(l.replayed, -1, l.at)) OVER (
               PARTITION BY l.target, l.status, l.reason, l.last_error
           ) AS open_at,
           max(l.at) OVER (
               PARTITION BY l.target, l.status, l.reason, l.last_error
           ) AS newest_at
    FROM looked AS l
),
grouped AS (
    SELECT r.*,
           dense_rank() OVER (
               ORDER BY r.open_at DESC, r.newest_at DESC, r.target, r.status,
                        r.reason, r.last_error
           ) AS number
    FROM ranked AS r
    WHERE r.nth <= 3
)
SELECT g.number, g.id,
       max(coalesce((SELECT min(at) FROM page WHERE found = 1
                     HAVING count(*) > :bound), -1),
           coalesce((SELECT min(at) FROM failed WHERE found = 1
                     HAVING count(*) > :bound), -1),
           coalesce((SELECT min(at) FROM refused
                     HAVING count(*) > :bound), -1)) AS seen,
       g.target, g.status, g.reason, g.last_error,
       iif(g.nth = 1, g.failures, 0) AS failures, g.replayed,
       g.at AS newest_at
FROM grouped AS g
WHERE g.number <= :groups + 1
ORDER BY g.number, g.replayed, g.at DESC, g.id DESC;
