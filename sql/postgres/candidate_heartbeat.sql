-- Notes that an instance is alive for the duration, and that it was started at
-- p_started_us, or now if that is 0.  Instances whose time has passed are removed a day
-- later: one that comes back, after an outage of the store, finds since when it has its
-- configuration.
--
-- If another instance has written to the row since this one did, both have the same
-- holder_id, and take turns: then shared_at is set.  The names of targets are written
-- if they are given; o_wanted says that they are missing.

CREATE OR REPLACE FUNCTION submission.submission_candidate_heartbeat(
    p_lease_name text, p_holder_id text, p_duration_ms bigint, p_role text,
    p_version text, p_started_us bigint, p_wake_url text, p_config text,
    p_names_hash text, p_names text, p_key bigint,
    p_events text
)
RETURNS TABLE (o_now bigint, o_wanted bigint, o_shared bigint)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = submission, pg_temp
AS $$
DECLARE
    v_now     timestamptz;
    v_shared  timestamptz;
BEGIN
    v_now := submission_now();

    INSERT INTO submission_manager_candidates AS c (
        lease_name, holder_id, started_at, heartbeat_at, expires_at, role,
        version, wake_url, config, config_since, instance_key, events
    )
    VALUES (
        p_lease_name, p_holder_id,
        CASE WHEN p_started_us = 0 THEN v_now
             ELSE submission_at(p_started_us) END,
        v_now,
        v_now + p_duration_ms * interval '1 millisecond', p_role, p_version,
        p_wake_url, p_config, v_now, p_key, p_events
    )
    ON CONFLICT (lease_name, holder_id) DO UPDATE
    SET started_at = excluded.started_at,
        heartbeat_at = excluded.heartbeat_at,
        expires_at = excluded.expires_at,
        role = excluded.role,
        version = excluded.version,
        wake_url = excluded.wake_url,
        config = excluded.config,
        config_since = CASE WHEN c.config = excluded.config
                            THEN c.config_since
                            ELSE excluded.config_since END,
        shared_at = CASE WHEN c.instance_key <> excluded.instance_key
                              AND c.other_key = excluded.instance_key
                         THEN excluded.heartbeat_at ELSE c.shared_at END,
        other_key = CASE WHEN c.instance_key <> excluded.instance_key
                         THEN c.instance_key ELSE c.other_key END,
        instance_key = excluded.instance_key,
        events = excluded.events
    RETURNING c.shared_at INTO v_shared;

    IF p_names IS NOT NULL THEN
        INSERT INTO submission_manager_target_names (
            lease_name, holder_id, names_hash, names
        )
        VALUES (p_lease_name, p_holder_id, p_names_hash, p_names)
        ON CONFLICT (lease_name, holder_id) DO UPDATE
        SET names_hash = excluded.names_hash,
            names = excluded.names;
    END IF;

    -- Rows that another session is removing are left to it.

    DELETE FROM submission_manager_target_names
    WHERE (lease_name, holder_id) IN (
        SELECT n.lease_name, n.holder_id
        FROM submission_manager_target_names AS n
             LEFT JOIN submission_manager_candidates AS c
             ON c.lease_name = n.lease_name AND c.holder_id = n.holder_id
        WHERE n.lease_name = p_lease_name
              AND (c.holder_id IS NULL OR c.expires_at <= v_now)
        ORDER BY n.holder_id
        FOR UPDATE OF n SKIP LOCKED
    );

    DELETE FROM submission_manager_candidates
    WHERE (lease_name, holder_id) IN (
        SELECT lease_name, holder_id
        FROM submission_manager_candidates
        WHERE lease_name = p_lease_name
              AND expires_at <= v_now - interval '1 day'
        ORDER BY holder_id
        FOR UPDATE SKIP LOCKED
    );

    RETURN QUERY
    SELECT submission_us(v_now),
           CASE WHEN p_names_hash IS NOT NULL
                     AND NOT EXISTS (
                         SELECT 1
                         FROM submission_manager_target_names AS n
                         WHERE n.lease_name = p_lease_name
                               AND n.holder_id = p_holder_id
                               AND n.names_hash = p_names_hash
                     )
                THEN 1::bigint ELSE 0::bigint END,
           CASE WHEN v_shared = v_now THEN 1::bigint ELSE 0::bigint END;
END
$$;
