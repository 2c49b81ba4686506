-- Leaves an intent to a newer module, and notes why.

UPDATE submission_intents
SET last_error = :error
WHERE rowid = :rowid AND last_error IS NOT :error;
