-- Takes back an attempt that was begun but not sent.  The intent is due as before, or
-- after a delay, and keeps the error, for which the reason is "unsent".  An intent that
-- is held stays in flight, and only its error is written: it may have been sent, so the
-- reason is "unknown".

UPDATE submission_intents
SET next_attempt_at = CASE WHEN :held THEN NULL
                           WHEN :delay > 0 THEN :now + :delay
                           ELSE inflight_at END,
    last_error = coalesce(:error, last_error),
    final_outcome_reason = CASE WHEN :error IS NULL THEN final_outcome_reason
                                WHEN :held THEN 'unknown'
                                ELSE 'unsent' END,
    last_modified_at = :now,
    inflight_epoch = iif(:held, inflight_epoch, NULL),
    inflight_holder = iif(:held, inflight_holder, NULL),
    inflight_at = iif(:held, inflight_at, NULL)
WHERE lease_name = :lease_name AND intent_id = :intent_id
      AND status = 'pending' AND inflight_epoch = :lease_epoch
      AND inflight_holder = :holder_id AND attempt_count = :attempt_number - 1
RETURNING next_attempt_at;
