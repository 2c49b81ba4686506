-- One that was not ended: when its next attempt is due, if it has one to come.

SELECT next_attempt_at
FROM submission_intents
WHERE lease_name = :lease_name AND intent_id = :intent_id
      AND status = 'pending' AND next_attempt_at IS NOT NULL
      AND inflight_epoch IS NULL;
