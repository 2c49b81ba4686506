-- What is in flight under epochs before p_lease_epoch, strictly after
-- (p_after_at, p_after_id), in the order of its begin.  The first row has the time
-- alone.
--
-- It begins where the lease says that nothing is older.

CREATE OR REPLACE FUNCTION submission.submission_attempts_in_doubt(
    p_lease_name text, p_holder_id text, p_lease_epoch bigint,
    p_after_at bigint, p_after_id text, p_limit bigint, p_version bigint
)
RETURNS TABLE (
    o_now bigint, o_intent_id text, o_number bigint, o_inflight_epoch bigint,
    o_inflight_holder text, o_inflight_at bigint, o_created_at bigint,
    o_submission_target text,
    o_gateway_type text, o_gateway_url text, o_policy text,
    o_max_acceptance_seconds bigint, o_max_attempts bigint,
    o_terminal_outcomes text, o_retry_delay_ms bigint, o_retry_max_ms bigint,
    o_retry_backoff_pct bigint, o_retry_jitter_pct bigint,
    o_retry_schedule text, o_notify text, o_contract_version bigint
)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = submission, pg_temp
SET enable_seqscan = off
SET enable_bitmapscan = off
SET enable_sort = off
SET jit = off
AS $$
DECLARE
    v_now    timestamptz;
    v_at     timestamptz;
    v_id     text;
    v_since  timestamptz;
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

    RETURN QUERY
    SELECT submission_us(v_now),
           NULL, NULL::bigint, NULL::bigint, NULL, NULL::bigint, NULL::bigint,
           NULL, NULL, NULL, NULL, NULL::bigint, NULL::bigint, NULL,
           NULL::bigint, NULL::bigint, NULL::bigint, NULL::bigint, NULL,
           NULL, NULL::bigint;

    RETURN QUERY
    SELECT NULL::bigint, i.intent_id::text, i.attempt_count + 1,
           i.inflight_epoch, i.inflight_holder::text,
           submission_us(i.inflight_at),
           submission_us(greatest(i.created_at, i.not_before)),
           i.submission_target::text, i.gateway_type::text,
           i.gateway_url::text, i.policy::text, i.max_acceptance_seconds,
           i.max_attempts, i.terminal_outcomes::text, i.retry_delay_ms,
           i.retry_max_ms, i.retry_backoff_pct, i.retry_jitter_pct,
           i.retry_schedule::text, i.notify::text, i.contract_version::bigint
    FROM submission_intents AS i
    WHERE i.lease_name = p_lease_name AND i.inflight_epoch IS NOT NULL
          AND i.inflight_epoch < p_lease_epoch
          AND (i.inflight_at, i.intent_id) > (v_at, v_id)
    ORDER BY i.inflight_at, i.intent_id
    LIMIT p_limit;
END
$$;


-- As version 1 calls it.

CREATE OR REPLACE FUNCTION submission.submission_attempts_in_doubt(
    p_lease_name text, p_holder_id text, p_lease_epoch bigint,
    p_after_at bigint, p_after_id text, p_limit bigint
)
RETURNS TABLE (
    o_now bigint, o_intent_id text, o_number bigint, o_inflight_epoch bigint,
    o_inflight_holder text, o_inflight_at bigint, o_created_at bigint,
    o_submission_target text,
    o_gateway_type text, o_gateway_url text, o_policy text,
    o_max_acceptance_seconds bigint, o_max_attempts bigint,
    o_terminal_outcomes text, o_retry_delay_ms bigint, o_retry_max_ms bigint,
    o_retry_backoff_pct bigint, o_retry_jitter_pct bigint
)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = submission, pg_temp
AS $$
BEGIN
    RETURN QUERY
    SELECT d.o_now, d.o_intent_id, d.o_number, d.o_inflight_epoch,
           d.o_inflight_holder, d.o_inflight_at, d.o_created_at,
           d.o_submission_target, d.o_gateway_type, d.o_gateway_url, d.o_policy,
           d.o_max_acceptance_seconds, d.o_max_attempts, d.o_terminal_outcomes,
           d.o_retry_delay_ms, d.o_retry_max_ms, d.o_retry_backoff_pct,
           d.o_retry_jitter_pct
    FROM submission_attempts_in_doubt(p_lease_name, p_holder_id, p_lease_epoch,
                                      p_after_at, p_after_id, p_limit, 1) AS d;
END
$$;
