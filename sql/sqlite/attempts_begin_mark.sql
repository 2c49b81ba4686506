-- Marks an intent as in flight.

UPDATE submission_intents
SET inflight_epoch = :lease_epoch,
    inflight_holder = :holder_id,
    inflight_at = :now,
    next_attempt_at = NULL,
    last_modified_at = :now
WHERE rowid = :rowid;
