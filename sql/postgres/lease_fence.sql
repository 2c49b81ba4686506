-- The beginning of every transaction of an executor: takes the lease's row, to
-- the end of it, then the time, and fails, telling it, when the lease is not held any more.
-- SELECT FOR UPDATE takes the lock of an UPDATE, and leaves no dead row.

CREATE OR REPLACE FUNCTION submission.submission_fence(
    p_lease_name text, p_holder_id text, p_lease_epoch bigint
)
RETURNS timestamptz
LANGUAGE plpgsql VOLATILE
SET search_path = submission, pg_temp
AS $$
DECLARE
    v_lease  submission_manager_leases;
    v_now    timestamptz;
BEGIN
    SELECT * INTO v_lease
    FROM submission_manager_leases
    WHERE lease_name = p_lease_name
    FOR UPDATE;

    v_now := submission_now();

    IF v_lease.holder_id = p_holder_id AND v_lease.lease_epoch = p_lease_epoch
       AND v_lease.expires_at > v_now
    THEN
        RETURN v_now;
    END IF;

    RAISE EXCEPTION 'LEASE_LOST at %', submission_us(v_now)
          USING ERRCODE = 'P7002';
END
$$;


-- The same for what only reads: locks nothing.  The time is taken before the
-- first read: what was committed by then is seen.

CREATE OR REPLACE FUNCTION submission.submission_fence_read(
    p_lease_name text, p_holder_id text, p_lease_epoch bigint
)
RETURNS timestamptz
LANGUAGE plpgsql VOLATILE
SET search_path = submission, pg_temp
AS $$
DECLARE
    v_now  timestamptz;
BEGIN
    v_now := submission_now();

    PERFORM 1
    FROM submission_manager_leases
    WHERE lease_name = p_lease_name AND holder_id = p_holder_id
          AND lease_epoch = p_lease_epoch AND expires_at > v_now;

    IF FOUND THEN
        RETURN v_now;
    END IF;

    RAISE EXCEPTION 'LEASE_LOST at %', submission_us(v_now)
          USING ERRCODE = 'P7002';
END
$$;
