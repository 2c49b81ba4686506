-- Gives the lease a new epoch, for another worker of the same holder.

CREATE OR REPLACE FUNCTION submission.submission_lease_takeover(
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
    SET lease_epoch = lease_epoch + 1,
        acquired_at = v_now,
        renewed_at = v_now,
        expires_at = v_now + p_duration_ms * interval '1 millisecond'
    WHERE lease_name = p_lease_name AND holder_id = p_holder_id
          AND lease_epoch = p_lease_epoch AND expires_at > v_now;

    RETURN QUERY SELECT * FROM submission_lease_shown(p_lease_name, v_now, FOUND);
END
$$;
