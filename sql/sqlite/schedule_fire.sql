-- Moves a schedule on, in the transaction that makes its intents, if it is still as it
-- was read.  Without :planned it runs by hand, and its next time stays.

UPDATE submission_schedules
SET next_run_at = iif(:planned IS NULL, next_run_at, :next),
    last_run_at = coalesce(:last, last_run_at),
    last_fired_at = iif(:last IS NULL, last_fired_at, :now),
    last_intent_id = coalesce(:last_intent, last_intent_id),
    fired_count = fired_count + :fired,
    skipped_count = skipped_count + :skipped,
    missed_count = missed_count + :missed,
    last_error = coalesce(:error, last_error)
WHERE lease_name = :lease_name AND schedule_id = :schedule_id
      AND revision = :revision
      AND (:planned IS NULL
           OR (next_run_at = :planned AND paused_at IS NULL
               AND last_error IS NULL));
