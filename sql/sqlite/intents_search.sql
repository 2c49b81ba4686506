-- Reads the keys of a page, ordered by a time and the id, ascending (:up = 1) or
-- descending, strictly after (:at, :id) and until :end.  :by is created, completed, or
-- reason; the last is by completed_at, of intents that were rejected or exhausted for
-- :reason.
--
-- Each target, status and index is a source that has its intents in that order; the
-- sources are merged as in intents_list.sql.  A source begins with the start of the
-- page, which is not an intent (found = 0) and comes before all intents; the limit
-- counts both.  Stripped intents have an index of their own.  A recursion has only one
-- ORDER BY, so each direction has its own columns, which are NULL in the other.
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
place (name, status, source) AS (
    SELECT t.name, s.value, k.value
    FROM target AS t
         CROSS JOIN json_each('["pending","accepted","rejected","exhausted",'
                              || '"canceled"]') AS s
         CROSS JOIN json_each('["created","completed","stripped","rejected",'
                              || '"exhausted"]') AS k
    WHERE t.name IS NOT NULL AND instr(t.name, ' ') = 0
          AND (:status IS NULL OR s.value = :status)
          AND CASE :by
              WHEN 'created' THEN k.value = 'created'
              WHEN 'completed' THEN k.value IN ('completed', 'stripped')
                                    AND s.value <> 'pending'
              ELSE k.value = s.value
              END
),
page (found, up_at, up_id, down_at, down_id, at, id, name, status, source) AS (
    SELECT 0, NULL, NULL, NULL, NULL, :at, :id, name, status, source
    FROM place
    UNION ALL
    SELECT 1,
           CASE :up WHEN 1 THEN iif(g.source = 'created', k.created_at,
                                    k.completed_at) END,
           CASE :up WHEN 1 THEN k.intent_id END,
           CASE :up WHEN 0 THEN iif(g.source = 'created', k.created_at,
                                    k.completed_at) END,
           CASE :up WHEN 0 THEN k.intent_id END,
           iif(g.source = 'created', k.created_at, k.completed_at),
           k.intent_id, g.name, g.status, g.source
    FROM page AS g
         CROSS JOIN submission_intents AS k
    WHERE k.rowid = (
              CASE g.source || iif(:up = 1, ' up', ' down')
              WHEN 'created down' THEN (
                  SELECT p.rowid
                  FROM submission_intents AS p
                  WHERE p.lease_name = :lease_name
                        AND p.submission_target = g.name AND p.status = g.status
                        AND (p.created_at, p.intent_id) < (g.at, +g.id)
                        AND p.created_at >= :end
                  ORDER BY p.created_at DESC, p.intent_id DESC
                  LIMIT 1
              )
              WHEN 'completed down' THEN (
                  SELECT p.rowid
                  FROM submission_intents AS p
                  WHERE p.lease_name = :lease_name
                        AND p.submission_target = g.name AND p.status = g.status
                        AND p.completed_at IS NOT NULL
                        AND p.stripped_at IS NULL
                        AND (p.completed_at, p.intent_id) < (g.at, +g.id)
                        AND p.completed_at >= :end
                  ORDER BY p.completed_at DESC, p.intent_id DESC
                  LIMIT 1
              )
              WHEN 'stripped down' THEN (
                  SELECT p.rowid
                  FROM submission_intents AS p
                  WHERE p.lease_name = :lease_name
                        AND p.submission_target = g.name AND p.status = g.status
                        AND p.stripped_at IS NOT NULL
                        AND (p.completed_at, p.intent_id) < (g.at, +g.id)
                        AND p.completed_at >= :end
                  ORDER BY p.completed_at DESC, p.intent_id DESC
                  LIMIT 1
              )
              WHEN 'rejected down' THEN (
                  SELECT p.rowid
                  FROM submission_intents AS p
                  WHERE p.lease_name = :lease_name
                        AND p.submission_target = g.name AND p.status = 'rejected'
                        AND p.final_outcome_reason = :reason
                        AND (p.completed_at, p.intent_id) < (g.at, +g.id)
                        AND p.completed_at >= :end
                  ORDER BY p.completed_at DESC, p.intent_id DESC
                  LIMIT 1
              )
              WHEN 'exhausted down' THEN (
                  SELECT p.rowid
                  FROM submission_intents AS p
                  WHERE p.lease_name = :lease_name
                        AND p.submission_target = g.name AND p.status = 'exhausted'
                        AND p.exhausted_reason = :reason
                        AND (p.completed_at, p.intent_id) < (g.at, +g.id)
                        AND p.completed_at >= :end
                  ORDER BY p.completed_at DESC, p.intent_id DESC
                  LIMIT 1
              )
              WHEN 'created up' THEN (
                  SELECT p.rowid
                  FROM submission_intents AS p
                  WHERE p.lease_name = :lease_name
                        AND p.submission_target = g.name AND p.status = g.status
                        AND (p.created_at, p.intent_id) > (g.at, +g.id)
                        AND p.created_at < :end
                  ORDER BY p.created_at, p.intent_id
                  LIMIT 1
              )
              WHEN 'completed up' THEN (
                  SELECT p.rowid
                  FROM submission_intents AS p
                  WHERE p.lease_name = :lease_name
                        AND p.submission_target = g.name AND p.status = g.status
                        AND p.completed_at IS NOT NULL
                        AND p.stripped_at IS NULL
                        AND (p.completed_at, p.intent_id) > (g.at, +g.id)
                        AND p.completed_at < :end
                  ORDER BY p.completed_at, p.intent_id
                  LIMIT 1
              )
              WHEN 'stripped up' THEN (
                  SELECT p.rowid
                  FROM submission_intents AS p
                  WHERE p.lease_name = :lease_name
                        AND p.submission_target = g.name AND p.status = g.status
                        AND p.stripped_at IS NOT NULL
                        AND (p.completed_at, p.intent_id) > (g.at, +g.id)
                        AND p.completed_at < :end
                  ORDER BY p.completed_at, p.intent_id
                  LIMIT 1
              )
              WHEN 'rejected up' THEN (
                  SELECT p.rowid
                  FROM submission_intents AS p
                  WHERE p.lease_name = :lease_name
                        AND p.submission_target = g.name AND p.status = 'rejected'
                        AND p.final_outcome_reason = :reason
                        AND (p.completed_at, p.intent_id) > (g.at, +g.id)
                        AND p.completed_at < :end
                  ORDER BY p.completed_at, p.intent_id
                  LIMIT 1
              )
              WHEN 'exhausted up' THEN (
                  SELECT p.rowid
                  FROM submission_intents AS p
                  WHERE p.lease_name = :lease_name
                        AND p.submission_target = g.name AND p.status = 'exhausted'
                        AND p.exhausted_reason = :reason
                        AND (p.completed_at, p.intent_id) > (g.at, +g.id)
                        AND p.completed_at < :end
                  ORDER BY p.completed_at, p.intent_id
                  LIMIT 1
              )
              END
          )
    ORDER BY 1, 2, 3, 4 DESC, 5 DESC
    LIMIT :limit + (SELECT count(*) FROM place)
)
SELECT at, id
FROM page
WHERE found = 1
ORDER BY up_at, up_id, down_at DESC, down_id DESC;
