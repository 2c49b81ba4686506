-- A batch of intents.  The first row of the answer has the time, as created_at;
-- the rows after it are what was there before.  What is not among them was
-- created.  A row without an id is one that was refused: its not_before is more
-- than 365 days ahead, or, where o_exhausted_reason is "reserved_id", its id belongs
-- to a schedule.
--
-- p_doc: {"contracts":[{"c",...}],"rows":[{"n","id","c","hash","at","len",
-- "before","trace","state"}]}, the last three where there is such a thing;
-- "occurrences":[{"n","schedule"}] are the rows with an id that belongs to the
-- schedule, if there is one: they are not made, but may be there;
-- p_bytes: all payloads, end to end;
-- p_rows: how many the document has.
--
-- Ids go in in their order: batches that share some wait for one another, and
-- never in a circle.
--
-- Here and elsewhere: each row of a document is a seek, whatever is known of the
-- tables.  Without statistics a planner takes one row for all that a manager
-- has, and begins a join there; LATERAL with a LIMIT leaves no other order.

CREATE OR REPLACE FUNCTION submission.submission_intents_submit(
    p_lease_name text, p_doc text, p_bytes bytea, p_version bigint,
    p_rows bigint DEFAULT NULL
)
RETURNS TABLE (
    o_n bigint, o_intent_id text, o_submission_target text, o_status text,
    o_created_at bigint, o_attempt_count bigint, o_next_attempt_at bigint,
    o_completed_at bigint, o_final_outcome_reason text,
    o_exhausted_reason text, o_payload_hash text, o_not_before bigint,
    o_in_flight bigint, o_last_error text, o_replay_of text, o_stripped bigint,
    o_traceparent text
)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = submission, pg_temp
SET enable_seqscan = off
SET enable_hashjoin = off
SET enable_mergejoin = off
SET jit = off
AS $$
DECLARE
    v_doc      jsonb;
    v_now      timestamptz;
    v_rows     bigint;
    v_found    bigint;
    v_refused  bigint;
    v_latest   bigint;
    v_created  text[];
    v_reserved integer[];
