-- The lease, and the instances that are alive, oldest first: one row for each
-- instance.

CREATE OR REPLACE FUNCTION submission.submission_cluster_get(p_lease_name text)
RETURNS SETOF submission.submission_row_cluster
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
    FROM submission_lease_shown(p_lease_name, v_now, false) AS l
         LEFT JOIN submission_manager_candidates AS c
         ON c.lease_name = p_lease_name AND c.expires_at > v_now
    ORDER BY c.started_at, c.holder_id;
END
$$;
