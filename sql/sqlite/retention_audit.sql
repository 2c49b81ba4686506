-- Removes old entries of the audit, up to the last of the first :limit ones.  The index
-- is named on both levels, because statistics may make a scan of the table look
-- cheaper.

DELETE FROM submission_audit INDEXED BY submission_audit_at
WHERE lease_name = :lease_name
      AND (at, seq) <= (
          SELECT at, seq
          FROM (
                   SELECT at, seq
                   FROM submission_audit INDEXED BY submission_audit_at
                   WHERE lease_name = :lease_name AND at <= :before
                   ORDER BY at, seq
                   LIMIT :limit
               )
          ORDER BY at DESC, seq DESC
          LIMIT 1
      );
