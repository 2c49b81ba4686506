-- Reads the payload of an intent, or everything but the payload if :bare is set.

SELECT stripped_at IS NOT NULL AS stripped, status, submission_target, replay_of,
       replay_count,
       CASE WHEN :bare = 0 THEN payload END AS payload
FROM submission_intents
WHERE lease_name = :lease_name AND intent_id = :intent_id;
