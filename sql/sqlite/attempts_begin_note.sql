-- Notes in an intent why it is left to a newer module.

UPDATE submission_intents
SET last_error = :error,
    final_outcome_reason = 'unsent'
WHERE rowid = :rowid AND last_error IS NOT :error;