BEGIN
    v_doc := p_doc::jsonb;
    v_rows := coalesce(p_rows, jsonb_array_length(v_doc->'rows'));
    v_now := submission_now();
    v_latest := submission_us(v_now) + 31536000000000;

    IF v_doc ? 'occurrences' THEN
        SELECT array_agg(o.n) INTO v_reserved
        FROM jsonb_to_recordset(v_doc->'occurrences') AS o (
                 n integer, schedule text
             )
             CROSS JOIN LATERAL (
                 SELECT 1
                 FROM submission_schedules AS s
                 WHERE s.lease_name = p_lease_name
                       AND s.schedule_id = o.schedule
                 LIMIT 1
             ) AS e;
    END IF;

    WITH created AS (
        INSERT INTO submission_intents (
            lease_name, intent_id, payload_hash, payload, submission_target,
            gateway_type, gateway_url, policy, max_acceptance_seconds,
            max_attempts, terminal_outcomes, retry_delay_ms, retry_max_ms,
            retry_backoff_pct, retry_jitter_pct, retry_schedule, notify,
            status, attempt_count, created_at, last_modified_at,
            next_attempt_at, not_before, traceparent, tracestate
        )
        SELECT p_lease_name, r.id, r.hash, substring(p_bytes, r.at + 1, r.len),
               c.target, c.type, c.url, c.policy, c.seconds, c.attempts,
               c.outcomes, c.delay, c.max, c.backoff, c.jitter, c.schedule,
               c.notify, 'pending', 0, v_now, v_now,
               greatest(v_now, submission_at(r.before)),
               submission_at(r.before), r.trace, r.state
        FROM jsonb_to_recordset(v_doc->'rows') AS r (
                 n integer, id text, c integer, hash text, at integer,
                 len integer, before bigint, trace text, state text
             )
             JOIN jsonb_to_recordset(v_doc->'contracts') AS c (
                 c integer, target text, type text, url text, policy text,
                 seconds bigint, attempts bigint, outcomes text, delay bigint,
                 max bigint, backoff bigint, jitter bigint, schedule text,
                 notify text
             )
             ON c.c = r.c
        WHERE (r.before IS NULL OR r.before <= v_latest)
              AND (v_reserved IS NULL OR r.n <> ALL (v_reserved))
        ORDER BY r.id COLLATE "C", r.n
        ON CONFLICT (lease_name, intent_id) DO NOTHING
        RETURNING intent_id
    )
    SELECT coalesce(array_agg(intent_id::text), '{}') INTO v_created
    FROM created;

    RETURN QUERY
    SELECT NULL::bigint, NULL, NULL, NULL, submission_us(v_now), NULL::bigint,
           NULL::bigint, NULL::bigint, NULL, NULL, NULL, NULL::bigint,
           NULL::bigint, NULL, NULL, NULL::bigint, NULL;

    IF cardinality(v_created) = v_rows THEN
        RETURN;
    END IF;

    RETURN QUERY
    SELECT r.n::bigint, NULL, NULL, NULL, NULL::bigint, NULL::bigint,
           NULL::bigint, NULL::bigint, NULL, NULL, NULL, NULL::bigint,
           NULL::bigint, NULL, NULL, NULL::bigint, NULL
    FROM jsonb_to_recordset(v_doc->'rows') AS r (n integer, before bigint)
    WHERE r.before > v_latest;

    GET DIAGNOSTICS v_refused = ROW_COUNT;

    IF v_reserved IS NOT NULL THEN
        RETURN QUERY
        SELECT r.n::bigint, NULL, NULL, NULL, NULL::bigint, NULL::bigint,
               NULL::bigint, NULL::bigint, NULL, 'reserved_id', NULL,
               NULL::bigint, NULL::bigint, NULL, NULL, NULL::bigint, NULL
        FROM jsonb_to_recordset(v_doc->'rows') AS r (
                 n integer, id text, before bigint
             )
             LEFT JOIN LATERAL (
                 SELECT s.intent_id
                 FROM submission_intents AS s
                 WHERE s.lease_name = p_lease_name AND s.intent_id = r.id
                 LIMIT 1
             ) AS i
             ON true
        WHERE r.n = ANY (v_reserved) AND i.intent_id IS NULL
              AND (r.before IS NULL OR r.before <= v_latest);

        GET DIAGNOSTICS v_found = ROW_COUNT;

        v_refused := v_refused + v_found;
    END IF;

    -- what was there before, or is there twice: the first of two created it

    RETURN QUERY
    SELECT r.n::bigint, i.intent_id::text, i.submission_target::text, i.status::text,
           submission_us(i.created_at), i.attempt_count,
           submission_us(i.next_attempt_at), submission_us(i.completed_at),
           i.final_outcome_reason::text, i.exhausted_reason::text,
           i.payload_hash::text, submission_us(i.not_before),
           (i.inflight_epoch IS NOT NULL)::int::bigint, i.last_error::text,
           i.replay_of::text, (i.stripped_at IS NOT NULL)::int::bigint,
           i.traceparent::text
    FROM (
             SELECT s.n, s.id,
                    row_number() OVER (PARTITION BY s.id COLLATE "C"
                                       ORDER BY s.n) AS nth
             FROM jsonb_to_recordset(v_doc->'rows') AS s (
                      n integer, id text, before bigint
                  )
             WHERE s.before IS NULL OR s.before <= v_latest
         ) AS r
         CROSS JOIN LATERAL (
             SELECT *
             FROM submission_intents AS s
             WHERE s.lease_name = p_lease_name AND s.intent_id = r.id
             LIMIT 1
         ) AS i
    WHERE NOT (r.nth = 1 AND r.id = ANY (v_created));

    GET DIAGNOSTICS v_found = ROW_COUNT;

    IF cardinality(v_created) + v_found + v_refused <> v_rows THEN

        -- it was there for the INSERT, and retention has forgotten it since: next
        -- time it is new

        RAISE EXCEPTION 'an intent was neither inserted nor found'
            USING ERRCODE = 'P7003';
    END IF;
END
$$;


-- As version 1 calls it.

CREATE OR REPLACE FUNCTION submission.submission_intents_submit(
    p_lease_name text, p_doc text, p_bytes bytea
)
RETURNS TABLE (
    o_n bigint, o_intent_id text, o_submission_target text, o_status text,
    o_created_at bigint, o_attempt_count bigint, o_next_attempt_at bigint,
    o_completed_at bigint, o_final_outcome_reason text,
    o_exhausted_reason text, o_payload_hash text
)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = submission, pg_temp
AS $$
BEGIN
    RETURN QUERY
    SELECT i.o_n, i.o_intent_id, i.o_submission_target, i.o_status,
           i.o_created_at, i.o_attempt_count, i.o_next_attempt_at,
           i.o_completed_at, i.o_final_outcome_reason, i.o_exhausted_reason,
           i.o_payload_hash
    FROM submission_intents_submit(p_lease_name, p_doc, p_bytes, 2) AS i;
END
$$;
