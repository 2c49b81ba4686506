-- Advances a schedule, in the transaction that creates its intents, if it is still as
-- it was read.
--
-- Without :planned it was run by hand, and its next time stays.  The last occurrence
-- also stays if it is pending, or while missed times are made up in parts; in that case
-- the next time had passed when the schedule fired.  An intent that existed before does
-- not become the last one.

WITH kept (so) AS (
    SELECT :planned IS NULL
           AND ((last_run_at < next_run_at AND next_run_at <= last_fired_at)
                OR (SELECT i.status = 'pending'
                    FROM submission_intents AS i
                    WHERE i.lease_name = s.lease_name
                          AND i.intent_id = s.last_intent_id))
    FROM submission_schedules AS s
    WHERE lease_name = :lease_name AND schedule_id = :schedule_id
)
UPDATE submission_schedules
SET next_run_at = iif(:planned IS NULL, next_run_at, :next),
    last_run_at = iif((SELECT so FROM kept), last_run_at,
                      coalesce(:last, last_run_at)),
    last_fired_at = iif(:last IS NULL OR (SELECT so FROM kept), last_fired_at,
                        :now),
    last_intent_id = iif(:last_intent IS NULL OR (SELECT so FROM kept)
                         OR EXISTS (SELECT 1
                                    FROM submission_intents AS i
                                    WHERE i.lease_name = :lease_name
                                          AND i.intent_id = :last_intent),
                         last_intent_id, :last_intent),
    fired_count = fired_count + :fired,
    skipped_count = skipped_count + :skipped,
    missed_count = missed_count + :missed,
    last_error = coalesce(:error, last_error)
WHERE lease_name = :lease_name AND schedule_id = :schedule_id
      AND revision = :revision
      AND (:planned IS NULL
           OR (next_run_at = :planned AND paused_at IS NULL
               AND last_error IS NULL));
