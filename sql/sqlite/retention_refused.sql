-- Removes rows that the inbox refused long ago, as in retention_audit.sql.  The index
-- is that of the primary key.

DELETE FROM submission_inbox_refused
INDEXED BY sqlite_autoindex_submission_inbox_refused_1
WHERE lease_name = :lease_name
      AND (refused_at, seq) <= (
          SELECT refused_at, seq
          FROM (
                   SELECT refused_at, seq
                   FROM submission_inbox_refused
                   WHERE lease_name = :lease_name AND refused_at <= :before
                   ORDER BY refused_at, seq
                   LIMIT :limit
               )
          ORDER BY refused_at DESC, seq DESC
          LIMIT 1
      );
