-- Takes the lease if there is none, or if it has expired.

CREATE OR REPLACE FUNCTION submission.submission_lease_acquire(
    p_lease_name text, p_holder_id text, p_duration_ms bigint
)
RETURNS SETOF submission.submission_row_lease
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = submission, pg_temp
AS $$
DECLARE
    v_now  timestamptz;
BEGIN
    v_now := submission_now();

    INSERT INTO submission_manager_leases (
        lease_name, holder_id, lease_epoch, acquired_at, renewed_at, expires_at,
        inflight_since
    )
    SELECT p_lease_name, p_holder_id, 1, v_now, v_now,
           v_now + p_duration_ms * interval '1 millisecond',
           submission_inflight_since(p_lease_name, '-infinity', v_now)
    WHERE NOT EXISTS (
        SELECT 1
        FROM submission_manager_leases
        WHERE lease_name = p_lease_name
    )
    ON CONFLICT (lease_name) DO NOTHING;

    IF NOT FOUND THEN
        v_now := submission_lease_lock(p_lease_name);

        UPDATE submission_manager_leases
        SET holder_id = p_holder_id,
            lease_epoch = lease_epoch + 1,
            acquired_at = v_now,
            renewed_at = v_now,
            expires_at = v_now + p_duration_ms * interval '1 millisecond'
        WHERE lease_name = p_lease_name AND expires_at <= v_now;
    END IF;

    RETURN QUERY SELECT * FROM submission_lease_shown(p_lease_name, v_now, FOUND);
END
$$;
