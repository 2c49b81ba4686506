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
        -- the clock was set back: what is begun now is older than that

        IF v_lease.inflight_since > v_now THEN
            UPDATE submission_manager_leases
            SET inflight_since = v_now
            WHERE lease_name = p_lease_name;
        END IF;

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


-- When the oldest of what is in flight was begun, where none is older than
-- p_since; p_now, if there is none.  The caller has the lease's row.

CREATE OR REPLACE FUNCTION submission.submission_inflight_since(
    p_lease_name text, p_since timestamptz, p_now timestamptz
)
RETURNS timestamptz
LANGUAGE plpgsql VOLATILE
SET search_path = submission, pg_temp
SET enable_sort = off
AS $$
DECLARE
    v_at  timestamptz;
BEGIN
    SELECT i.inflight_at INTO v_at
    FROM submission_intents AS i
    WHERE i.lease_name = p_lease_name AND i.inflight_epoch IS NOT NULL
          AND i.inflight_at >= p_since
    ORDER BY i.inflight_at
    LIMIT 1;

    RETURN coalesce(v_at, p_now);
END
$$;
