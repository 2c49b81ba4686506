-- Entries of the audit that are so old.

DELETE FROM submission_audit
WHERE seq IN (
    SELECT seq
    FROM submission_audit INDEXED BY submission_audit_at
    WHERE lease_name = :lease_name AND at <= :before
    ORDER BY at, seq
    LIMIT :limit
);
