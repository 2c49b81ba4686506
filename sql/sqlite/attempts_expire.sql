-- One intent of a batch is ended if its deadline has passed, whatever its next attempt
-- is due; the deadline counts from the later one of created_at and not_before.

UPDATE submission_intents
SET status = 'exhausted',
    exhausted_reason = 'deadline_exceeded',
    completed_at = :now,
    next_attempt_at = NULL,
    last_modified_at = :now
WHERE lease_name = :lease_name AND intent_id = :intent_id
      AND status = 'pending' AND next_attempt_at IS NOT NULL
      AND inflight_epoch IS NULL AND policy = 'deadline'
      AND (:now - max(created_at, coalesce(not_before, created_at))) / 1000000
          >= max_acceptance_seconds
RETURNING max(created_at, coalesce(not_before, created_at)), attempt_count + 1,
          notify;
