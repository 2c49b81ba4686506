-- A copy of an intent that has ended, under another id, with another contract, or
-- its own where p_contract is NULL; and likewise of another trace.  o_outcome is 1: created, 2: it was made
-- before, 3: the id is that of another intent, 4: it belongs to p_schedule, which
-- exists.  No row: there is nothing to copy, or its payload is gone.

DROP FUNCTION IF EXISTS submission.submission_intent_replay(
    text, text, text, text, text, text, text
);

DROP FUNCTION IF EXISTS submission.submission_intent_replay(
    text, text, text, text, text, text, text, text, text
);

CREATE OR REPLACE FUNCTION submission.submission_intent_replay(
    p_lease_name text, p_intent_id text, p_new_id text, p_contract text,
    p_actor text, p_address text, p_detail text, p_traceparent text,
    p_tracestate text, p_schedule text DEFAULT NULL
)
RETURNS TABLE (o_outcome bigint)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = submission, pg_temp
SET enable_seqscan = off
SET enable_hashjoin = off
SET enable_mergejoin = off
SET enable_bitmapscan = off
SET jit = off
AS $$
DECLARE
    v_now  timestamptz;
    c      jsonb;
BEGIN
    v_now := submission_now();
    c := p_contract::jsonb;

    IF p_schedule IS NOT NULL
       AND EXISTS (SELECT 1
                   FROM submission_schedules AS s
                   WHERE s.lease_name = p_lease_name
                         AND s.schedule_id = p_schedule)
    THEN
        RETURN QUERY SELECT 4::bigint;
        RETURN;
    END IF;

    INSERT INTO submission_intents (
        lease_name, intent_id, payload_hash, payload, submission_target,
        gateway_type, gateway_url, policy, max_acceptance_seconds,
        max_attempts, terminal_outcomes, retry_delay_ms, retry_max_ms,
        retry_backoff_pct, retry_jitter_pct, retry_schedule, notify,
        contract_version, status,
        attempt_count, created_at, last_modified_at, next_attempt_at, replay_of,
        event_of, traceparent, tracestate
    )
    SELECT i.lease_name, p_new_id, i.payload_hash, i.payload,
           i.submission_target,
           CASE WHEN c IS NULL THEN i.gateway_type ELSE c->>'type' END,
           CASE WHEN c IS NULL THEN i.gateway_url ELSE c->>'url' END,
           CASE WHEN c IS NULL THEN i.policy ELSE c->>'policy' END,
           CASE WHEN c IS NULL THEN i.max_acceptance_seconds
                ELSE (c->>'seconds')::bigint END,
           CASE WHEN c IS NULL THEN i.max_attempts
                ELSE (c->>'attempts')::bigint END,
           CASE WHEN c IS NULL THEN i.terminal_outcomes
                ELSE c->>'outcomes' END,
           CASE WHEN c IS NULL THEN i.retry_delay_ms
                ELSE (c->>'delay')::bigint END,
           CASE WHEN c IS NULL THEN i.retry_max_ms
                ELSE (c->>'max')::bigint END,
           CASE WHEN c IS NULL THEN i.retry_backoff_pct
                ELSE (c->>'backoff')::bigint END,
           CASE WHEN c IS NULL THEN i.retry_jitter_pct
                ELSE (c->>'jitter')::bigint END,
           CASE WHEN c IS NULL THEN i.retry_schedule
                ELSE c->>'schedule' END,
           CASE WHEN c IS NULL THEN i.notify ELSE c->>'notify' END,
           CASE WHEN c IS NULL THEN i.contract_version END,
           'pending', 0, v_now, v_now, v_now, i.intent_id, i.event_of,
           coalesce(p_traceparent, i.traceparent),
           CASE WHEN p_traceparent IS NULL THEN i.tracestate
                ELSE p_tracestate END
    FROM submission_intents AS i
    WHERE i.lease_name = p_lease_name AND i.intent_id = p_intent_id
          AND i.status <> 'pending' AND i.stripped_at IS NULL
    ON CONFLICT (lease_name, intent_id) DO NOTHING;

    IF FOUND THEN
        PERFORM submission_audit_add(p_lease_name, v_now, p_actor, p_address,
                                     'replay', p_intent_id, p_detail);
        RETURN QUERY SELECT 1::bigint;
        RETURN;
    END IF;

    RETURN QUERY
    SELECT CASE WHEN i.replay_of = p_intent_id THEN 2 ELSE 3 END::bigint
    FROM submission_intents AS i
    WHERE i.lease_name = p_lease_name AND i.intent_id = p_new_id;
END
$$;
