-- Reads intents of a target that ended long ago and were not stripped yet.

SELECT rowid, intent_id, completed_at
FROM submission_intents INDEXED BY submission_intents_completed
WHERE lease_name = :lease_name AND submission_target = :submission_target
      AND status = :status AND completed_at <= :before
      AND completed_at IS NOT NULL AND stripped_at IS NULL
ORDER BY completed_at, intent_id
LIMIT :limit;
