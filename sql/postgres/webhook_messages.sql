-- A page of the events of a webhook with a status, newest first, strictly after
-- (p_created_at, p_intent_id), or from the newest on if that is NULL.

CREATE OR REPLACE FUNCTION submission.submission_webhook_messages(
    p_lease_name text, p_target text, p_status text, p_created_at bigint,
    p_intent_id text, p_limit bigint
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
    WHERE i.lease_name = p_lease_name AND i.submission_target = p_target
          AND i.status = p_status AND i.attempt_count >= 0
          AND (i.created_at, i.intent_id)
              < (coalesce(submission_at(p_created_at), 'infinity'),
                 coalesce(p_intent_id, ''))
    ORDER BY i.created_at DESC, i.intent_id DESC
    LIMIT p_limit;
END
$$;
