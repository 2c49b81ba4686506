-- Schedules whose time has come, the oldest first, and whether their last intent has
-- not ended.

SELECT schedule_id, submission_target, body, payload_hash, last_intent_id,
       pause_reason, last_error, actor, source = 'configuration', revision,
       next_run_at, last_run_at, fired_count, skipped_count, missed_count,
       paused_at, created_at, last_modified_at,
       coalesce((SELECT i.status = 'pending'
                 FROM submission_intents AS i
                 WHERE i.lease_name = s.lease_name
                       AND i.intent_id = s.last_intent_id), 0),
       payload
FROM submission_schedules AS s
WHERE lease_name = :lease_name AND next_run_at <= :now
      AND next_run_at IS NOT NULL AND paused_at IS NULL
      AND last_error IS NULL
ORDER BY next_run_at, schedule_id
LIMIT :limit;
