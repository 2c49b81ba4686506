-- An attempt that was begun and not sent has not been: the intent is as due as
-- it was, or after a delay; why it was not sent is kept.  One that is held stays in
-- flight, and has its error written alone.

UPDATE submission_intents
SET next_attempt_at = CASE WHEN :held THEN NULL
                           WHEN :delay > 0 THEN :now + :delay
                           ELSE inflight_at END,
    last_error = coalesce(:error, last_error),
    last_modified_at = :now,
    inflight_epoch = iif(:held, inflight_epoch, NULL),
    inflight_holder = iif(:held, inflight_holder, NULL),
    inflight_at = iif(:held, inflight_at, NULL)
WHERE lease_name = :lease_name AND intent_id = :intent_id
      AND status = 'pending' AND inflight_epoch = :lease_epoch
      AND inflight_holder = :holder_id AND attempt_count = :attempt_number - 1
RETURNING next_attempt_at;
