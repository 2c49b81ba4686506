-- What the functions that change the lease, and those that depend on it, share.
--
-- Whoever changes the lease, or writes as its holder, locks its row first and takes
-- the time then: a lease that expired while the lock was waited for is found
-- expired.  SELECT FOR UPDATE takes the same lock as UPDATE, and leaves no dead row
-- behind.

-- Locks the lease until the end of the transaction, and returns the time after
-- that.

CREATE OR REPLACE FUNCTION submission.submission_lease_lock(p_lease_name text)
RETURNS timestamptz
LANGUAGE plpgsql VOLATILE
SET search_path = submission, pg_temp
AS $$
BEGIN
    PERFORM 1
    FROM submission_manager_leases
    WHERE lease_name = p_lease_name
    FOR UPDATE;

    RETURN submission_now();
END
$$;


-- Returns p_now if the lease is held at that time by this holder with this epoch,
-- and fails otherwise.  The error tells the time.

CREATE OR REPLACE FUNCTION submission.submission_lease_held(
    p_lease submission.submission_manager_leases, p_holder_id text,
    p_lease_epoch bigint, p_now timestamptz
)
RETURNS timestamptz
LANGUAGE plpgsql STABLE
SET search_path = submission, pg_temp
AS $$
BEGIN
    IF p_lease.holder_id = p_holder_id AND p_lease.lease_epoch = p_lease_epoch
       AND p_lease.expires_at > p_now
    THEN
        RETURN p_now;
    END IF;

    RAISE EXCEPTION 'LEASE_LOST at %', submission_us(p_now)
          USING ERRCODE = 'P7002';
END
$$;


-- The beginning of every transaction in which an executor writes: locks the lease,
-- fails if it is not held any more, and returns the time.

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

    v_now := submission_lease_held(v_lease, p_holder_id, p_lease_epoch,
                                   submission_now());

    -- If the clock was set back, an attempt that begins now is older than the place
    -- where a recovery would begin.

    IF v_lease.inflight_since > v_now THEN
        UPDATE submission_manager_leases
        SET inflight_since = v_now
        WHERE lease_name = p_lease_name;
    END IF;

    RETURN v_now;
END
$$;


-- The same for a transaction that only reads: it locks nothing.  The time is taken
-- before the first read, so everything that was committed by that time is seen.

CREATE OR REPLACE FUNCTION submission.submission_fence_read(
    p_lease_name text, p_holder_id text, p_lease_epoch bigint
)
RETURNS timestamptz
LANGUAGE plpgsql VOLATILE
SET search_path = submission, pg_temp
AS $$
DECLARE
    v_now    timestamptz;
    v_lease  submission_manager_leases;
BEGIN
    v_now := submission_now();

    SELECT * INTO v_lease
    FROM submission_manager_leases
    WHERE lease_name = p_lease_name;

    RETURN submission_lease_held(v_lease, p_holder_id, p_lease_epoch, v_now);
END
$$;


-- Returns when the oldest attempt in flight was begun, or p_now if none is in
-- flight.  The caller has locked the lease, and knows that no attempt is older than
-- p_since.

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
