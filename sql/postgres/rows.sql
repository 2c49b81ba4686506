-- What depends on the columns of a table, said once: the types of the rows that the
-- functions answer with, how a row of a table becomes one of them, and, for
-- intents, how a document becomes rows, how a row is copied, and what a webhook is
-- told of it.  sql/install.sh runs this file before the functions that use it.
--
-- Modules that are running have prepared calls of the functions, and these calls
-- fail when the type of the answer changes.  So a type that was released is never
-- changed: an answer with more columns is another type, and is given by a function
-- with another name.
--
-- A function that is one SELECT, without settings of its own, becomes part of the
-- query that names it after FROM, so it costs nothing and does not change the plan.

SET search_path = submission, pg_temp;

DO $$
DECLARE
    v_lease     constant text := '
        o_now bigint, o_held bigint, o_holder_id text, o_lease_epoch bigint,
        o_acquired_at bigint, o_renewed_at bigint, o_expires_at bigint';
    v_intent    constant text := '
        o_n bigint, o_intent_id text, o_submission_target text, o_status text,
        o_created_at bigint, o_attempt_count bigint, o_next_attempt_at bigint,
        o_completed_at bigint, o_final_outcome_reason text,
        o_exhausted_reason text, o_payload_hash text, o_not_before bigint,
        o_in_flight bigint, o_last_error text, o_last_reason text,
        o_replay_of text, o_replayed_as text, o_replay_count bigint,
        o_stripped bigint, o_traceparent text';
    v_contract  constant text := '
        o_submission_target text, o_gateway_type text, o_gateway_url text,
        o_policy text, o_max_acceptance_seconds bigint, o_max_attempts bigint,
        o_terminal_outcomes text, o_retry_delay_ms bigint,
        o_retry_max_ms bigint, o_retry_backoff_pct bigint,
        o_retry_jitter_pct bigint, o_retry_schedule text, o_notify text,
        o_contract_version bigint';
    v_job       constant text := '
        o_kind text, o_job_id text, o_filter text, o_max_intents bigint,
        o_state text, o_position text, o_seen_count bigint,
        o_done_count bigint, o_skipped_count bigint, o_last_error text,
        o_actor text, o_created_at bigint, o_last_modified_at bigint,
        o_completed_at bigint';
    v_name      text;
    v_columns   text;
    v_there     text;
