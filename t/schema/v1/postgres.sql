-- The schema on PostgreSQL, 13 or later.  Every statement may run again on a
-- database that has it.  Run as the owner, then every other file beside this
-- one, then role.sql; sql/install.sh does, in one transaction.
--
-- Ids are compared byte for byte: COLLATE "C".  Times are PostgreSQL's own.

DO $$
BEGIN
    IF to_regclass('submission.submission_schema') IS NOT NULL THEN
        IF EXISTS (SELECT 1 FROM submission.submission_schema
                   WHERE version > 1)
        THEN
            RAISE EXCEPTION 'the schema in this database is newer than these '
                            'files: take those of the newer release';
        END IF;
    END IF;
END
$$;

CREATE SCHEMA IF NOT EXISTS submission;

SET search_path = submission, pg_temp;

CREATE TABLE IF NOT EXISTS submission_schema (
    version                 integer       NOT NULL
);

CREATE TABLE IF NOT EXISTS submission_manager_leases (
    lease_name              varchar(64)   COLLATE "C" NOT NULL PRIMARY KEY,
    holder_id               varchar(128)  COLLATE "C" NOT NULL,
    lease_epoch             bigint        NOT NULL,
    acquired_at             timestamptz   NOT NULL,
    renewed_at              timestamptz   NOT NULL,
    expires_at              timestamptz   NOT NULL
) WITH (fillfactor = 10);

CREATE TABLE IF NOT EXISTS submission_manager_candidates (
    lease_name              varchar(64)   COLLATE "C" NOT NULL,
    holder_id               varchar(128)  COLLATE "C" NOT NULL,
    started_at              timestamptz   NOT NULL,
    heartbeat_at            timestamptz   NOT NULL,
    expires_at              timestamptz   NOT NULL,
    role                    varchar(32)   COLLATE "C" NOT NULL,
    version                 varchar(64)   COLLATE "C" NOT NULL,
    PRIMARY KEY (lease_name, holder_id)
);

CREATE TABLE IF NOT EXISTS submission_intents (
    lease_name              varchar(64)   COLLATE "C" NOT NULL,
    intent_id               varchar(200)  COLLATE "C" NOT NULL,
    submission_target       varchar(128)  COLLATE "C" NOT NULL,
    payload_hash            varchar(64)   COLLATE "C" NOT NULL,
    gateway_type            varchar(16)   COLLATE "C" NOT NULL,
    gateway_url             varchar(1024) COLLATE "C" NOT NULL,
    policy                  varchar(16)   COLLATE "C" NOT NULL,
    max_acceptance_seconds  bigint,
    max_attempts            bigint,
    terminal_outcomes       varchar(1000) COLLATE "C" NOT NULL,
    retry_delay_ms          bigint        NOT NULL,
    retry_max_ms            bigint        NOT NULL,
    retry_backoff_pct       bigint        NOT NULL,
    retry_jitter_pct        bigint        NOT NULL,
    status                  varchar(16)   COLLATE "C" NOT NULL,
    final_outcome_status    varchar(16)   COLLATE "C",
    final_outcome_reason    varchar(200)  COLLATE "C",
    exhausted_reason        varchar(32)   COLLATE "C",
    attempt_count           bigint        NOT NULL,
    created_at              timestamptz   NOT NULL,
    completed_at            timestamptz,
    last_modified_at        timestamptz   NOT NULL,
    next_attempt_at         timestamptz,
    inflight_epoch          bigint,
    inflight_holder         varchar(128)  COLLATE "C",
    inflight_at             timestamptz,
    payload                 bytea         NOT NULL,
    PRIMARY KEY (lease_name, intent_id)
);

-- The schedule: what still has an attempt to come, and what is in flight.  An
-- intent without an attempt is due since it came, and "modified" has it in that
-- order; only retries are in "due".  Each index costs every submission.

CREATE INDEX IF NOT EXISTS submission_intents_modified
    ON submission_intents (lease_name, last_modified_at, intent_id)
    WHERE next_attempt_at IS NOT NULL;

CREATE INDEX IF NOT EXISTS submission_intents_due
    ON submission_intents (lease_name, next_attempt_at, intent_id)
    WHERE next_attempt_at IS NOT NULL AND attempt_count > 0;

CREATE INDEX IF NOT EXISTS submission_intents_begun
    ON submission_intents (lease_name, inflight_at, intent_id)
    WHERE inflight_epoch IS NOT NULL;

DROP INDEX IF EXISTS submission_intents_inflight;

-- The list.  All rows are in it; the condition keeps it for those who state it,
-- so that no planner without statistics takes it for a look-up by id.

CREATE INDEX IF NOT EXISTS submission_intents_list
    ON submission_intents (lease_name, submission_target, status, created_at,
                           intent_id)
    WHERE attempt_count >= 0;

-- Each attempt leaves two dead rows.  By default they would go when they are a
-- fifth of the table, history included.

ALTER TABLE submission_intents SET (
    autovacuum_vacuum_threshold = 1000,
    autovacuum_vacuum_scale_factor = 0.01,
    autovacuum_analyze_threshold = 1000,
    autovacuum_analyze_scale_factor = 0.02
);

CREATE TABLE IF NOT EXISTS submission_attempts (
    lease_name              varchar(64)   COLLATE "C" NOT NULL,
    intent_id               varchar(200)  COLLATE "C" NOT NULL,
    attempt_number          bigint        NOT NULL,
    lease_epoch             bigint        NOT NULL,
    holder_id               varchar(128)  COLLATE "C" NOT NULL,
    started_at              timestamptz   NOT NULL,
    finished_at             timestamptz   NOT NULL,
    outcome_status          varchar(16)   COLLATE "C" NOT NULL,
    outcome_reason          varchar(200)  COLLATE "C",
    error                   varchar(1000) COLLATE "C",
    PRIMARY KEY (lease_name, intent_id, attempt_number)
);

