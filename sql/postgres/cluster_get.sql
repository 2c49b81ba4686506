-- The lease, and the live instances, oldest first: one row each.

CREATE OR REPLACE FUNCTION submission.submission_cluster_get(p_lease_name text)
RETURNS TABLE (
    o_now bigint, o_held bigint, o_holder_id text, o_lease_epoch bigint,
    o_acquired_at bigint, o_renewed_at bigint, o_expires_at bigint,
    o_candidate_holder_id text, o_role text, o_version text,
    o_started_at bigint, o_heartbeat_at bigint, o_candidate_expires_at bigint
)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = submission, pg_temp
AS $$
DECLARE
    v_now  timestamptz;
BEGIN
    v_now := submission_now();

    RETURN QUERY
    SELECT l.*, c.holder_id::text, c.role::text, c.version::text,
           submission_us(c.started_at), submission_us(c.heartbeat_at),
           submission_us(c.expires_at)
    FROM submission_lease_row(p_lease_name, v_now, false) AS l
         LEFT JOIN submission_manager_candidates AS c
         ON c.lease_name = p_lease_name AND c.expires_at > v_now
    ORDER BY c.started_at, c.holder_id;
END
$$;
