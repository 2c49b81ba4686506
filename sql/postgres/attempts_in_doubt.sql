-- The intents that are in flight under an epoch before p_lease_epoch, strictly
-- after (p_after_at, p_after_id), in the order in which their attempts began.  The
-- first row has only the time.
--
-- The search begins at the time that the lease has as inflight_since.

CREATE OR REPLACE FUNCTION submission.submission_attempts_in_doubt(
    p_lease_name text, p_holder_id text, p_lease_epoch bigint,
    p_after_at bigint, p_after_id text, p_limit bigint
)
RETURNS SETOF submission.submission_row_doubt
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = submission, pg_temp
SET enable_sort = off
AS $$
DECLARE
    v_now    timestamptz;
    v_at     timestamptz;
    v_id     text;
    v_since  timestamptz;
    v_row    submission_row_doubt;
BEGIN
    v_now := submission_fence_read(p_lease_name, p_holder_id, p_lease_epoch);
    v_at := submission_at(greatest(p_after_at, 0));
    v_id := p_after_id;

    SELECT inflight_since INTO v_since
    FROM submission_manager_leases
    WHERE lease_name = p_lease_name;

    IF v_since > v_at THEN
        v_at := v_since;
        v_id := '';
    END IF;

    v_row.o_now := submission_us(v_now);
    RETURN NEXT v_row;

    RETURN QUERY
    SELECT NULL::bigint, i.intent_id::text, i.attempt_count + 1,
           i.inflight_epoch, i.inflight_holder::text,
           submission_us(i.inflight_at),
           submission_us(greatest(i.created_at, i.not_before)), c.*
    FROM submission_intents AS i
         CROSS JOIN LATERAL submission_contract(i) AS c
    WHERE i.lease_name = p_lease_name AND i.inflight_epoch IS NOT NULL
          AND i.inflight_epoch < p_lease_epoch
          AND (i.inflight_at, i.intent_id) > (v_at, v_id)
    ORDER BY i.inflight_at, i.intent_id
    LIMIT p_limit;
END
$$;
