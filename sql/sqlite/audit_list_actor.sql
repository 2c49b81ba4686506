-- The same of one actor.  With :action NULL, the next page of each action of the
-- actor is read, and these are merged: the actions are few.

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
                    AND p.action = k.action AND p.at >= :from AND p.at < :to
                    AND (p.at, p.seq) < (:at, :seq)
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
                    AND p.action = g.action AND p.at >= :from
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
