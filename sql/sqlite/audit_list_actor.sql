-- Reads a page of the audit entries of one actor.  If :action is NULL, it reads the
-- next page of each action of the actor and merges them, because there are only a few
-- actions.

WITH RECURSIVE
kind (action) AS (
    SELECT coalesce(:action, (
               SELECT min(action)
               FROM submission_audit
               WHERE lease_name = :lease_name AND actor = :actor
           ))
    UNION ALL
    SELECT (
               SELECT min(a.action)
               FROM submission_audit AS a
               WHERE a.lease_name = :lease_name AND a.actor = :actor
                     AND a.action > kind.action
           )
    FROM kind
    WHERE kind.action IS NOT NULL AND :action IS NULL
),
page (action, at, seq) AS (
    SELECT k.action, a.at, a.seq
    FROM kind AS k
         CROSS JOIN submission_audit AS a
    WHERE k.action IS NOT NULL
          AND a.seq = (
              SELECT p.seq
              FROM submission_audit AS p
              WHERE p.lease_name = :lease_name AND p.actor = :actor
                    AND p.action = k.action AND p.at >= coalesce(:from, 0)
                    AND (p.at, p.seq)
                        < (coalesce(:at, 9223372036854775807),
                           coalesce(:seq, 0))
              ORDER BY p.at DESC, p.seq DESC
              LIMIT 1
          )
    UNION ALL
    SELECT g.action, a.at, a.seq
    FROM page AS g
         CROSS JOIN submission_audit AS a
    WHERE a.seq = (
              SELECT p.seq
              FROM submission_audit AS p
              WHERE p.lease_name = :lease_name AND p.actor = :actor
                    AND p.action = g.action AND p.at >= coalesce(:from, 0)
                    AND (p.at, p.seq) < (g.at, g.seq)
              ORDER BY p.at DESC, p.seq DESC
              LIMIT 1
          )
    ORDER BY 2 DESC, 3 DESC
    LIMIT :limit
)
SELECT a.seq, a.at, a.actor, a.address, a.action, a.object, a.detail
FROM page AS g
     CROSS JOIN submission_audit AS a
     ON a.seq = g.seq
ORDER BY g.at DESC, g.seq DESC;
