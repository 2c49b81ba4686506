-- Reads the schedules that are due, the oldest first, and whether their last intent is
-- still pending.  The first row has no id; its next_run_at is that of the schedule that
-- is due next.

SELECT :now AS now, '' AS schedule_id, NULL AS submission_target, NULL AS body,
       NULL AS payload_hash, NULL AS last_intent_id, NULL AS pause_reason,
       NULL AS last_error, NULL AS actor, NULL AS configured, NULL AS revision,
       (SELECT next_run_at
        FROM submission_schedules
        WHERE lease_name = :lease_name AND next_run_at > :now
              AND next_run_at IS NOT NULL AND paused_at IS NULL
              AND last_error IS NULL
        ORDER BY next_run_at
        LIMIT 1) AS next_run_at,
       NULL AS last_run_at, NULL AS fired_count, NULL AS skipped_count,
       NULL AS missed_count, NULL AS paused_at, NULL AS created_at,
       NULL AS last_modified_at, NULL AS busy, NULL AS payload
UNION ALL
SELECT *
FROM (
         SELECT :now, schedule_id, submission_target, body, payload_hash,
                last_intent_id, pause_reason, last_error, actor,
                source = 'configuration', revision, next_run_at, last_run_at,
                fired_count, skipped_count, missed_count, paused_at, created_at,
                last_modified_at,
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
         LIMIT :limit
     );
