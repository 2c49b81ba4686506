-- Rows of the inbox that were refused so long ago.

DELETE FROM submission_inbox_refused
WHERE rowid IN (
    SELECT rowid
    FROM submission_inbox_refused
    WHERE lease_name = :lease_name AND refused_at <= :before
    ORDER BY refused_at, seq
    LIMIT :limit
);