-- inflight_since: nothing of the lease that is in flight was begun earlier; NULL:
-- that is not known.  A recovery begins there.  A long transaction elsewhere, such
-- as pg_dump's, keeps the dead rows of all attempts since it began, and an index
-- does not tell them from the living: a recovery that begins at the oldest passes
-- by a million of them after a million attempts.

DO $$
BEGIN
    IF NOT EXISTS (
        SELECT 1
        FROM pg_attribute
        WHERE attrelid = 'submission_manager_leases'::regclass
              AND attname = 'inflight_since' AND NOT attisdropped
    )
    THEN
        ALTER TABLE submission_manager_leases
            ADD COLUMN inflight_since timestamptz;

        UPDATE submission_manager_leases AS l
        SET inflight_since = coalesce((
                SELECT min(i.inflight_at)
                FROM submission_intents AS i
                WHERE i.lease_name = l.lease_name
                      AND i.inflight_epoch IS NOT NULL
            ), clock_timestamp());
    END IF;
END
$$;

INSERT INTO submission_schema (version)
    SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM submission_schema);


-- The clock of everything, and times as microseconds since 1970, as they cross
-- to nginx and back.

CREATE OR REPLACE FUNCTION submission_now()
RETURNS timestamptz
LANGUAGE sql VOLATILE
AS $$
    SELECT clock_timestamp()
$$;

CREATE OR REPLACE FUNCTION submission_us(at timestamptz)
RETURNS bigint
LANGUAGE sql STABLE STRICT
AS $$
    SELECT (extract(epoch FROM at) * 1000000)::bigint
$$;

CREATE OR REPLACE FUNCTION submission_at(us bigint)
RETURNS timestamptz
LANGUAGE sql STABLE STRICT
AS $$
    SELECT timestamptz '1970-01-01 00:00:00+00'
           + (us / 1000000) * interval '1 second'
           + (us % 1000000) * interval '1 microsecond'
$$;
-- What is in flight under epochs before p_lease_epoch, strictly after
-- (p_after_at, p_after_id), in the order of its begin.  The first row has the time
-- alone.
--
-- It begins where the lease says that nothing is older.

DROP FUNCTION IF EXISTS submission.submission_attempts_in_doubt;

