-- The schema on PostgreSQL, 13 or later: version 1.  Every statement may run again
-- on a database that has it.  Run as the owner, then every other file beside this
-- one, then role.sql; sql/install.sh does, in one transaction, and brings a
-- database of an older version up by migrate/*.sql before.
--
-- Ids are compared byte for byte: COLLATE "C".  Times are PostgreSQL's own.
--
-- A change locks a table before it looks whether it is needed, and whoever comes
-- after it waits with it: so each change is looked for first, and a database that
-- is up to date is left as it is.

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

-- inflight_since: nothing of the lease that is in flight was begun earlier; NULL:
-- that is not known.  A recovery begins there.  A long transaction elsewhere, such
-- as pg_dump's, keeps the dead rows of all attempts since it began, and an index
-- does not tell them from the living: a recovery that begins at the oldest passes
-- by a million of them after a million attempts.

CREATE TABLE IF NOT EXISTS submission_manager_leases (
    lease_name              varchar(64)   COLLATE "C" NOT NULL PRIMARY KEY,
    holder_id               varchar(128)  COLLATE "C" NOT NULL,
    lease_epoch             bigint        NOT NULL,
    acquired_at             timestamptz   NOT NULL,
    renewed_at              timestamptz   NOT NULL,
    expires_at              timestamptz   NOT NULL,
    inflight_since          timestamptz
) WITH (fillfactor = 10);

CREATE TABLE IF NOT EXISTS submission_manager_candidates (
    lease_name              varchar(64)   COLLATE "C" NOT NULL,
    holder_id               varchar(128)  COLLATE "C" NOT NULL,
    started_at              timestamptz   NOT NULL,
    heartbeat_at            timestamptz   NOT NULL,
    expires_at              timestamptz   NOT NULL,
    role                    varchar(32)   COLLATE "C" NOT NULL,
    version                 varchar(64)   COLLATE "C" NOT NULL,
    wake_url                varchar(1024) COLLATE "C",
    PRIMARY KEY (lease_name, holder_id)
);

-- An intent's status is pending, accepted, rejected, exhausted or canceled.
--
-- not_before: as it was given, maybe in the past.  The first attempt is due, and a
-- deadline counts, from the later one of it and created_at.
-- retry_schedule: delays in milliseconds with a space between them, in place of
-- those of retry_delay_ms and the others.
-- notify: the webhooks of the contract, and the ends of which they are told: words
-- such as "rejected:ops", with a space between them.
-- contract_version: the first version of the module that understands the contract;
-- NULL: 1.  It is all that SQL compares of a contract but for the deadline: the rules
-- are in src/core/model/sm_contract.c.
-- replay_of, job_id: the intent that this one replays, and the job that made it.
-- event_of: this is the event of a webhook, and tells of that intent.  Its target
-- is "webhook <name>" and its id begins with a space: nothing of a client does.
-- stripped_at: the payload is empty since then, and the attempts are gone.

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
    job_id                  varchar(200)  COLLATE "C",
    event_of                varchar(200)  COLLATE "C",
    traceparent             varchar(64)   COLLATE "C",
    tracestate              varchar(512)  COLLATE "C",
    last_error              varchar(1000) COLLATE "C",
    stripped_at             timestamptz,
    PRIMARY KEY (lease_name, intent_id)
);

-- The queue: what still has an attempt to come, and what is in flight.  An
-- intent without an attempt is due since it came, and "modified" has it in that
-- order; only retries are in "due", and in "delayed" those that wait for their
-- not_before.  Each index costs every submission that is in it.

DO $$
BEGIN
    IF to_regclass('submission_intents_modified') IS NULL THEN
        CREATE INDEX submission_intents_modified
            ON submission_intents (lease_name, last_modified_at, intent_id)
            WHERE next_attempt_at IS NOT NULL;
    END IF;

    IF to_regclass('submission_intents_due') IS NULL THEN
        CREATE INDEX submission_intents_due
            ON submission_intents (lease_name, next_attempt_at, intent_id)
            WHERE next_attempt_at IS NOT NULL AND attempt_count > 0;
    END IF;

    IF to_regclass('submission_intents_delayed') IS NULL THEN
        CREATE INDEX submission_intents_delayed
            ON submission_intents (lease_name, next_attempt_at, intent_id)
            WHERE next_attempt_at IS NOT NULL AND not_before IS NOT NULL
                  AND attempt_count = 0;
    END IF;

    IF to_regclass('submission_intents_begun') IS NULL THEN
        CREATE INDEX submission_intents_begun
            ON submission_intents (lease_name, inflight_at, intent_id)
            WHERE inflight_epoch IS NOT NULL;
    END IF;
END
$$;

-- By created_at, of a target and a status: the list.  Several targets or statuses
-- are merged.  All rows are in it; the condition keeps it for those who state it,
-- so that no planner without statistics takes it for a look-up by id.
--
-- By completed_at, in the same way: the list with by=completed, the failures, and
-- what is to be stripped.  What has been stripped is in the second, so that nobody
-- passes it by to strip what comes after it.  To forget, and to list, both are read.
--
-- What was rejected or exhausted for one reason, by completed_at.
--
-- The replays of an intent, and the events of its webhooks.

DO $$
BEGIN
    IF to_regclass('submission_intents_list') IS NULL THEN
        CREATE INDEX submission_intents_list
            ON submission_intents (lease_name, submission_target, status,
                                   created_at, intent_id)
            WHERE attempt_count >= 0;
    END IF;

    IF to_regclass('submission_intents_completed') IS NULL THEN
        CREATE INDEX submission_intents_completed
            ON submission_intents (lease_name, submission_target, status,
                                   completed_at, intent_id)
            WHERE completed_at IS NOT NULL AND stripped_at IS NULL;
    END IF;

    IF to_regclass('submission_intents_stripped') IS NULL THEN
        CREATE INDEX submission_intents_stripped
            ON submission_intents (lease_name, submission_target, status,
                                   completed_at, intent_id)
            WHERE stripped_at IS NOT NULL;
    END IF;

    IF to_regclass('submission_intents_rejected') IS NULL THEN
        CREATE INDEX submission_intents_rejected
            ON submission_intents (lease_name, submission_target,
                                   final_outcome_reason, completed_at, intent_id)
            WHERE status = 'rejected';
    END IF;

    IF to_regclass('submission_intents_exhausted') IS NULL THEN
        CREATE INDEX submission_intents_exhausted
            ON submission_intents (lease_name, submission_target,
                                   exhausted_reason, completed_at, intent_id)
            WHERE status = 'exhausted';
    END IF;

    IF to_regclass('submission_intents_replays') IS NULL THEN
        CREATE INDEX submission_intents_replays
            ON submission_intents (lease_name, replay_of, intent_id)
            WHERE replay_of IS NOT NULL;
    END IF;

    IF to_regclass('submission_intents_events') IS NULL THEN
        CREATE INDEX submission_intents_events
            ON submission_intents (lease_name, event_of, intent_id)
            WHERE event_of IS NOT NULL;
    END IF;
END
$$;

-- Each attempt leaves two dead rows.  By default they would go when they are a
-- fifth of the table, history included.

DO $$
BEGIN
    IF NOT EXISTS (
        SELECT 1
        FROM pg_class
        WHERE oid = 'submission_intents'::regclass
              AND reloptions @> ARRAY['autovacuum_vacuum_threshold=1000',
                                      'autovacuum_vacuum_scale_factor=0.01',
                                      'autovacuum_analyze_threshold=1000',
                                      'autovacuum_analyze_scale_factor=0.02']
    )
    THEN
        ALTER TABLE submission_intents SET (
            autovacuum_vacuum_threshold = 1000,
            autovacuum_vacuum_scale_factor = 0.01,
            autovacuum_analyze_threshold = 1000,
            autovacuum_analyze_scale_factor = 0.02
        );
    END IF;
END
$$;

-- http_status and answer: what the gateway said, the first 500 characters of it.

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

-- What an operator has set of a target; without a row it is open.
-- state: open, paused.  since, reason, actor: of that state.

CREATE TABLE IF NOT EXISTS submission_targets (
    lease_name              varchar(64)   COLLATE "C" NOT NULL,
    submission_target       varchar(128)  COLLATE "C" NOT NULL,
    state                   varchar(16)   COLLATE "C" NOT NULL,
    since                   timestamptz   NOT NULL,
    reason                  varchar(500)  COLLATE "C",
    actor                   varchar(200)  COLLATE "C",
    PRIMARY KEY (lease_name, submission_target)
);

-- The leader's numbers, written anew every few seconds.

CREATE TABLE IF NOT EXISTS submission_stats (
    lease_name              varchar(64)   COLLATE "C" NOT NULL PRIMARY KEY,
    lease_epoch             bigint        NOT NULL,
    at                      timestamptz   NOT NULL,
    stats                   text          COLLATE "C" NOT NULL
) WITH (fillfactor = 10);

-- Who did what, in the transaction that did it.  A page is by (at, seq).  The kinds
-- of action are few: an actor's are merged.

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

-- Many intents at once, worked off in batches.
-- kind: replay, cancel.  filter: JSON, with what else was asked for.
-- max_intents: no more than so many.
-- state: running, done, stopped, failed.  position: how far it is, NULL at first.

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

-- Recurring intents.  body: JSON, without the payload.  source: api, configuration.
-- revision: grows with each change, and is the etag.
-- next_run_at: the planned time, NULL if none is to come; it stays while paused.
-- last_run_at: the planned time of last_intent_id; where times that were missed are
-- made up in parts, that of the last part, and last_intent_id follows with the end.
-- last_error: why it does not run, until a leader finds that it can, or it is changed.

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

-- Intents that applications leave in their own transactions; the leader moves what
-- is committed, from the lowest seq on.  What is not a valid intent goes into
-- submission_inbox_refused: the columns take more than an intent does.

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

-- Rows come and go: what is dead must not be passed by for long.

DO $$
BEGIN
    IF NOT EXISTS (
        SELECT 1
        FROM pg_class
        WHERE oid = 'submission_inbox'::regclass
              AND reloptions @> ARRAY['autovacuum_vacuum_threshold=1000',
                                      'autovacuum_vacuum_scale_factor=0',
                                      'autovacuum_vacuum_insert_threshold=-1']
    )
    THEN
        ALTER TABLE submission_inbox SET (
            autovacuum_vacuum_threshold = 1000,
            autovacuum_vacuum_scale_factor = 0,
            autovacuum_vacuum_insert_threshold = -1
        );
    END IF;
END
$$;

-- reason: a code, as POST would have answered; detail: in words.

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

-- The audit by time, by action and by actor; the jobs that are not done yet and the
-- schedules that are due, oldest first; the inbox of one manager.

DO $$
BEGIN
    IF to_regclass('submission_audit_at') IS NULL THEN
        CREATE INDEX submission_audit_at
            ON submission_audit (lease_name, at, seq);
    END IF;

    IF to_regclass('submission_audit_action') IS NULL THEN
        CREATE INDEX submission_audit_action
            ON submission_audit (lease_name, action, at, seq);
    END IF;

    IF to_regclass('submission_audit_actor') IS NULL THEN
        CREATE INDEX submission_audit_actor
            ON submission_audit (lease_name, actor, action, at, seq);
    END IF;

    IF to_regclass('submission_jobs_running') IS NULL THEN
        CREATE INDEX submission_jobs_running
            ON submission_jobs (lease_name, created_at, job_id)
            WHERE completed_at IS NULL;
    END IF;

    IF to_regclass('submission_jobs_list') IS NULL THEN
        CREATE INDEX submission_jobs_list
            ON submission_jobs (lease_name, kind, created_at, job_id);
    END IF;

    IF to_regclass('submission_schedules_due') IS NULL THEN
        CREATE INDEX submission_schedules_due
            ON submission_schedules (lease_name, next_run_at, schedule_id)
            WHERE next_run_at IS NOT NULL AND paused_at IS NULL
                  AND last_error IS NULL;
    END IF;

    IF to_regclass('submission_inbox_next') IS NULL THEN
        CREATE INDEX submission_inbox_next
            ON submission_inbox (lease_name, seq);
    END IF;
END
$$;

INSERT INTO submission_schema (version, compatible_from)
    SELECT 1, 1 WHERE NOT EXISTS (SELECT 1 FROM submission_schema);

UPDATE submission_schema
SET version = 1,
    compatible_from = 1
WHERE version < 1;


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


-- The name of a role of this database: definer, nginx or client.  See role.sql.

CREATE OR REPLACE FUNCTION submission_role(p_kind text)
RETURNS text
LANGUAGE sql STABLE
AS $$
    SELECT 'submission_' || p_kind || '_'
           || CASE WHEN octet_length(current_database()) <= 44
                   THEN current_database()::text
                   ELSE md5(current_database()) END
$$;
