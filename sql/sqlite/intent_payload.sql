-- What an intent was sent with, or, where it is :bare, all but the payload.

SELECT stripped_at IS NOT NULL, status, submission_target, replay_of,
       CASE WHEN :bare = 0 THEN payload END
FROM submission_intents
WHERE lease_name = :lease_name AND intent_id = :intent_id;