CREATE FUNCTION submission.submission_attempts_in_doubt(
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
           NULL::bigint, NULL::bigint, NULL::bigint, NULL::bigint;

    RETURN QUERY
    SELECT NULL::bigint, i.intent_id::text, i.attempt_count + 1,
           i.inflight_epoch, i.inflight_holder::text,
           submission_us(i.inflight_at), submission_us(i.created_at),
           i.submission_target::text, i.gateway_type::text,
           i.gateway_url::text, i.policy::text, i.max_acceptance_seconds,
           i.max_attempts, i.terminal_outcomes::text, i.retry_delay_ms,
           i.retry_max_ms, i.retry_backoff_pct, i.retry_jitter_pct
    FROM submission_intents AS i
    WHERE i.lease_name = p_lease_name AND i.inflight_epoch IS NOT NULL
          AND i.inflight_epoch < p_lease_epoch
          AND (i.inflight_at, i.intent_id) > (v_at, v_id)
    ORDER BY i.inflight_at, i.intent_id
    LIMIT p_limit;
END
$$;
-- Whether a contract is understood, as src/core/sm_contract.c has it.  What is
-- not must not be begun: nobody would know how to go on with it.

CREATE OR REPLACE FUNCTION submission.submission_understood(
    i submission.submission_intents
)
RETURNS boolean
LANGUAGE sql IMMUTABLE
AS $$
    SELECT i.gateway_type IN ('sms', 'push', 'http')
           AND CASE i.policy
               WHEN 'deadline'
               THEN coalesce(i.max_acceptance_seconds, 0)
                    BETWEEN 1 AND 31536000
               WHEN 'max_attempts'
               THEN coalesce(i.max_attempts, 0) BETWEEN 1 AND 1000000
               ELSE i.policy = 'one_shot'
               END
           AND i.retry_delay_ms BETWEEN 1 AND 86400000
           AND (i.retry_max_ms = 0
                OR i.retry_max_ms BETWEEN i.retry_delay_ms AND 86400000)
           AND i.retry_backoff_pct BETWEEN 100 AND 10000
           AND i.retry_jitter_pct BETWEEN 0 AND 100
           AND i.gateway_url
               ~ '^https?://[][!%-.0-9;=@A-Z_a-z~][][!%-;=@A-Z_a-z~]*$'
$$;


-- A turn of the executor, in one transaction: what has ended is recorded, and
-- what is due is begun; either may be [].  The first row of the answer has the
-- time alone, in the others o_n is the place in a document.
--
-- p_ended: [{"n","id","number","epoch","holder","started","finished","outcome",
-- "reason","error","status","exhausted","delay"}].  Appends attempts and moves
-- their intents, where this attempt of an intent is in flight; one without an
-- outcome was not sent: it is as due as it was, or, with a delay, that much
-- later than now.  o_outcome is 4: applied, with the next attempt in o_due_at;
-- what is not in the answer was not.  Over-long text is clipped.
--
-- p_due: ["id"].  Marks in flight those that are pending and due.  o_outcome is
-- 1: begun, 2: early, 3: past its deadline, and exhausted, 0: not understood.
-- What is not in the answer has nothing to be tried.

CREATE OR REPLACE FUNCTION submission.submission_attempts_turn(
    p_lease_name text, p_holder_id text, p_lease_epoch bigint,
    p_ended text, p_due text
)
RETURNS TABLE (
    o_now bigint, o_n bigint, o_outcome bigint, o_due_at bigint,
    o_created_at bigint, o_number bigint, o_submission_target text,
    o_gateway_type text, o_gateway_url text, o_policy text,
    o_max_acceptance_seconds bigint, o_max_attempts bigint,
    o_terminal_outcomes text, o_retry_delay_ms bigint, o_retry_max_ms bigint,
    o_retry_backoff_pct bigint, o_retry_jitter_pct bigint,
    o_payload bytea
)
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
BEGIN
    v_now := submission_fence(p_lease_name, p_holder_id, p_lease_epoch);

    RETURN QUERY
    SELECT submission_us(v_now), NULL::bigint, NULL::bigint, NULL::bigint,
           NULL::bigint, NULL::bigint, NULL, NULL, NULL, NULL, NULL::bigint,
           NULL::bigint, NULL, NULL::bigint, NULL::bigint, NULL::bigint,
           NULL::bigint, NULL::bytea;

    IF p_ended <> '[]' THEN
        RETURN QUERY
        WITH sent AS MATERIALIZED (
            SELECT *
            FROM jsonb_to_recordset(p_ended::jsonb) AS r (
                n bigint, id text, number bigint, epoch bigint, holder text,
                started bigint, finished bigint, outcome text, reason text,
                error text, status text, exhausted text, delay bigint
            )
        ), found AS MATERIALIZED (

            -- of two of the same intent, the first

            SELECT DISTINCT ON (i.intent_id) i.ctid AS place, i.intent_id, r.*
            FROM sent AS r
                 CROSS JOIN LATERAL (
                     SELECT s.ctid, s.*
                     FROM submission_intents AS s
                     WHERE s.lease_name = p_lease_name AND s.intent_id = r.id
                     LIMIT 1
                 ) AS i
            WHERE i.status = 'pending' AND i.inflight_epoch = r.epoch
                  AND i.inflight_holder = r.holder
                  AND i.attempt_count = r.number - 1
            ORDER BY i.intent_id, r.n
        ), moved AS (
            UPDATE submission_intents AS i
            SET status = CASE WHEN r.outcome IS NULL THEN i.status
                              ELSE r.status END,
                final_outcome_status = CASE WHEN r.outcome IS NULL
                                            THEN i.final_outcome_status
                                            ELSE r.outcome END,
                final_outcome_reason = CASE WHEN r.outcome IS NULL
                                            THEN i.final_outcome_reason
                                            ELSE left(r.reason, 200) END,
                exhausted_reason = r.exhausted,
                attempt_count = i.attempt_count + CASE WHEN r.outcome IS NULL
                                                       THEN 0 ELSE 1 END,
                completed_at = CASE WHEN r.outcome IS NOT NULL
                                         AND r.status <> 'pending'
                                    THEN v_now END,
                last_modified_at = v_now,
                next_attempt_at = CASE WHEN r.outcome IS NULL
                                            AND r.delay IS NULL
                                       THEN i.inflight_at
                                       WHEN r.outcome IS NULL
                                            OR r.status = 'pending'
                                       THEN v_now + r.delay
                                                    * interval '1 millisecond'
                                       END,
                inflight_epoch = NULL,
                inflight_holder = NULL,
                inflight_at = NULL
            FROM found AS r
            WHERE i.ctid = r.place
            RETURNING r.n, i.next_attempt_at
        ), appended AS (
            INSERT INTO submission_attempts (
                lease_name, intent_id, attempt_number, lease_epoch, holder_id,
                started_at, finished_at, outcome_status, outcome_reason, error
            )
            SELECT p_lease_name, r.intent_id, r.number, r.epoch, r.holder,
                   submission_at(r.started), submission_at(r.finished),
                   r.outcome, left(r.reason, 200), left(r.error, 1000)
            FROM found AS r
            WHERE r.outcome IS NOT NULL
        )
        SELECT NULL::bigint, m.n, 4::bigint, submission_us(m.next_attempt_at),
               NULL::bigint, NULL::bigint, NULL, NULL, NULL, NULL, NULL::bigint,
               NULL::bigint, NULL, NULL::bigint, NULL::bigint, NULL::bigint,
               NULL::bigint, NULL::bytea
        FROM moved AS m;
    END IF;

    IF p_due <> '[]' THEN

        -- the intents as they were, and what becomes of them

        RETURN QUERY
        WITH asked AS MATERIALIZED (
            SELECT r.id COLLATE "C" AS id, min(r.n) - 1 AS n
            FROM jsonb_array_elements_text(p_due::jsonb)
                 WITH ORDINALITY AS r (id, n)
            GROUP BY r.id COLLATE "C"
        ), found AS MATERIALIZED (
            SELECT r.n, i.ctid AS place, i.next_attempt_at AS due_at,
                   CASE WHEN i.next_attempt_at > v_now
                        THEN 2
                        WHEN NOT i.understood
                        THEN 0
                        WHEN i.policy = 'deadline'
                             AND v_now >= i.created_at
                                          + i.max_acceptance_seconds
                                            * interval '1 second'
                        THEN 3
                        ELSE 1 END AS outcome
            FROM asked AS r
                 CROSS JOIN LATERAL (
                     SELECT s.ctid, s.*, submission_understood(s) AS understood
                     FROM submission_intents AS s
                     WHERE s.lease_name = p_lease_name AND s.intent_id = r.id
                     LIMIT 1
                 ) AS i
            WHERE i.status = 'pending' AND i.next_attempt_at IS NOT NULL
                  AND i.inflight_epoch IS NULL
        ), changed AS (
            UPDATE submission_intents AS i
            SET status = CASE f.outcome WHEN 3 THEN 'exhausted'
                                        ELSE i.status END,
                exhausted_reason = CASE f.outcome WHEN 3
                                   THEN 'deadline_exceeded' END,
                completed_at = CASE f.outcome WHEN 3 THEN v_now END,
                inflight_epoch = CASE f.outcome WHEN 1 THEN p_lease_epoch END,
                inflight_holder = CASE f.outcome WHEN 1 THEN p_holder_id END,
                inflight_at = CASE f.outcome WHEN 1 THEN v_now END,
                next_attempt_at = NULL,
                last_modified_at = v_now
            FROM found AS f
            WHERE i.ctid = f.place AND f.outcome IN (1, 3)
            RETURNING f.n, f.outcome, f.due_at, i.*
        )
        SELECT NULL::bigint, i.n, i.outcome::bigint, submission_us(i.due_at),
               submission_us(i.created_at), i.attempt_count + 1,
               i.submission_target::text, i.gateway_type::text,
               i.gateway_url::text, i.policy::text, i.max_acceptance_seconds,
               i.max_attempts, i.terminal_outcomes::text, i.retry_delay_ms,
               i.retry_max_ms, i.retry_backoff_pct, i.retry_jitter_pct,
               CASE i.outcome WHEN 1 THEN i.payload END
        FROM changed AS i
        UNION ALL
        SELECT NULL::bigint, f.n, f.outcome::bigint, submission_us(f.due_at),
               submission_us(i.created_at), i.attempt_count + 1,
               i.submission_target::text, i.gateway_type::text,
               i.gateway_url::text, i.policy::text, i.max_acceptance_seconds,
               i.max_attempts, i.terminal_outcomes::text, i.retry_delay_ms,
               i.retry_max_ms, i.retry_backoff_pct, i.retry_jitter_pct,
               NULL::bytea
        FROM found AS f
             JOIN submission_intents AS i ON i.ctid = f.place
        WHERE f.outcome IN (0, 2);
    END IF;
END
$$;
-- An instance lives, for the duration, and has started at that time or, with
-- 0, now.  Those that ended without a word go.

DROP FUNCTION IF EXISTS submission.submission_candidate_heartbeat(
    text, text, bigint, text, text
);

CREATE OR REPLACE FUNCTION submission.submission_candidate_heartbeat(
    p_lease_name text, p_holder_id text, p_duration_ms bigint, p_role text,
    p_version text, p_started_us bigint DEFAULT 0
)
RETURNS TABLE (o_now bigint)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = submission, pg_temp
AS $$
DECLARE
    v_now  timestamptz;
BEGIN
    v_now := submission_now();

    INSERT INTO submission_manager_candidates AS c (
        lease_name, holder_id, started_at, heartbeat_at, expires_at, role,
        version
    )
    VALUES (
        p_lease_name, p_holder_id,
        CASE WHEN p_started_us = 0 THEN v_now
             ELSE submission_at(p_started_us) END,
        v_now,
        v_now + p_duration_ms * interval '1 millisecond', p_role, p_version
    )
    ON CONFLICT (lease_name, holder_id) DO UPDATE
    SET started_at = excluded.started_at,
        heartbeat_at = excluded.heartbeat_at,
        expires_at = excluded.expires_at,
        role = excluded.role,
        version = excluded.version;

    -- one at a time prunes: the others need not wait for it

    DELETE FROM submission_manager_candidates
    WHERE (lease_name, holder_id) IN (
        SELECT lease_name, holder_id
        FROM submission_manager_candidates
        WHERE lease_name = p_lease_name AND expires_at <= v_now
        ORDER BY holder_id
        FOR UPDATE SKIP LOCKED
    );

    RETURN QUERY SELECT submission_us(v_now);
END
$$;
CREATE OR REPLACE FUNCTION submission.submission_candidate_remove(
    p_lease_name text, p_holder_id text
)
RETURNS TABLE (o_now bigint)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = submission, pg_temp
AS $$
BEGIN
    DELETE FROM submission_manager_candidates
    WHERE lease_name = p_lease_name AND holder_id = p_holder_id;

    RETURN QUERY SELECT submission_us(submission_now());
END
$$;
-- The lease, and the live instances, oldest first: one row each.

CREATE OR REPLACE FUNCTION submission.submission_cluster_get(p_lease_name text)
RETURNS TABLE (
    o_now bigint, o_held bigint, o_holder_id text, o_lease_epoch bigint,
    o_acquired_at bigint, o_renewed_at bigint, o_expires_at bigint,
    o_candidate_holder_id text, o_role text, o_version text,
    o_started_at bigint, o_heartbeat_at bigint, o_candidate_expires_at bigint
)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = submission, pg_temp
AS $$
DECLARE
    v_now  timestamptz;
BEGIN
    v_now := submission_now();

    RETURN QUERY
    SELECT l.*, c.holder_id::text, c.role::text, c.version::text,
           submission_us(c.started_at), submission_us(c.heartbeat_at),
           submission_us(c.expires_at)
    FROM submission_lease_row(p_lease_name, v_now, false) AS l
         LEFT JOIN submission_manager_candidates AS c
         ON c.lease_name = p_lease_name AND c.expires_at > v_now
    ORDER BY c.started_at, c.holder_id;
END
$$;
-- A page of the attempts of one intent, newest first, before p_before, or from
-- the newest on where that is NULL.  Each comes with the intent; one row without
-- an attempt where there is none.

CREATE OR REPLACE FUNCTION submission.submission_intent_history(
    p_lease_name text, p_intent_id text, p_limit bigint, p_before bigint
)
RETURNS TABLE (
    o_n bigint, o_intent_id text, o_submission_target text, o_status text,
    o_created_at bigint, o_attempt_count bigint, o_next_attempt_at bigint,
    o_completed_at bigint, o_final_outcome_reason text,
    o_exhausted_reason text, o_payload_hash text,
    o_attempt_number bigint, o_started_at bigint, o_finished_at bigint,
    o_outcome_status text, o_outcome_reason text, o_error text
)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = submission, pg_temp
SET enable_seqscan = off
SET enable_hashjoin = off
SET enable_mergejoin = off
SET enable_bitmapscan = off
SET enable_sort = off
SET jit = off
AS $$
DECLARE
    v_before  bigint;
BEGIN
    v_before := coalesce(p_before, 9223372036854775807);

    RETURN QUERY
    SELECT 0::bigint, i.intent_id::text, i.submission_target::text, i.status::text,
           submission_us(i.created_at), i.attempt_count,
           submission_us(i.next_attempt_at), submission_us(i.completed_at),
           i.final_outcome_reason::text, i.exhausted_reason::text,
           i.payload_hash::text,
           a.attempt_number, submission_us(a.started_at),
           submission_us(a.finished_at), a.outcome_status::text,
           a.outcome_reason::text, a.error::text
    FROM submission_intents AS i
         LEFT JOIN LATERAL (
             SELECT *
             FROM submission_attempts AS s
             WHERE s.lease_name = p_lease_name AND s.intent_id = p_intent_id
                   AND s.attempt_number < v_before
             ORDER BY s.attempt_number DESC
             LIMIT p_limit
         ) AS a ON true
    WHERE i.lease_name = p_lease_name AND i.intent_id = p_intent_id
    ORDER BY a.attempt_number DESC;
END
$$;
-- The intents of a document of ids; "n" is an id's place in it.

CREATE OR REPLACE FUNCTION submission.submission_intents_get(
    p_lease_name text, p_doc text
)
RETURNS TABLE (
    o_n bigint, o_intent_id text, o_submission_target text, o_status text,
    o_created_at bigint, o_attempt_count bigint, o_next_attempt_at bigint,
    o_completed_at bigint, o_final_outcome_reason text,
    o_exhausted_reason text, o_payload_hash text
)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = submission, pg_temp
SET enable_seqscan = off
SET enable_hashjoin = off
SET enable_mergejoin = off
SET jit = off
AS $$
BEGIN
    RETURN QUERY
    SELECT r.n - 1, i.intent_id::text, i.submission_target::text, i.status::text,
           submission_us(i.created_at), i.attempt_count,
           submission_us(i.next_attempt_at), submission_us(i.completed_at),
           i.final_outcome_reason::text, i.exhausted_reason::text,
           i.payload_hash::text
    FROM jsonb_array_elements_text(p_doc::jsonb) WITH ORDINALITY AS r (id, n)
         CROSS JOIN LATERAL (
             SELECT *
             FROM submission_intents AS s
             WHERE s.lease_name = p_lease_name AND s.intent_id = r.id
             LIMIT 1
         ) AS i;
END
$$;
-- A page of the list, newest first, strictly after (p_created_at, p_intent_id);
-- NULL is any status, any target, and from the newest on.  Keys are found first,
-- in the index alone, then the rows of one page.
--
-- Each target and status is a seek of its own, and so is the step from one
-- target to the next: a page costs the same however many intents there are.
-- With n targets and statuses, the newest "limit / sqrt(n)" of each are looked
-- at before.  If there are "limit" of these, none that is older than all of them
-- is on the page; and at most sqrt(n) targets and statuses can have more for it.
-- So no more than 2 * limit * sqrt(n) keys are read, not limit * n.

CREATE OR REPLACE FUNCTION submission.submission_intents_list(
    p_lease_name text, p_status text, p_target text, p_limit bigint,
    p_created_at bigint, p_intent_id text
)
RETURNS TABLE (
    o_n bigint, o_intent_id text, o_submission_target text, o_status text,
    o_created_at bigint, o_attempt_count bigint, o_next_attempt_at bigint,
    o_completed_at bigint, o_final_outcome_reason text,
    o_exhausted_reason text, o_payload_hash text
)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = submission, pg_temp
SET enable_seqscan = off
SET enable_hashjoin = off
SET enable_mergejoin = off
SET enable_bitmapscan = off
SET enable_sort = off
SET enable_incremental_sort = off
SET jit = off
AS $$
DECLARE
    v_at        timestamptz;
    v_id        text;
    v_from      timestamptz;
    v_from_id   text;
    v_targets   text[];
    v_statuses  text[];
    v_part      bigint;
BEGIN
    v_at := coalesce(submission_at(p_created_at), 'infinity');
    v_id := coalesce(p_intent_id, '');
    v_targets := ARRAY[p_target];
    v_statuses := CASE WHEN p_status IS NULL
                       THEN ARRAY['pending', 'accepted', 'rejected',
                                  'exhausted']
                       ELSE ARRAY[p_status] END;

    IF p_target IS NULL THEN

        WITH RECURSIVE target (name) AS (
            SELECT (
                       SELECT i.submission_target
                       FROM submission_intents AS i
                       WHERE i.lease_name = p_lease_name
                             AND i.attempt_count >= 0
                       ORDER BY i.submission_target
                       LIMIT 1
                   )::text COLLATE "C"
            UNION ALL
            SELECT (
                       SELECT i.submission_target
                       FROM submission_intents AS i
                       WHERE i.lease_name = p_lease_name
                             AND i.attempt_count >= 0
                             AND i.submission_target > t.name
                       ORDER BY i.submission_target
                       LIMIT 1
                   )::text COLLATE "C"
            FROM target AS t
            WHERE t.name IS NOT NULL
        )
        SELECT array_agg(t.name)
        INTO v_targets
        FROM target AS t
        WHERE t.name IS NOT NULL;

        v_part := ceil(p_limit / sqrt(greatest(1, cardinality(v_targets)
                                                * cardinality(v_statuses))));

        SELECT k.created_at, k.intent_id
        INTO v_from, v_from_id
        FROM unnest(v_targets) AS t (name)
             CROSS JOIN unnest(v_statuses) AS s (status)
             CROSS JOIN LATERAL (
                 SELECT p.created_at, p.intent_id
                 FROM submission_intents AS p
                 WHERE p.lease_name = p_lease_name
                       AND p.submission_target = t.name COLLATE "C"
                       AND p.status = s.status COLLATE "C"
                       AND p.attempt_count >= 0
                       AND (p.created_at, p.intent_id) < (v_at, v_id)
                 ORDER BY p.created_at DESC, p.intent_id DESC
                 LIMIT v_part
             ) AS k
        ORDER BY k.created_at DESC, k.intent_id DESC
        OFFSET p_limit - 1
        LIMIT 1;
    END IF;

    v_from := coalesce(v_from, '-infinity');
    v_from_id := coalesce(v_from_id, '');

    RETURN QUERY
    SELECT 0::bigint, i.intent_id::text, i.submission_target::text, i.status::text,
           submission_us(i.created_at), i.attempt_count,
           submission_us(i.next_attempt_at), submission_us(i.completed_at),
           i.final_outcome_reason::text, i.exhausted_reason::text,
           i.payload_hash::text
    FROM (
             SELECT k.created_at, k.intent_id
             FROM unnest(v_targets) AS t (name)
                  CROSS JOIN unnest(v_statuses) AS s (status)
                  CROSS JOIN LATERAL (
                      SELECT p.created_at, p.intent_id
                      FROM submission_intents AS p
                      WHERE p.lease_name = p_lease_name
                            AND p.submission_target = t.name COLLATE "C"
                            AND p.status = s.status COLLATE "C"
                            AND p.attempt_count >= 0
                            AND (p.created_at, p.intent_id) < (v_at, v_id)
                            AND (p.created_at, p.intent_id)
                                >= (v_from, v_from_id)
                      ORDER BY p.created_at DESC, p.intent_id DESC
                      LIMIT p_limit
                  ) AS k
             ORDER BY k.created_at DESC, k.intent_id DESC
             LIMIT p_limit
         ) AS g
         CROSS JOIN LATERAL (
             SELECT *
             FROM submission_intents AS q
             WHERE q.lease_name = p_lease_name AND q.intent_id = g.intent_id
             LIMIT 1
         ) AS i
    ORDER BY g.created_at DESC, g.intent_id DESC;
END
$$;
-- A batch of intents.  The first row of the answer has the time, as created_at;
-- the rows after it are what was there before.  What is not among them was
-- created.
--
-- p_doc: {"contracts":[{"c",...}],"rows":[{"n","id","c","hash","at","len"}]};
-- p_bytes: all payloads, end to end.
--
-- Ids go in in their order: batches that share some wait for one another, and
-- never in a circle.
--
-- Here and elsewhere: each row of a document is a seek, whatever is known of the
-- tables.  Without statistics a planner takes one row for all that a manager
-- has, and begins a join there; LATERAL with a LIMIT leaves no other order.

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
    v_created  text[];
BEGIN
    v_doc := p_doc::jsonb;
    v_rows := jsonb_array_length(v_doc->'rows');
    v_now := submission_now();

    WITH created AS (
        INSERT INTO submission_intents (
            lease_name, intent_id, payload_hash, payload, submission_target,
            gateway_type, gateway_url, policy, max_acceptance_seconds,
            max_attempts, terminal_outcomes, retry_delay_ms, retry_max_ms,
            retry_backoff_pct, retry_jitter_pct, status, attempt_count,
            created_at, last_modified_at, next_attempt_at
        )
        SELECT p_lease_name, r.id, r.hash, substring(p_bytes, r.at + 1, r.len),
               c.target, c.type, c.url, c.policy, c.seconds, c.attempts,
               c.outcomes, c.delay, c.max, c.backoff, c.jitter, 'pending', 0,
               v_now, v_now, v_now
        FROM jsonb_to_recordset(v_doc->'rows') AS r (
                 n integer, id text, c integer, hash text, at integer,
                 len integer
             )
             JOIN jsonb_to_recordset(v_doc->'contracts') AS c (
                 c integer, target text, type text, url text, policy text,
                 seconds bigint, attempts bigint, outcomes text, delay bigint,
                 max bigint, backoff bigint, jitter bigint
             )
             ON c.c = r.c
        ORDER BY r.id COLLATE "C", r.n
        ON CONFLICT (lease_name, intent_id) DO NOTHING
        RETURNING intent_id
    )
    SELECT coalesce(array_agg(intent_id::text), '{}') INTO v_created
    FROM created;

    RETURN QUERY
    SELECT NULL::bigint, NULL, NULL, NULL, submission_us(v_now), NULL::bigint,
           NULL::bigint, NULL::bigint, NULL, NULL, NULL;

    IF cardinality(v_created) = v_rows THEN
        RETURN;
    END IF;

    -- what was there before, or is there twice: the first of two created it

    RETURN QUERY
    SELECT r.n::bigint, i.intent_id::text, i.submission_target::text, i.status::text,
           submission_us(i.created_at), i.attempt_count,
           submission_us(i.next_attempt_at), submission_us(i.completed_at),
           i.final_outcome_reason::text, i.exhausted_reason::text,
           i.payload_hash::text
    FROM (
             SELECT s.n, s.id,
                    row_number() OVER (PARTITION BY s.id COLLATE "C"
                                       ORDER BY s.n) AS nth
             FROM jsonb_to_recordset(v_doc->'rows') AS s (n integer, id text)
         ) AS r
         CROSS JOIN LATERAL (
             SELECT *
             FROM submission_intents AS s
             WHERE s.lease_name = p_lease_name AND s.intent_id = r.id
             LIMIT 1
         ) AS i
    WHERE NOT (r.nth = 1 AND r.id = ANY (v_created));

    GET DIAGNOSTICS v_found = ROW_COUNT;

    IF cardinality(v_created) + v_found <> v_rows THEN
        RAISE EXCEPTION 'an intent was neither inserted nor found';
    END IF;
END
$$;
-- Takes the lease where there is none, or where it has expired.

CREATE OR REPLACE FUNCTION submission.submission_lease_acquire(
    p_lease_name text, p_holder_id text, p_duration_ms bigint
)
RETURNS TABLE (
    o_now bigint, o_held bigint, o_holder_id text, o_lease_epoch bigint,
    o_acquired_at bigint, o_renewed_at bigint, o_expires_at bigint
)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = submission, pg_temp
AS $$
DECLARE
    v_now  timestamptz;
BEGIN
    v_now := submission_now();

    INSERT INTO submission_manager_leases (
        lease_name, holder_id, lease_epoch, acquired_at, renewed_at, expires_at,
        inflight_since
    )
    SELECT p_lease_name, p_holder_id, 1, v_now, v_now,
           v_now + p_duration_ms * interval '1 millisecond',
           submission_inflight_since(p_lease_name, '-infinity', v_now)
    WHERE NOT EXISTS (
        SELECT 1
        FROM submission_manager_leases
        WHERE lease_name = p_lease_name
    )
    ON CONFLICT (lease_name) DO NOTHING;

    IF NOT FOUND THEN

        -- the row first, then the time: what is waited for is not slept through

        PERFORM 1
        FROM submission_manager_leases
        WHERE lease_name = p_lease_name
        FOR UPDATE;

        v_now := submission_now();

        UPDATE submission_manager_leases
        SET holder_id = p_holder_id,
            lease_epoch = lease_epoch + 1,
            acquired_at = v_now,
            renewed_at = v_now,
            expires_at = v_now + p_duration_ms * interval '1 millisecond'
        WHERE lease_name = p_lease_name AND expires_at <= v_now;
    END IF;

    RETURN QUERY SELECT * FROM submission_lease_row(p_lease_name, v_now, FOUND);
END
$$;
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
SET enable_seqscan = off
SET enable_bitmapscan = off
SET enable_sort = off
SET jit = off
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
-- The lease as it is; p_held is passed on by those who know better.

CREATE OR REPLACE FUNCTION submission.submission_lease_row(
    p_lease_name text, p_now timestamptz, p_held boolean
)
RETURNS TABLE (
    o_now bigint, o_held bigint, o_holder_id text, o_lease_epoch bigint,
    o_acquired_at bigint, o_renewed_at bigint, o_expires_at bigint
)
LANGUAGE sql VOLATILE
SET search_path = submission, pg_temp
AS $$
    SELECT submission_us(p_now), p_held::integer::bigint, l.holder_id,
           l.lease_epoch, submission_us(l.acquired_at),
           submission_us(l.renewed_at), submission_us(l.expires_at)
    FROM (VALUES (1)) AS one
         LEFT JOIN submission_manager_leases AS l
         ON l.lease_name = p_lease_name
$$;


CREATE OR REPLACE FUNCTION submission.submission_lease_get(p_lease_name text)
RETURNS TABLE (
    o_now bigint, o_held bigint, o_holder_id text, o_lease_epoch bigint,
    o_acquired_at bigint, o_renewed_at bigint, o_expires_at bigint
)
LANGUAGE sql VOLATILE SECURITY DEFINER
SET search_path = submission, pg_temp
AS $$
    SELECT * FROM submission_lease_row(p_lease_name, submission_now(), false)
$$;
-- Gives the lease up: anyone can acquire it at once.

CREATE OR REPLACE FUNCTION submission.submission_lease_release(
    p_lease_name text, p_holder_id text, p_lease_epoch bigint
)
RETURNS TABLE (
    o_now bigint, o_held bigint, o_holder_id text, o_lease_epoch bigint,
    o_acquired_at bigint, o_renewed_at bigint, o_expires_at bigint
)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = submission, pg_temp
AS $$
DECLARE
    v_now  timestamptz;
BEGIN
    -- the row first, then the time: what is waited for is not slept through

    PERFORM 1
    FROM submission_manager_leases
    WHERE lease_name = p_lease_name
    FOR UPDATE;

    v_now := submission_now();

    UPDATE submission_manager_leases
    SET expires_at = v_now
    WHERE lease_name = p_lease_name AND holder_id = p_holder_id
          AND lease_epoch = p_lease_epoch AND expires_at > v_now;

    RETURN QUERY SELECT * FROM submission_lease_row(p_lease_name, v_now, FOUND);
END
$$;
-- Extends the lease of its holder; the epoch stays.  It also moves the place where
-- a recovery begins up to the oldest that is in flight: a seek, as it was moved
-- there by the renewal before.

CREATE OR REPLACE FUNCTION submission.submission_lease_renew(
    p_lease_name text, p_holder_id text, p_lease_epoch bigint,
    p_duration_ms bigint
)
RETURNS TABLE (
    o_now bigint, o_held bigint, o_holder_id text, o_lease_epoch bigint,
    o_acquired_at bigint, o_renewed_at bigint, o_expires_at bigint
)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = submission, pg_temp
AS $$
DECLARE
    v_now  timestamptz;
BEGIN
    -- the row first, then the time: what is waited for is not slept through

    PERFORM 1
    FROM submission_manager_leases
    WHERE lease_name = p_lease_name
    FOR UPDATE;

    v_now := submission_now();

    UPDATE submission_manager_leases
    SET renewed_at = v_now,
        expires_at = v_now + p_duration_ms * interval '1 millisecond',
        inflight_since = CASE WHEN inflight_since IS NOT NULL
                              THEN submission_inflight_since(p_lease_name,
                                       inflight_since, v_now) END
    WHERE lease_name = p_lease_name AND holder_id = p_holder_id
          AND lease_epoch = p_lease_epoch AND expires_at > v_now;

    RETURN QUERY SELECT * FROM submission_lease_row(p_lease_name, v_now, FOUND);
END
$$;
-- Another worker of the holder goes on, with a new epoch.

CREATE OR REPLACE FUNCTION submission.submission_lease_takeover(
    p_lease_name text, p_holder_id text, p_lease_epoch bigint,
    p_duration_ms bigint
)
RETURNS TABLE (
    o_now bigint, o_held bigint, o_holder_id text, o_lease_epoch bigint,
    o_acquired_at bigint, o_renewed_at bigint, o_expires_at bigint
)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = submission, pg_temp
AS $$
DECLARE
    v_now  timestamptz;
BEGIN
    -- the row first, then the time: what is waited for is not slept through

    PERFORM 1
    FROM submission_manager_leases
    WHERE lease_name = p_lease_name
    FOR UPDATE;

    v_now := submission_now();

    UPDATE submission_manager_leases
    SET lease_epoch = lease_epoch + 1,
        acquired_at = v_now,
        renewed_at = v_now,
        expires_at = v_now + p_duration_ms * interval '1 millisecond'
    WHERE lease_name = p_lease_name AND holder_id = p_holder_id
          AND lease_epoch = p_lease_epoch AND expires_at > v_now;

    RETURN QUERY SELECT * FROM submission_lease_row(p_lease_name, v_now, FOUND);
END
$$;
-- Whether a commit is possible: writes a row as it was.

CREATE OR REPLACE FUNCTION submission.submission_ping()
RETURNS TABLE (o_now bigint)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = submission, pg_temp
AS $$
BEGIN
    UPDATE submission_schema SET version = version;

    RETURN QUERY SELECT submission_us(submission_now());
END
$$;
-- What has an attempt to come, in the order of modification, strictly after
-- (p_after_at, p_after_id); with p_due = 1 the retries, in the order of due
-- time.  The first row has the time alone.

CREATE OR REPLACE FUNCTION submission.submission_schedule_page(
    p_lease_name text, p_holder_id text, p_lease_epoch bigint, p_due bigint,
    p_after_at bigint, p_after_id text, p_limit bigint
)
RETURNS TABLE (
    o_now bigint, o_intent_id text, o_submission_target text, o_at bigint,
    o_due_at bigint
)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = submission, pg_temp
SET enable_seqscan = off
SET enable_bitmapscan = off
SET enable_sort = off
SET jit = off
AS $$
BEGIN
    RETURN QUERY
    SELECT submission_us(submission_fence_read(p_lease_name, p_holder_id,
                                               p_lease_epoch)),
           NULL, NULL, NULL::bigint, NULL::bigint;

    IF p_due = 1 THEN
        RETURN QUERY
        SELECT NULL::bigint, i.intent_id::text, i.submission_target::text,
               submission_us(i.next_attempt_at),
               submission_us(i.next_attempt_at)
        FROM submission_intents AS i
        WHERE i.lease_name = p_lease_name AND i.next_attempt_at IS NOT NULL
              AND i.attempt_count > 0
              AND (i.next_attempt_at, i.intent_id)
                  > (submission_at(p_after_at), p_after_id)
        ORDER BY i.next_attempt_at, i.intent_id
        LIMIT p_limit;

        RETURN;
    END IF;

    RETURN QUERY
    SELECT NULL::bigint, i.intent_id::text, i.submission_target::text,
           submission_us(i.last_modified_at), submission_us(i.next_attempt_at)
    FROM submission_intents AS i
    WHERE i.lease_name = p_lease_name AND i.next_attempt_at IS NOT NULL
          AND (i.last_modified_at, i.intent_id)
              > (submission_at(p_after_at), p_after_id)
    ORDER BY i.last_modified_at, i.intent_id
    LIMIT p_limit;
END
$$;
-- The version of the schema.

CREATE OR REPLACE FUNCTION submission.submission_schema_version()
RETURNS TABLE (o_version bigint)
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = submission, pg_temp
AS $$
    SELECT version::bigint FROM submission_schema
$$;
-- A role that may call the procedures, and nothing else: it cannot read or
-- write a table.  Run as the owner, after everything else; may run again.  Then
-- let nginx's login have it:
--
--     CREATE ROLE nginx LOGIN PASSWORD '...' IN ROLE submission_nginx;

DO $$
BEGIN
    IF NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'submission_nginx')
    THEN
        CREATE ROLE submission_nginx NOLOGIN;
    END IF;
EXCEPTION
    WHEN duplicate_object OR unique_violation THEN
        NULL;                           -- roles are of all databases
END
$$;

REVOKE ALL ON SCHEMA submission FROM PUBLIC;
REVOKE ALL ON ALL TABLES IN SCHEMA submission FROM PUBLIC, submission_nginx;
REVOKE ALL ON ALL FUNCTIONS IN SCHEMA submission FROM PUBLIC, submission_nginx;

GRANT USAGE ON SCHEMA submission TO submission_nginx;

GRANT EXECUTE ON FUNCTION
    submission.submission_schema_version,
    submission.submission_ping,
    submission.submission_intents_submit,
    submission.submission_intents_get,
    submission.submission_intent_history,
    submission.submission_intents_list,
    submission.submission_lease_acquire,
    submission.submission_lease_renew,
    submission.submission_lease_takeover,
    submission.submission_lease_release,
    submission.submission_lease_get,
    submission.submission_candidate_heartbeat,
    submission.submission_candidate_remove,
    submission.submission_cluster_get,
    submission.submission_schedule_page,
    submission.submission_attempts_turn,
    submission.submission_attempts_in_doubt
TO submission_nginx;
