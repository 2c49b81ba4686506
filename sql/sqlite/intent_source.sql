-- Reads an intent that may be replayed: it has ended, still has its payload, and was not
-- replayed before, unless :again.  Its columns are parameters of intents_submit.sql,
-- which writes the replay.

SELECT *
FROM submission_intents
WHERE lease_name = :lease_name AND intent_id = :intent_id
      AND status <> 'pending' AND stripped_at IS NULL
      AND (:again OR replay_count IS NULL);
