-- Reads schedules by their ids, from :first to :last, with the payload only if it is
-- asked for.  With :special, it reads only schedules of the configuration and schedules
-- with an error.

SELECT :now AS now, schedule_id, submission_target, body, payload_hash,
       last_intent_id, pause_reason, last_error, actor,
       source = 'configuration' AS configured, revision, next_run_at,
       last_run_at, fired_count, skipped_count, missed_count, paused_at,
       created_at, last_modified_at, 0 AS busy,
       iif(:payload, payload, NULL) AS payload
FROM submission_schedules
WHERE lease_name = :lease_name AND schedule_id >= :first
      AND schedule_id <= :last
      AND (:special = 0 OR source = 'configuration' OR last_error IS NOT NULL)
ORDER BY schedule_id
LIMIT :limit;
