-- Times are microseconds since 1970 in UTC, by SQLite's own clock.
-- Every statement may run again on a database that has it.

CREATE TABLE IF NOT EXISTS submission_schema (
    version                 INTEGER NOT NULL
);

CREATE TABLE IF NOT EXISTS submission_manager_leases (
    lease_name              TEXT    NOT NULL PRIMARY KEY,
    holder_id               TEXT    NOT NULL,
    lease_epoch             INTEGER NOT NULL,
    acquired_at             INTEGER NOT NULL,
    renewed_at              INTEGER NOT NULL,
    expires_at              INTEGER NOT NULL
);

CREATE TABLE IF NOT EXISTS submission_manager_candidates (
    lease_name              TEXT    NOT NULL,
    holder_id               TEXT    NOT NULL,
    started_at              INTEGER NOT NULL,
    heartbeat_at            INTEGER NOT NULL,
    expires_at              INTEGER NOT NULL,
    role                    TEXT    NOT NULL,
    version                 TEXT    NOT NULL,
    PRIMARY KEY (lease_name, holder_id)
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS submission_intents (
    lease_name              TEXT    NOT NULL,
    intent_id               TEXT    NOT NULL,
    submission_target       TEXT    NOT NULL,
    payload_hash            TEXT    NOT NULL,
    gateway_type            TEXT    NOT NULL,
    gateway_url             TEXT    NOT NULL,
    policy                  TEXT    NOT NULL,
    max_acceptance_seconds  INTEGER,
    max_attempts            INTEGER,
    terminal_outcomes       TEXT    NOT NULL,
    retry_delay_ms          INTEGER NOT NULL,
    retry_max_ms            INTEGER NOT NULL,
    retry_backoff_pct       INTEGER NOT NULL,
    retry_jitter_pct        INTEGER NOT NULL,
    status                  TEXT    NOT NULL,
    final_outcome_status    TEXT,
    final_outcome_reason    TEXT,
    exhausted_reason        TEXT,
    attempt_count           INTEGER NOT NULL,
    created_at              INTEGER NOT NULL,
    completed_at            INTEGER,
    last_modified_at        INTEGER NOT NULL,
    next_attempt_at         INTEGER,
    inflight_epoch          INTEGER,
    inflight_holder         TEXT,
    inflight_at             INTEGER,
    payload                 BLOB    NOT NULL,
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

CREATE INDEX IF NOT EXISTS submission_intents_inflight
    ON submission_intents (lease_name, inflight_epoch, intent_id)
    WHERE inflight_epoch IS NOT NULL;

-- the list

CREATE INDEX IF NOT EXISTS submission_intents_list
    ON submission_intents (lease_name, submission_target, status, created_at,
                           intent_id);

CREATE TABLE IF NOT EXISTS submission_attempts (
    lease_name              TEXT    NOT NULL,
    intent_id               TEXT    NOT NULL,
    attempt_number          INTEGER NOT NULL,
    lease_epoch             INTEGER NOT NULL,
    holder_id               TEXT    NOT NULL,
    started_at              INTEGER NOT NULL,
    finished_at             INTEGER NOT NULL,
    outcome_status          TEXT    NOT NULL,
    outcome_reason          TEXT,
    error                   TEXT,
    PRIMARY KEY (lease_name, intent_id, attempt_number)
) WITHOUT ROWID;

INSERT INTO submission_schema (version)
    SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM submission_schema);
