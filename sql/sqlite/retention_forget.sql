-- Intents of a target that are stripped, and ended so long ago.

DELETE FROM submission_intents
WHERE rowid IN (
    SELECT rowid
    FROM submission_intents INDEXED BY submission_intents_stripped
    WHERE lease_name = :lease_name AND submission_target = :submission_target
          AND status = :status AND completed_at <= :before
          AND stripped_at IS NOT NULL
    ORDER BY completed_at, intent_id
    LIMIT :limit
)
RETURNING completed_at;
