-- Gives the lease up, so that anybody can acquire it at once.

CREATE OR REPLACE FUNCTION submission.submission_lease_release(
    p_lease_name text, p_holder_id text, p_lease_epoch bigint
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
    SET expires_at = v_now
    WHERE lease_name = p_lease_name AND holder_id = p_holder_id
          AND lease_epoch = p_lease_epoch AND expires_at > v_now;

    RETURN QUERY SELECT * FROM submission_lease_shown(p_lease_name, v_now, FOUND);
END
$$;
