-- The targets that are paused.  The first row has only the time.

CREATE OR REPLACE FUNCTION submission.submission_targets_paused(
    p_lease_name text, p_holder_id text, p_lease_epoch bigint
)
RETURNS TABLE (
    o_now bigint, o_submission_target text, o_since bigint, o_reason text,
    o_actor text
)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = submission, pg_temp
AS $$
BEGIN
    o_now := submission_us(submission_fence_read(p_lease_name, p_holder_id,
                                                 p_lease_epoch));
    RETURN NEXT;

    RETURN QUERY
    SELECT NULL::bigint, t.submission_target::text, submission_us(t.since),
           t.reason::text, t.actor::text
    FROM submission_targets AS t
    WHERE t.lease_name = p_lease_name AND t.state = 'paused';
END
$$;
