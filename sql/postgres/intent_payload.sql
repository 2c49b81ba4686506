-- The payload of an intent and what is needed to replay it; if p_bare is not 0,
-- without the payload.  There is no row if there is no such intent.

CREATE OR REPLACE FUNCTION submission.submission_intent_payload(
    p_lease_name text, p_intent_id text, p_bare bigint
)
RETURNS TABLE (
    o_stripped bigint, o_status text, o_submission_target text,
    o_replay_of text, o_replay_count bigint, o_payload bytea
)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = submission, pg_temp
AS $$
BEGIN
    RETURN QUERY
    SELECT CASE WHEN i.stripped_at IS NULL THEN 0 ELSE 1 END::bigint,
           i.status::text, i.submission_target::text, i.replay_of::text,
           i.replay_count,
           CASE WHEN p_bare = 0 THEN i.payload END
    FROM submission_intents AS i
    WHERE i.lease_name = p_lease_name AND i.intent_id = p_intent_id;
END
$$;
