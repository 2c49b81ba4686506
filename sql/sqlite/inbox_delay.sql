-- An intent that this transaction made of a row with a time.

UPDATE submission_intents
SET not_before = :not_before,
    next_attempt_at = max(next_attempt_at, :not_before)
WHERE lease_name = :lease_name AND intent_id = :intent_id;
