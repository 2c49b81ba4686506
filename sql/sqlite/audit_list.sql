-- Reads a page of the audit, newest first, strictly before (:at, :seq).  If :action is
-- NULL, it reads entries of any action.  Both halves of the union follow an index, and
-- the half that does not apply ends at once.

SELECT *
FROM (
         SELECT seq, at, actor, address, action, object, detail
         FROM submission_audit
         WHERE :action IS NULL AND lease_name = :lease_name
               AND at >= coalesce(:from, 0)
               AND (at, seq) < (coalesce(:at, 9223372036854775807),
                                coalesce(:seq, 0))
         ORDER BY at DESC, seq DESC
         LIMIT :limit
     )
UNION ALL
SELECT *
FROM (
         SELECT seq, at, actor, address, action, object, detail
         FROM submission_audit INDEXED BY submission_audit_action
         WHERE lease_name = :lease_name AND action = :action
               AND at >= coalesce(:from, 0)
               AND (at, seq) < (coalesce(:at, 9223372036854775807),
                                coalesce(:seq, 0))
         ORDER BY at DESC, seq DESC
         LIMIT :limit
     );
