-- Version 1 of the schema, for PostgreSQL 13 or later.  sql/install.sh runs this
-- file, then the other files beside it, as the owner and in one transaction; before
-- that it brings a database of an older version up to date by migrate/*.sql.
--
-- Ids are compared byte for byte, by COLLATE "C".
--
-- Every statement may run again on a database that has the schema.  A statement
-- that changes a table locks it even if there is nothing to change, and everybody
-- who comes after it waits.  So each change is made only where it is missing, and a
-- database that is up to date is left as it is.

SET search_path = submission, pg_temp;

DO $$
BEGIN
    IF current_setting('server_encoding') <> 'UTF8' THEN
        RAISE EXCEPTION 'the encoding of this database is %, and has to be UTF8: '
                        'ids, errors and answers may have any character',
                        current_setting('server_encoding')
            USING HINT = 'CREATE DATABASE ... TEMPLATE template0 ENCODING UTF8';
    END IF;

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

-- The version of the schema, and the first one whose modules may use it.

CREATE TABLE IF NOT EXISTS submission_schema (
    version                 integer       NOT NULL,
    compatible_from         integer       NOT NULL
);

-- inflight_since: no attempt that is in flight was begun earlier; NULL if that is
-- not known.  A recovery begins at this time.  A long transaction, such as
-- pg_dump's, keeps the dead rows of all attempts since its beginning, and an index
-- does not tell them from live ones: without this time, a recovery after a million
-- attempts would pass a million dead rows.

CREATE TABLE IF NOT EXISTS submission_manager_leases (
    lease_name              varchar(64)   COLLATE "C" NOT NULL PRIMARY KEY,
    holder_id               varchar(128)  COLLATE "C" NOT NULL,
    lease_epoch             bigint        NOT NULL,
    acquired_at             timestamptz   NOT NULL,
    renewed_at              timestamptz   NOT NULL,
    expires_at              timestamptz   NOT NULL,
    inflight_since          timestamptz
) WITH (fillfactor = 10);

-- config: a hash of each part of the instance's configuration.  config_since: when
-- that was first told.
-- instance_key: a number that no other instance has.  other_key: that of the instance
-- that has written to the row before.  shared_at: when two instances were last seen
-- to take turns with the row, because they have the same holder_id.

CREATE TABLE IF NOT EXISTS submission_manager_candidates (
    lease_name              varchar(64)   COLLATE "C" NOT NULL,
    holder_id               varchar(128)  COLLATE "C" NOT NULL,
    started_at              timestamptz   NOT NULL,
    heartbeat_at            timestamptz   NOT NULL,
    expires_at              timestamptz   NOT NULL,
    role                    varchar(32)   COLLATE "C" NOT NULL,
    version                 varchar(64)   COLLATE "C" NOT NULL,
    wake_url                varchar(1024) COLLATE "C",
    config                  varchar(512)  COLLATE "C",
    config_since            timestamptz,
    instance_key            bigint,
    other_key               bigint,
    shared_at               timestamptz,
    events                  varchar(4000) COLLATE "C",
    PRIMARY KEY (lease_name, holder_id)
);

-- Hashes of the names of each instance's targets, 8 digits each, so that others know
-- which targets exist elsewhere.  A heartbeat does not write to it.

CREATE TABLE IF NOT EXISTS submission_manager_target_names (
    lease_name              varchar(64)   COLLATE "C" NOT NULL,
    holder_id               varchar(128)  COLLATE "C" NOT NULL,
    names_hash              varchar(16)   COLLATE "C" NOT NULL,
    names                   text          COLLATE "C" NOT NULL,
    PRIMARY KEY (lease_name, holder_id)
);

-- An intent's status is pending, accepted, rejected, exhausted or canceled.
--
-- not_before: the time that was given, which may be in the past.  The first attempt
-- is due, and a deadline counts, from not_before or created_at, whichever is later.
-- retry_schedule: delays in milliseconds, separated by spaces, which replace
-- retry_delay_ms and the three columns after it.
-- notify: the webhooks of the contract and the statuses that they are told of, as
-- words such as "rejected:ops", separated by spaces.
-- contract_version: the first version of the module that understands the contract;
-- NULL means 1.  SQL compares nothing else of a contract but the deadline: the
-- rules are in src/core/model/sm_contract.c.
-- replay_of: the intent that this one replays.
-- replay_count, replayed_as: how often this one was replayed, and the ids of its
-- replays, the newest first, each with a line feed after it, as far as there is
-- room.  They stay when retention removes a replay; NULL means never.
-- event_of: this intent is the event of a webhook, and tells of that intent.  Its
-- target is "webhook <name>", and its id begins with a space, as no id of a client
-- does.
-- stripped_at: when retention emptied the payload and removed the attempts.

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
    not_before              timestamptz,
    retry_schedule          varchar(500)  COLLATE "C",
    notify                  varchar(1000) COLLATE "C",
    contract_version        integer,
    replay_of               varchar(200)  COLLATE "C",
    event_of                varchar(200)  COLLATE "C",
    traceparent             varchar(64)   COLLATE "C",
    tracestate              varchar(512)  COLLATE "C",
    last_error              varchar(1000) COLLATE "C",
    stripped_at             timestamptz,
    replay_count            bigint,
    replayed_as             varchar(500)  COLLATE "C",
    PRIMARY KEY (lease_name, intent_id)
);

-- http_status, answer: the status that the gateway answered with, and the first 500
-- characters of the answer.

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
    http_status             integer,
    answer                  varchar(500)  COLLATE "C",
    span_id                 varchar(16)   COLLATE "C",
    PRIMARY KEY (lease_name, intent_id, attempt_number)
);

-- The state that an operator has given to a target; a target without a row is open.
-- state: open or paused; since, reason and actor belong to it.

CREATE TABLE IF NOT EXISTS submission_targets (
    lease_name              varchar(64)   COLLATE "C" NOT NULL,
    submission_target       varchar(128)  COLLATE "C" NOT NULL,
    state                   varchar(16)   COLLATE "C" NOT NULL,
    since                   timestamptz   NOT NULL,
    reason                  varchar(500)  COLLATE "C",
    actor                   varchar(200)  COLLATE "C",
    PRIMARY KEY (lease_name, submission_target)
);

-- The statistics of the leader, which it replaces every few seconds.

CREATE TABLE IF NOT EXISTS submission_stats (
    lease_name              varchar(64)   COLLATE "C" NOT NULL PRIMARY KEY,
    lease_epoch             bigint        NOT NULL,
    at                      timestamptz   NOT NULL,
    stats                   text          COLLATE "C" NOT NULL
) WITH (fillfactor = 10);

-- Who did what, written in the transaction that did it.  Pages are in the order of
-- (at, seq).

CREATE TABLE IF NOT EXISTS submission_audit (
    seq                     bigint        GENERATED BY DEFAULT AS IDENTITY
                                          PRIMARY KEY,
    lease_name              varchar(64)   COLLATE "C" NOT NULL,
    at                      timestamptz   NOT NULL,
    actor                   varchar(200)  COLLATE "C" NOT NULL,
    address                 varchar(64)   COLLATE "C" NOT NULL,
    action                  varchar(32)   COLLATE "C" NOT NULL,
    object                  varchar(200)  COLLATE "C" NOT NULL,
    detail                  varchar(2000) COLLATE "C"
);

-- Jobs, which act on many intents in batches.
-- kind: replay or cancel.  filter: JSON, which intents, and what else was asked
-- for.
-- max_intents: the job ends after that many.
-- state: running, done, stopped or failed.  position: how far the job is; NULL at
-- first.

CREATE TABLE IF NOT EXISTS submission_jobs (
    lease_name              varchar(64)   COLLATE "C" NOT NULL,
    kind                    varchar(16)   COLLATE "C" NOT NULL,
    job_id                  varchar(200)  COLLATE "C" NOT NULL,
    filter                  varchar(4000) COLLATE "C" NOT NULL,
    max_intents             bigint        NOT NULL,
    state                   varchar(16)   COLLATE "C" NOT NULL,
    position                varchar(1000) COLLATE "C",
    seen_count              bigint        NOT NULL DEFAULT 0,
    done_count              bigint        NOT NULL DEFAULT 0,
    skipped_count           bigint        NOT NULL DEFAULT 0,
    last_error              varchar(1000) COLLATE "C",
    actor                   varchar(200)  COLLATE "C" NOT NULL,
    created_at              timestamptz   NOT NULL,
    started_at              timestamptz,
    last_modified_at        timestamptz   NOT NULL,
    completed_at            timestamptz,
    PRIMARY KEY (lease_name, kind, job_id)
);

-- Schedules, which make intents at planned times.
-- body: JSON, without the payload.  source: api or configuration.
-- revision: grows with each change, and is the ETag.
-- next_run_at: the next planned time; NULL if there is none.  A pause keeps it.
-- last_run_at: the planned time of last_intent_id.  While missed times are made up
-- in several parts, it is the time of the last part, and last_intent_id follows
-- when all parts are made.
-- last_error: why the schedule does not run.  It stays until a leader finds that
-- the schedule can run, or somebody changes it.

CREATE TABLE IF NOT EXISTS submission_schedules (
    lease_name              varchar(64)   COLLATE "C" NOT NULL,
    schedule_id             varchar(200)  COLLATE "C" NOT NULL,
    submission_target       varchar(128)  COLLATE "C" NOT NULL,
    body                    varchar(4000) COLLATE "C" NOT NULL,
    payload_hash            varchar(64)   COLLATE "C" NOT NULL,
    source                  varchar(16)   COLLATE "C" NOT NULL,
    revision                bigint        NOT NULL,
    next_run_at             timestamptz,
    last_run_at             timestamptz,
    last_fired_at           timestamptz,
    last_intent_id          varchar(200)  COLLATE "C",
    fired_count             bigint        NOT NULL DEFAULT 0,
    skipped_count           bigint        NOT NULL DEFAULT 0,
    missed_count            bigint        NOT NULL DEFAULT 0,
    paused_at               timestamptz,
    pause_reason            varchar(500)  COLLATE "C",
    last_error              varchar(500)  COLLATE "C",
    actor                   varchar(200)  COLLATE "C" NOT NULL,
    created_at              timestamptz   NOT NULL,
    last_modified_at        timestamptz   NOT NULL,
    payload                 bytea         NOT NULL,
    PRIMARY KEY (lease_name, schedule_id)
);

-- Intents that applications insert in transactions of their own.  The leader moves
-- committed rows from the lowest seq on.  Rows that are not valid intents go into
-- submission_inbox_refused, so the columns hold more than those of an intent.

CREATE TABLE IF NOT EXISTS submission_inbox (
    seq                     bigint        GENERATED BY DEFAULT AS IDENTITY
                                          PRIMARY KEY,
    lease_name              varchar(64)   COLLATE "C" NOT NULL
                                          DEFAULT 'submission-manager-executor',
    intent_id               text          COLLATE "C" NOT NULL,
    submission_target       text          COLLATE "C" NOT NULL,
    payload                 bytea         NOT NULL,
    not_before              timestamptz,
    traceparent             text          COLLATE "C",
    tracestate              text          COLLATE "C",
    created_at              timestamptz   NOT NULL DEFAULT clock_timestamp()
);

-- reason: the error code that POST would have answered with; detail: the same in
-- words.

CREATE TABLE IF NOT EXISTS submission_inbox_refused (
    lease_name              varchar(64)   COLLATE "C" NOT NULL,
    refused_at              timestamptz   NOT NULL,
    seq                     bigint        NOT NULL,
    intent_id               text          COLLATE "C" NOT NULL,
    submission_target       text          COLLATE "C" NOT NULL,
    payload                 bytea         NOT NULL,
    not_before              timestamptz,
    traceparent             text          COLLATE "C",
    tracestate              text          COLLATE "C",
    created_at              timestamptz   NOT NULL,
    reason                  varchar(64)   COLLATE "C" NOT NULL,
    detail                  varchar(1000) COLLATE "C",
    PRIMARY KEY (lease_name, refused_at, seq)
);

-- The indexes.  Each one makes every submission that it contains slower.

DO $$
DECLARE
    v_name        text;
    v_definition  text;
BEGIN
    FOR v_name, v_definition IN
        VALUES

        -- The queue: intents with an attempt to come, and intents in flight.  An
        -- intent without an attempt is due since it was created, so "modified" has the
        -- order in which such intents are due; only retries are in "due", and only
        -- intents that wait for their not_before are in "delayed".

        ('submission_intents_modified',
         'submission_intents (lease_name, last_modified_at, intent_id)
          WHERE next_attempt_at IS NOT NULL'),
        ('submission_intents_due',
         'submission_intents (lease_name, next_attempt_at, intent_id)
          WHERE next_attempt_at IS NOT NULL AND attempt_count > 0'),
        ('submission_intents_delayed',
         'submission_intents (lease_name, next_attempt_at, intent_id)
          WHERE next_attempt_at IS NOT NULL AND not_before IS NOT NULL
                AND attempt_count = 0'),
        ('submission_intents_begun',
         'submission_intents (lease_name, inflight_at, intent_id)
          WHERE inflight_epoch IS NOT NULL'),

        -- The list, by created_at.  Several targets or statuses are merged.  The
        -- condition holds for all rows; only statements that state it use the index,
        -- so a planner without statistics does not take it to look up an id.

        ('submission_intents_list',
         'submission_intents (lease_name, submission_target, status, created_at,
                              intent_id)
          WHERE attempt_count >= 0'),

        -- By completed_at: the list with by=completed, the failures, and what
        -- retention strips.  Stripped intents have an index of their own, so that
        -- retention does not pass them on its way to those that come after.

        ('submission_intents_completed',
         'submission_intents (lease_name, submission_target, status, completed_at,
                              intent_id)
          WHERE completed_at IS NOT NULL AND stripped_at IS NULL'),
        ('submission_intents_stripped',
         'submission_intents (lease_name, submission_target, status, completed_at,
                              intent_id)
          WHERE stripped_at IS NOT NULL'),

        -- Intents that were rejected or exhausted for one reason, by completed_at.

        ('submission_intents_rejected',
         'submission_intents (lease_name, submission_target, final_outcome_reason,
                              completed_at, intent_id)
          WHERE status = ''rejected'''),
        ('submission_intents_exhausted',
         'submission_intents (lease_name, submission_target, exhausted_reason,
                              completed_at, intent_id)
          WHERE status = ''exhausted'''),

        -- Failures that were not replayed, by completed_at.

        ('submission_intents_failed',
         'submission_intents (lease_name, submission_target, status, completed_at,
                              intent_id)
          WHERE replay_count IS NULL AND status IN (''rejected'', ''exhausted'')'),

        -- The replays of an intent, and the events of its webhooks.

        ('submission_intents_replays',
         'submission_intents (lease_name, replay_of, intent_id)
          WHERE replay_of IS NOT NULL'),
        ('submission_intents_events',
         'submission_intents (lease_name, event_of, intent_id)
          WHERE event_of IS NOT NULL'),

        -- The audit by time, by action, and by actor and action.

        ('submission_audit_at',
         'submission_audit (lease_name, at, seq)'),
        ('submission_audit_action',
         'submission_audit (lease_name, action, at, seq)'),
        ('submission_audit_actor',
         'submission_audit (lease_name, actor, action, at, seq)'),

        -- Jobs that are not done, and all jobs of a kind, by created_at.

        ('submission_jobs_running',
         'submission_jobs (lease_name, created_at, job_id)
          WHERE completed_at IS NULL'),
        ('submission_jobs_list',
         'submission_jobs (lease_name, kind, created_at, job_id)'),

        -- Schedules by the time of their next run, and the inbox of a manager.

        ('submission_schedules_due',
         'submission_schedules (lease_name, next_run_at, schedule_id)
          WHERE next_run_at IS NOT NULL AND paused_at IS NULL
                AND last_error IS NULL'),
        ('submission_inbox_next',
         'submission_inbox (lease_name, seq)')
    LOOP
        IF to_regclass(v_name) IS NULL THEN
            EXECUTE format('CREATE INDEX %I ON %s', v_name, v_definition);
        END IF;
    END LOOP;
END
$$;

-- When dead rows are removed.  Each attempt leaves two dead rows of its intent; by
-- default they would stay until they are a fifth of the table with all its history.
-- Rows of the inbox come and go, and every reader passes the dead ones.

DO $$
DECLARE
    v_table    text;
    v_options  text[];
BEGIN
    FOR v_table, v_options IN
        VALUES
        ('submission_intents',
         ARRAY['autovacuum_vacuum_threshold=1000',
               'autovacuum_vacuum_scale_factor=0.01',
               'autovacuum_analyze_threshold=1000',
               'autovacuum_analyze_scale_factor=0.02']),
        ('submission_inbox',
         ARRAY['autovacuum_vacuum_threshold=1000',
               'autovacuum_vacuum_scale_factor=0',
               'autovacuum_vacuum_insert_threshold=-1'])
    LOOP
        IF NOT EXISTS (SELECT 1
                       FROM pg_class
                       WHERE oid = v_table::regclass
                             AND reloptions @> v_options)
        THEN
            EXECUTE format('ALTER TABLE %I SET (%s)', v_table,
                           array_to_string(v_options, ', '));
        END IF;
    END LOOP;
END
$$;

INSERT INTO submission_schema (version, compatible_from)
    SELECT 1, 1 WHERE NOT EXISTS (SELECT 1 FROM submission_schema);

UPDATE submission_schema
SET version = 1,
    compatible_from = 1
WHERE version < 1;


-- The clock that all functions use, and times as nginx sends and gets them:
-- microseconds since 1970.

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


-- The name of a role of this database, as role.sql makes them: p_kind is definer,
-- nginx or client.

CREATE OR REPLACE FUNCTION submission_role(p_kind text)
RETURNS text
LANGUAGE sql STABLE
AS $$
    SELECT 'submission_' || p_kind || '_'
           || CASE WHEN octet_length(current_database()) <= 44
                   THEN current_database()::text
                   ELSE md5(current_database()) END
$$;
