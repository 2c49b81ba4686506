-- Pauses or resumes a target, and notes it in the audit.  o_outcome is 1 if the
-- state has changed, and 2 if it was the same.  There is no row if there is no such
-- target: the instance that got the request does not have it in its configuration
-- (p_known is 0), it was never paused, and it has no pending intent.

CREATE OR REPLACE FUNCTION submission.submission_target_set(
    p_lease_name text, p_target text, p_state text, p_reason text,
    p_actor text, p_address text, p_detail text, p_known bigint
)
RETURNS TABLE (
    o_outcome bigint, o_state text, o_submission_target text, o_since bigint,
    o_reason text, o_actor text
)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = submission, pg_temp
AS $$
DECLARE
    v_now      timestamptz;
    v_changed  bigint;
BEGIN
    v_now := submission_now();

    IF p_known = 0
       AND NOT EXISTS (SELECT 1
                       FROM submission_targets AS t
                       WHERE t.lease_name = p_lease_name
                             AND t.submission_target = p_target)
       AND NOT EXISTS (SELECT 1
                       FROM submission_intents AS i
                       WHERE i.lease_name = p_lease_name
                             AND i.submission_target = p_target
                             AND i.status = 'pending'
                             AND i.attempt_count >= 0)
    THEN
        RETURN;
    END IF;

    IF p_state = 'paused' THEN
        INSERT INTO submission_targets AS t (
            lease_name, submission_target, state, since, reason, actor
        )
        VALUES (
            p_lease_name, p_target, p_state, v_now, left(p_reason, 500),
            left(p_actor, 200)
        )
        ON CONFLICT (lease_name, submission_target) DO UPDATE
        SET state = excluded.state,
            since = excluded.since,
            reason = excluded.reason,
            actor = excluded.actor
        WHERE t.state <> excluded.state;
    ELSE
        UPDATE submission_targets AS t
        SET state = p_state,
            since = v_now,
            reason = left(p_reason, 500),
            actor = left(p_actor, 200)
        WHERE t.lease_name = p_lease_name AND t.submission_target = p_target
              AND t.state <> p_state;
    END IF;

    GET DIAGNOSTICS v_changed = ROW_COUNT;

    IF v_changed = 1 THEN
        PERFORM submission_audit_add(p_lease_name, v_now, p_actor, p_address,
                                     CASE p_state WHEN 'paused' THEN 'pause'
                                                  ELSE 'resume' END,
                                     p_target, p_detail);
    END IF;

    RETURN QUERY
    SELECT 2 - v_changed, coalesce(t.state::text, 'open'), p_target,
           submission_us(t.since), t.reason::text, t.actor::text
    FROM (SELECT 1) AS one
         LEFT JOIN submission_targets AS t
         ON t.lease_name = p_lease_name AND t.submission_target = p_target;
END
$$;
