-- Cancels one intent of a batch, in the batch's transaction, if no attempt of it is in
-- flight.  No attempt will begin after that.

UPDATE submission_intents
SET status = 'canceled',
    completed_at = :now,
    last_modified_at = :now,
    next_attempt_at = NULL
WHERE lease_name = :lease_name AND intent_id = :intent_id
      AND status = 'pending' AND inflight_epoch IS NULL;
