-- The lease, and the instances that are alive, oldest first: one row for each
-- instance.  The names of its targets are read if their hash is not p_names_hash.

CREATE OR REPLACE FUNCTION submission.submission_cluster_get(
    p_lease_name text, p_names_hash text
)
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
           submission_us(c.expires_at), c.config::text,
           submission_us(c.config_since), submission_us(c.shared_at),
           convert_to(n.names, 'UTF8'), c.events::text
    FROM submission_lease_shown(p_lease_name, v_now, false) AS l
         LEFT JOIN submission_manager_candidates AS c
         ON c.lease_name = p_lease_name AND c.expires_at > v_now
         LEFT JOIN submission_manager_target_names AS n
         ON n.lease_name = c.lease_name AND n.holder_id = c.holder_id
            AND n.names_hash <> p_names_hash
    ORDER BY c.started_at, c.holder_id;
END
$$;
