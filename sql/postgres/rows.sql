-- What the functions answer with, said once: types of rows, and how the columns of
-- tables become theirs.  sql/install.sh runs this before all functions that use it.
--
-- Modules that run have prepared calls of these functions, which fail when a type
-- changes.  So a type that a release has stays as it is: what has more columns is
-- another type, of functions with other names.
--
-- Functions of one SELECT, without settings of their own, become part of the query
-- that has them after FROM: they cost nothing, and choose no plan.

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
        o_in_flight bigint, o_last_error text, o_replay_of text,
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
            o_candidate_expires_at bigint'),
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


-- An intent by its id; p_n is passed on.

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
           i.replay_of::text, (i.stripped_at IS NOT NULL)::int::bigint,
           i.traceparent::text
    FROM submission_intents AS i
    WHERE i.lease_name = p_lease_name AND i.intent_id = p_intent_id
    LIMIT 1
$$;


-- The ids of a document, and where in it each is first.

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


-- A job; p_outcome is passed on.

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


-- The lease as it is, or a row without one; p_held is passed on by those who know
-- better.

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
