-- A page of the audit, newest first, strictly before (:at, :seq); :action may be
-- NULL, for any.  Each of the two is in the order of an index, and the one that is
-- not meant ends at once.

SELECT *
FROM (
         SELECT seq, at, actor, address, action, object, detail
         FROM submission_audit
         WHERE :action IS NULL AND lease_name = :lease_name
               AND at >= :from AND at < :to AND (at, seq) < (:at, :seq)
         ORDER BY at DESC, seq DESC
         LIMIT :limit
     )
UNION ALL
SELECT *
FROM (
         SELECT seq, at, actor, address, action, object, detail
         FROM submission_audit
         WHERE lease_name = :lease_name AND action = :action
               AND at >= :from AND at < :to AND (at, seq) < (:at, :seq)
         ORDER BY at DESC, seq DESC
         LIMIT :limit
     );
