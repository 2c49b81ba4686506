-- The events that tell webhooks of an intent.

CREATE OR REPLACE FUNCTION submission.submission_intent_events(
    p_lease_name text, p_intent_id text, p_limit bigint
)
RETURNS TABLE (
    o_intent_id text, o_event_of text, o_submission_target text,
    o_status text, o_created_at bigint, o_attempt_count bigint, o_next_attempt_at bigint,
    o_completed_at bigint, o_last_error text
)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = submission, pg_temp
AS $$
BEGIN
    RETURN QUERY
    SELECT i.intent_id::text, i.event_of::text, i.submission_target::text,
           i.status::text,
           submission_us(i.created_at), i.attempt_count,
           submission_us(i.next_attempt_at), submission_us(i.completed_at),
           i.last_error::text
    FROM submission_intents AS i
    WHERE i.lease_name = p_lease_name AND i.event_of = p_intent_id
    ORDER BY i.intent_id
    LIMIT p_limit;
END
$$;
