-- Extends the lease for its holder; the epoch stays.  Also moves inflight_since up
-- to the oldest attempt in flight.  That is one seek, as the renewal before has
-- moved it, too.

CREATE OR REPLACE FUNCTION submission.submission_lease_renew(
    p_lease_name text, p_holder_id text, p_lease_epoch bigint,
    p_duration_ms bigint
)
RETURNS SETOF submission.submission_row_lease
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = submission, pg_temp
AS $$
DECLARE
    v_now  timestamptz;
BEGIN
    v_now := submission_lease_lock(p_lease_name);

    UPDATE submission_manager_leases
    SET renewed_at = v_now,
        expires_at = v_now + p_duration_ms * interval '1 millisecond',
        inflight_since = CASE WHEN inflight_since IS NOT NULL
                              THEN submission_inflight_since(p_lease_name,
                                       inflight_since, v_now) END
    WHERE lease_name = p_lease_name AND holder_id = p_holder_id
          AND lease_epoch = p_lease_epoch AND expires_at > v_now;

    RETURN QUERY SELECT * FROM submission_lease_shown(p_lease_name, v_now, FOUND);
END
$$;
