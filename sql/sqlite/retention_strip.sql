-- The payload goes, the hash stays: the id still answers.

UPDATE submission_intents
SET payload = x'',
    stripped_at = :now
WHERE rowid = :rowid AND completed_at IS NOT NULL;
