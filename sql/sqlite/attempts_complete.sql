-- Updates the intent of one attempt of a batch, in the batch's transaction, if
-- that attempt is still in flight.

UPDATE submission_intents
SET status = :status,
    final_outcome_status = :outcome_status,
    final_outcome_reason = :outcome_reason,
    exhausted_reason = :exhausted_reason,
    last_error = :error,
    attempt_count = :attempt_number,
    completed_at = :completed_at,
    last_modified_at = :now,
    next_attempt_at = :next_attempt_at,
    inflight_epoch = NULL,
    inflight_holder = NULL,
    inflight_at = NULL
WHERE lease_name = :lease_name AND intent_id = :intent_id
      AND status = 'pending' AND inflight_epoch = :lease_epoch
      AND inflight_holder = :holder_id AND attempt_count = :attempt_number - 1;
