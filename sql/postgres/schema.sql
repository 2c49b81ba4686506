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
