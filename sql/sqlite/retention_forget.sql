-- Removes stripped intents of a target that ended long ago, up to the last of the first
-- :limit ones.  The index is named on both levels, as in retention_audit.sql.

DELETE FROM submission_intents INDEXED BY submission_intents_stripped
WHERE lease_name = :lease_name AND submission_target = :submission_target
      AND status = :status AND stripped_at IS NOT NULL
      AND (completed_at, intent_id) <= (
          SELECT completed_at, intent_id
          FROM (
                   SELECT completed_at, intent_id
                   FROM submission_intents
                        INDEXED BY submission_intents_stripped
                   WHERE lease_name = :lease_name
                         AND submission_target = :submission_target
                         AND status = :status AND completed_at <= :before
                         AND stripped_at IS NOT NULL
                   ORDER BY completed_at, intent_id
                   LIMIT :limit
               )
          ORDER BY completed_at DESC, intent_id DESC
          LIMIT 1
      )
RETURNING completed_at;
