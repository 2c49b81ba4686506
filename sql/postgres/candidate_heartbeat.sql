-- Notes that an instance is alive for the duration, and that it was started at
-- p_started_us, or now if that is 0.  Instances whose time has passed are removed.

CREATE OR REPLACE FUNCTION submission.submission_candidate_heartbeat(
    p_lease_name text, p_holder_id text, p_duration_ms bigint, p_role text,
    p_version text, p_started_us bigint, p_wake_url text
)
RETURNS TABLE (o_now bigint)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = submission, pg_temp
AS $$
DECLARE
    v_now  timestamptz;
BEGIN
    v_now := submission_now();

    INSERT INTO submission_manager_candidates AS c (
        lease_name, holder_id, started_at, heartbeat_at, expires_at, role,
        version, wake_url
    )
    VALUES (
        p_lease_name, p_holder_id,
        CASE WHEN p_started_us = 0 THEN v_now
             ELSE submission_at(p_started_us) END,
        v_now,
        v_now + p_duration_ms * interval '1 millisecond', p_role, p_version,
        p_wake_url
    )
    ON CONFLICT (lease_name, holder_id) DO UPDATE
    SET started_at = excluded.started_at,
        heartbeat_at = excluded.heartbeat_at,
        expires_at = excluded.expires_at,
        role = excluded.role,
        version = excluded.version,
        wake_url = excluded.wake_url;

    -- Rows that another session is removing are left to it.

    DELETE FROM submission_manager_candidates
    WHERE (lease_name, holder_id) IN (
        SELECT lease_name, holder_id
        FROM submission_manager_candidates
        WHERE lease_name = p_lease_name AND expires_at <= v_now
        ORDER BY holder_id
        FOR UPDATE SKIP LOCKED
    );

    RETURN QUERY SELECT submission_us(v_now);
END
$$;