BEGIN
    FOR v_name, v_columns IN
        VALUES
        ('lease', v_lease),
        ('watch', v_lease || ', o_wake_url text'),
        ('cluster', v_lease || ',
            o_candidate_holder_id text, o_role text, o_version text,
            o_started_at bigint, o_heartbeat_at bigint,
            o_candidate_expires_at bigint, o_config text,
            o_config_since bigint, o_shared_at bigint, o_names bytea,
            o_events text'),
        ('intent', v_intent),
        ('history', v_intent || ',
            o_attempt_number bigint, o_started_at bigint, o_finished_at bigint,
            o_outcome_status text, o_outcome_reason text, o_error text,
            o_http_status bigint, o_answer text, o_span_id text,
            o_lease_epoch bigint'),
        ('contract', v_contract),
        ('turn', 'o_now bigint, o_n bigint, o_outcome bigint, o_due_at bigint,
            o_created_at bigint, o_number bigint,' || v_contract || ',
            o_traceparent text, o_tracestate text, o_payload bytea'),
        ('doubt', 'o_now bigint, o_intent_id text, o_number bigint,
            o_inflight_epoch bigint, o_inflight_holder text,
            o_inflight_at bigint, o_created_at bigint,' || v_contract),
        ('job', 'o_outcome bigint,' || v_job),
        ('job_next', 'o_now bigint,' || v_job),
        ('schedule', 'o_now bigint, o_schedule_id text,
            o_submission_target text, o_body text, o_payload_hash text,
            o_last_intent_id text, o_pause_reason text, o_last_error text,
            o_actor text, o_configured bigint, o_revision bigint,
            o_next_run_at bigint, o_last_run_at bigint, o_fired_count bigint,
            o_skipped_count bigint, o_missed_count bigint, o_paused_at bigint,
            o_created_at bigint, o_last_modified_at bigint, o_busy bigint,
            o_payload bytea')
    LOOP
        v_columns := regexp_replace(regexp_replace(v_columns, '\s+', ' ', 'g'),
                                    '^ | ?(,) ?', '\1', 'g');

        SELECT string_agg(a.attname || ' ' || format_type(a.atttypid, NULL), ','
                          ORDER BY a.attnum)
        INTO v_there
        FROM pg_attribute AS a
        WHERE a.attrelid = to_regclass('submission_row_' || v_name)
              AND a.attnum > 0 AND NOT a.attisdropped;

        IF v_there IS NULL THEN
            EXECUTE format('CREATE TYPE submission_row_%s AS (%s)', v_name,
                           v_columns);

        ELSIF v_there <> v_columns THEN
            RAISE EXCEPTION 'the type submission_row_% in this database has other '
                            'columns than that of these files: %', v_name, v_there;
        END IF;
    END LOOP;
END
$$;


-- An intent as it is shown, by its id, with p_n as its number.

CREATE OR REPLACE FUNCTION submission.submission_intent_shown(
    p_lease_name text, p_intent_id text, p_n bigint
)
RETURNS SETOF submission_row_intent
LANGUAGE sql STABLE
AS $$
    SELECT p_n, i.intent_id::text, i.submission_target::text, i.status::text,
           submission_us(i.created_at), i.attempt_count,
           submission_us(i.next_attempt_at), submission_us(i.completed_at),
           i.final_outcome_reason::text, i.exhausted_reason::text,
           i.payload_hash::text, submission_us(i.not_before),
           (i.inflight_epoch IS NOT NULL)::int::bigint, i.last_error::text,
           CASE WHEN i.status = 'pending'
                THEN coalesce(i.final_outcome_reason,
                              i.final_outcome_status) END::text,
           i.replay_of::text, i.replayed_as::text, i.replay_count,
           (i.stripped_at IS NOT NULL)::int::bigint, i.traceparent::text
    FROM submission_intents AS i
    WHERE i.lease_name = p_lease_name AND i.intent_id = p_intent_id
    LIMIT 1
$$;


-- Inserts the intents of a document, as submission_intents_submit describes it, and
-- returns the ids of those that did not exist.  Rows whose not_before is later than
-- p_latest, and those whose number is in p_reserved, are left out.
--
-- The rows are inserted in the order of their ids: batches that have ids in common
-- wait for one another, but never in a circle.

CREATE OR REPLACE FUNCTION submission.submission_intents_new(
    p_lease_name text, p_now timestamptz, p_latest bigint, p_reserved integer[],
    p_doc jsonb, p_bytes bytea
)
RETURNS text[]
LANGUAGE plpgsql VOLATILE
SET search_path = submission, pg_temp
AS $$
DECLARE
    v_created  text[];
BEGIN
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
               c.notify, 'pending', 0, p_now, p_now,
               greatest(p_now, submission_at(r.before)),
               submission_at(r.before), r.trace, r.state
        FROM jsonb_to_recordset(p_doc->'rows') AS r (
                 n integer, id text, c integer, hash text, at integer,
                 len integer, before bigint, trace text, state text
             )
             JOIN jsonb_to_recordset(p_doc->'contracts') AS c (
                 c integer, target text, type text, url text, policy text,
                 seconds bigint, attempts bigint, outcomes text, delay bigint,
                 max bigint, backoff bigint, jitter bigint, schedule text,
                 notify text
             )
             ON c.c = r.c
        WHERE (r.before IS NULL OR r.before <= p_latest)
              AND (p_reserved IS NULL OR r.n <> ALL (p_reserved))
        ORDER BY r.id COLLATE "C", r.n
        ON CONFLICT (lease_name, intent_id) DO NOTHING
        RETURNING intent_id
    )
    SELECT coalesce(array_agg(intent_id::text), '{}') INTO v_created
    FROM created;

    RETURN v_created;
END
$$;


-- A term of a contract: that of the contract that is given, or the intent's own if
-- none is given.

CREATE OR REPLACE FUNCTION submission.submission_term(
    p_contract jsonb, p_key text, p_own text
)
RETURNS text
LANGUAGE sql IMMUTABLE
AS $$
    SELECT CASE WHEN p_contract IS NULL THEN p_own
                ELSE p_contract->>p_key END
$$;

CREATE OR REPLACE FUNCTION submission.submission_term(
    p_contract jsonb, p_key text, p_own bigint
)
RETURNS bigint
LANGUAGE sql IMMUTABLE
AS $$
    SELECT CASE WHEN p_contract IS NULL THEN p_own
                ELSE (p_contract->>p_key)::bigint END
$$;


-- Copies intents that have ended, under other ids, notes that in the originals, and
-- returns how many copies were made.  There is no copy of an intent that is pending
-- or has lost its payload, none of one that was copied before, unless the document
-- has "again", and none under an id that exists.
--
-- p_doc: {"again","contracts":[{"c","d":{...}}],"items":[{"id","new","c"}]}.  An
-- item without "c" keeps the contract of its original.  Without p_traceparent, the
-- copies belong to the trace of their originals.
--
-- The originals are locked first, in the order of their ids, so that two sessions
-- never copy the same one.  An original that another session has locked is left
-- out; a caller who has to wait for it locks it before.

CREATE OR REPLACE FUNCTION submission.submission_intents_copy(
    p_lease_name text, p_now timestamptz, p_doc jsonb, p_traceparent text,
    p_tracestate text
)
RETURNS bigint
LANGUAGE plpgsql VOLATILE
SET search_path = submission, pg_temp
AS $$
DECLARE
    v_items     jsonb;
    v_new       text;
    v_original  text;
    v_made      bigint;
BEGIN
    SELECT coalesce(jsonb_agg(m.item), '[]')
    INTO v_items
    FROM (
             SELECT e.item
             FROM jsonb_array_elements(p_doc->'items') AS e (item)
             ORDER BY (e.item->>'id') COLLATE "C"
         ) AS m
         CROSS JOIN LATERAL (
             SELECT 1
             FROM submission_intents AS s
             WHERE s.lease_name = p_lease_name
                   AND s.intent_id = (m.item->>'id') COLLATE "C"
                   AND s.status <> 'pending' AND s.stripped_at IS NULL
                   AND (s.replay_count IS NULL
                        OR p_doc->'again' IS NOT NULL)
             FOR UPDATE SKIP LOCKED
         ) AS l;

    v_made := 0;

    FOR v_new, v_original IN
    INSERT INTO submission_intents (
        lease_name, intent_id, payload_hash, payload, submission_target,
        gateway_type, gateway_url, policy, max_acceptance_seconds,
        max_attempts, terminal_outcomes, retry_delay_ms, retry_max_ms,
        retry_backoff_pct, retry_jitter_pct, retry_schedule, notify,
        contract_version, status, attempt_count, created_at, last_modified_at,
        next_attempt_at, replay_of, event_of, traceparent, tracestate
    )
    SELECT i.lease_name, m.new, i.payload_hash, i.payload, i.submission_target,
           submission_term(m.d, 'type', i.gateway_type),
           submission_term(m.d, 'url', i.gateway_url),
           submission_term(m.d, 'policy', i.policy),
           submission_term(m.d, 'seconds', i.max_acceptance_seconds),
           submission_term(m.d, 'attempts', i.max_attempts),
           submission_term(m.d, 'outcomes', i.terminal_outcomes),
           submission_term(m.d, 'delay', i.retry_delay_ms),
           submission_term(m.d, 'max', i.retry_max_ms),
           submission_term(m.d, 'backoff', i.retry_backoff_pct),
           submission_term(m.d, 'jitter', i.retry_jitter_pct),
           submission_term(m.d, 'schedule', i.retry_schedule),
           submission_term(m.d, 'notify', i.notify),
           CASE WHEN m.d IS NULL THEN i.contract_version END,
           'pending', 0, p_now, p_now, p_now, i.intent_id, i.event_of,
           coalesce(p_traceparent, i.traceparent),
           CASE WHEN p_traceparent IS NULL THEN i.tracestate
                ELSE p_tracestate END
    FROM (
             SELECT r.id, r.new, c.d
             FROM jsonb_to_recordset(v_items) AS r (
                      id text, new text, c bigint
                  )
                  LEFT JOIN jsonb_to_recordset(p_doc->'contracts') AS c (
                      c bigint, d jsonb
                  )
                  ON c.c = r.c
         ) AS m
         CROSS JOIN LATERAL (
             SELECT *
             FROM submission_intents AS s
             WHERE s.lease_name = p_lease_name
                   AND s.intent_id = m.id COLLATE "C"
             LIMIT 1
         ) AS i
    ORDER BY m.new COLLATE "C"
    ON CONFLICT (lease_name, intent_id) DO NOTHING
    RETURNING intent_id, replay_of
    LOOP
        UPDATE submission_intents AS i
        SET replay_count = coalesce(i.replay_count, 0) + 1,
            replayed_as = left(v_new || E'\n' || coalesce(i.replayed_as, ''),
                               500)
        WHERE i.lease_name = p_lease_name AND i.intent_id = v_original;

        v_made := v_made + 1;
    END LOOP;

    RETURN v_made;
END
$$;


-- What a webhook is told of an intent that has ended: the payload of an event.

CREATE OR REPLACE FUNCTION submission.submission_intent_message(
    i submission.submission_intents
)
RETURNS bytea
LANGUAGE sql STABLE
AS $$
    SELECT convert_to(json_build_object(
               'id', i.intent_id, 'target', i.submission_target,
               'status', i.status, 'created', submission_us(i.created_at),
               'attempts', i.attempt_count,
               'completed', submission_us(i.completed_at),
               'reason', i.final_outcome_reason,
               'exhausted', i.exhausted_reason,
               'before', submission_us(i.not_before),
               'error', i.last_error, 'replay', i.replay_of,
               'trace', i.traceparent
           )::text, 'UTF8')
$$;


-- The ids of a document, and the first place of each in it.

CREATE OR REPLACE FUNCTION submission.submission_asked(p_ids text)
RETURNS TABLE (id text, n bigint)
LANGUAGE sql STABLE
AS $$
    SELECT r.id COLLATE "C", min(r.n) - 1
    FROM jsonb_array_elements_text(p_ids::jsonb) WITH ORDINALITY AS r (id, n)
    GROUP BY r.id COLLATE "C"
$$;


-- The contract of an intent.

CREATE OR REPLACE FUNCTION submission.submission_contract(
    i submission.submission_intents
)
RETURNS SETOF submission_row_contract
LANGUAGE sql STABLE
AS $$
    SELECT i.submission_target::text, i.gateway_type::text,
           i.gateway_url::text, i.policy::text, i.max_acceptance_seconds,
           i.max_attempts, i.terminal_outcomes::text, i.retry_delay_ms,
           i.retry_max_ms, i.retry_backoff_pct, i.retry_jitter_pct,
           i.retry_schedule::text, i.notify::text, i.contract_version::bigint
$$;


-- A job as it is shown, with p_outcome as its outcome.

CREATE OR REPLACE FUNCTION submission.submission_job_shown(
    j submission.submission_jobs, p_outcome bigint
)
RETURNS SETOF submission_row_job
LANGUAGE sql STABLE
AS $$
    SELECT p_outcome, j.kind::text, j.job_id::text, j.filter::text,
           j.max_intents, j.state::text, j.position::text, j.seen_count,
           j.done_count, j.skipped_count, j.last_error::text, j.actor::text,
           submission_us(j.created_at), submission_us(j.last_modified_at),
           submission_us(j.completed_at)
$$;


-- The same for the job with an id.

CREATE OR REPLACE FUNCTION submission.submission_job_by_id(
    p_lease_name text, p_kind text, p_job_id text, p_outcome bigint
)
RETURNS SETOF submission_row_job
LANGUAGE sql STABLE
AS $$
    SELECT s.*
    FROM submission_jobs AS j
         CROSS JOIN LATERAL submission_job_shown(j, p_outcome) AS s
    WHERE j.lease_name = p_lease_name AND j.kind = p_kind
          AND j.job_id = p_job_id
$$;


-- A schedule as it is shown.  p_busy: its last intent has not ended.  The payload
-- is left out unless p_payload.

CREATE OR REPLACE FUNCTION submission.submission_schedule_shown(
    s submission.submission_schedules, p_busy boolean, p_payload boolean
)
RETURNS SETOF submission_row_schedule
LANGUAGE sql STABLE
AS $$
    SELECT NULL::bigint, s.schedule_id::text, s.submission_target::text,
           s.body::text, s.payload_hash::text, s.last_intent_id::text,
           s.pause_reason::text, s.last_error::text, s.actor::text,
           (s.source = 'configuration')::int::bigint, s.revision,
           submission_us(s.next_run_at), submission_us(s.last_run_at),
           s.fired_count, s.skipped_count, s.missed_count,
           submission_us(s.paused_at), submission_us(s.created_at),
           submission_us(s.last_modified_at), p_busy::int::bigint,
           CASE WHEN p_payload THEN s.payload END
$$;


-- The lease as it is shown, or a row without a holder if there is none.  p_held
-- tells whether the caller has changed it.

CREATE OR REPLACE FUNCTION submission.submission_lease_shown(
    p_lease_name text, p_now timestamptz, p_held boolean
)
RETURNS SETOF submission_row_lease
LANGUAGE sql VOLATILE
SET search_path = submission, pg_temp
AS $$
    SELECT submission_us(p_now), p_held::integer::bigint, l.holder_id::text,
           l.lease_epoch, submission_us(l.acquired_at),
           submission_us(l.renewed_at), submission_us(l.expires_at)
    FROM (VALUES (1)) AS one
         LEFT JOIN submission_manager_leases AS l
         ON l.lease_name = p_lease_name
$$;
