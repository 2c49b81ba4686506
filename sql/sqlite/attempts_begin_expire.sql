-- Ends an intent whose deadline has passed.

UPDATE submission_intents
SET status = 'exhausted',
    exhausted_reason = 'deadline_exceeded',
    completed_at = :now,
    next_attempt_at = NULL,
    last_modified_at = :now
WHERE rowid = :rowid;
