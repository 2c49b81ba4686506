-- Notes in an intent that it was replayed, and as which id.

UPDATE submission_intents
SET replay_count = coalesce(replay_count, 0) + 1,
    replayed_as = substr(:new_id || char(10) || coalesce(replayed_as, ''), 1, 500)
WHERE lease_name = :lease_name AND intent_id = :intent_id;
