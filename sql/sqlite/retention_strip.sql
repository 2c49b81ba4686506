-- Removes the payload of an intent, and keeps the hash by which duplicates are known.

UPDATE submission_intents
SET payload = x'',
    stripped_at = :now
WHERE rowid = :rowid AND completed_at IS NOT NULL;
