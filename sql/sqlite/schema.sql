-- Version 2.  Times are microseconds since 1970 in UTC, by SQLite's own clock.
-- Every statement may run again on a database that has it; one of an older version
-- has had migrate/*.sql before, in the same transaction.
--
-- A column that came with version 2 is NULL where it does not apply: a module of
-- version 1 does not know of it.

-- A row for each version whose modules may use this database; the schema is of the
-- highest.  "compatible_from" is the lowest.  A module of version 1 looks at the
-- first row alone, and wants a 1 there.

CREATE TABLE IF NOT EXISTS submission_schema (
    version                 INTEGER NOT NULL,
    compatible_from         INTEGER NOT NULL DEFAULT 1
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
    wake_url                TEXT,
    PRIMARY KEY (lease_name, holder_id)
) WITHOUT ROWID;

-- An intent's status is pending, accepted, rejected, exhausted or canceled.
--
-- not_before: as it was given, maybe in the past.  The first attempt is due, and a
-- deadline counts, from the later one of it and created_at.
-- retry_schedule: delays in milliseconds with a space between them, in place of
-- those of retry_delay_ms and the others.
-- notify: the webhooks of the contract, and the ends of which they are told: words
-- such as "rejected:ops", with a space between them.
-- contract_version: the first version of the module that understands the contract;
-- NULL: 1.  The rules are in src/core/sm_contract.c.
-- replay_of, job_id: the intent that this one repeats, and the job that made it.
-- event_of: this is the event of a webhook, and tells of that intent.  Its target
-- is "webhook <name>" and its id begins with a space: nothing of a client does.
-- stripped_at: the payload is empty since then, and the attempts are gone.
--
-- The payload is last: what comes after a long one takes long to read.  In a
-- database that was migrated the columns of version 2 come after it.

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
    not_before              INTEGER,
    retry_schedule          TEXT,
    notify                  TEXT,
    contract_version        INTEGER,
    replay_of               TEXT,
    job_id                  TEXT,
    event_of                TEXT,
    traceparent             TEXT,
    tracestate              TEXT,
    last_error              TEXT,
    stripped_at             INTEGER,
    payload                 BLOB    NOT NULL,
    PRIMARY KEY (lease_name, intent_id)
);

-- The schedule: what still has an attempt to come, and what is in flight.  An
-- intent without an attempt is due since it came, and "modified" has it in that
-- order; only retries are in "due", and in "delayed" those that wait for their
-- not_before.  Each index costs every submission that is in it.

CREATE INDEX IF NOT EXISTS submission_intents_modified
    ON submission_intents (lease_name, last_modified_at, intent_id)
    WHERE next_attempt_at IS NOT NULL;

CREATE INDEX IF NOT EXISTS submission_intents_due
    ON submission_intents (lease_name, next_attempt_at, intent_id)
    WHERE next_attempt_at IS NOT NULL AND attempt_count > 0;

CREATE INDEX IF NOT EXISTS submission_intents_delayed
    ON submission_intents (lease_name, next_attempt_at, intent_id)
    WHERE next_attempt_at IS NOT NULL AND not_before IS NOT NULL
          AND attempt_count = 0;

CREATE INDEX IF NOT EXISTS submission_intents_inflight
    ON submission_intents (lease_name, inflight_epoch, intent_id)
    WHERE inflight_epoch IS NOT NULL;

-- By created_at, of a target and a status: the list.  Several targets or statuses
-- are merged.

CREATE INDEX IF NOT EXISTS submission_intents_list
    ON submission_intents (lease_name, submission_target, status, created_at,
                           intent_id);

-- By completed_at, in the same way: the list with by=completed, the failures, and
-- what is to be stripped.  What has been stripped is in the second, so that nobody
-- passes it by to strip what comes after it.  To forget, and to list, both are read.

CREATE INDEX IF NOT EXISTS submission_intents_completed
    ON submission_intents (lease_name, submission_target, status, completed_at,
                           intent_id)
    WHERE completed_at IS NOT NULL AND stripped_at IS NULL;

CREATE INDEX IF NOT EXISTS submission_intents_stripped
    ON submission_intents (lease_name, submission_target, status, completed_at,
                           intent_id)
    WHERE stripped_at IS NOT NULL;

-- What was rejected or exhausted for one reason, by completed_at.

CREATE INDEX IF NOT EXISTS submission_intents_rejected
    ON submission_intents (lease_name, submission_target, final_outcome_reason,
                           completed_at, intent_id)
    WHERE status = 'rejected';

CREATE INDEX IF NOT EXISTS submission_intents_exhausted
    ON submission_intents (lease_name, submission_target, exhausted_reason,
                           completed_at, intent_id)
    WHERE status = 'exhausted';

-- The replays of an intent, and the events of its webhooks.

CREATE INDEX IF NOT EXISTS submission_intents_replays
    ON submission_intents (lease_name, replay_of, intent_id)
    WHERE replay_of IS NOT NULL;

CREATE INDEX IF NOT EXISTS submission_intents_events
    ON submission_intents (lease_name, event_of, intent_id)
    WHERE event_of IS NOT NULL;

-- http_status and answer: what the gateway said, the first 500 characters of it.

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
    http_status             INTEGER,
    answer                  TEXT,
    span_id                 TEXT,
    PRIMARY KEY (lease_name, intent_id, attempt_number)
) WITHOUT ROWID;

-- What an operator has set of a target; without a row it is open.
-- state: open, paused.  since, reason, actor: of that state.

CREATE TABLE IF NOT EXISTS submission_targets (
    lease_name              TEXT    NOT NULL,
    submission_target       TEXT    NOT NULL,
    state                   TEXT    NOT NULL,
    since                   INTEGER NOT NULL,
    reason                  TEXT,
    actor                   TEXT,
    PRIMARY KEY (lease_name, submission_target)
) WITHOUT ROWID;

-- The leader's numbers, written anew every few seconds.

CREATE TABLE IF NOT EXISTS submission_stats (
    lease_name              TEXT    NOT NULL PRIMARY KEY,
    lease_epoch             INTEGER NOT NULL,
    at                      INTEGER NOT NULL,
    stats                   TEXT    NOT NULL
);

-- Who did what, in the transaction that did it.  A page is by (at, seq).  The kinds
-- of action are few: an actor's are merged.

CREATE TABLE IF NOT EXISTS submission_audit (
    seq                     INTEGER NOT NULL PRIMARY KEY,
    lease_name              TEXT    NOT NULL,
    at                      INTEGER NOT NULL,
    actor                   TEXT    NOT NULL,
    address                 TEXT    NOT NULL,
    action                  TEXT    NOT NULL,
    object                  TEXT    NOT NULL,
    detail                  TEXT
);

CREATE INDEX IF NOT EXISTS submission_audit_at
    ON submission_audit (lease_name, at, seq);

CREATE INDEX IF NOT EXISTS submission_audit_action
    ON submission_audit (lease_name, action, at, seq);

CREATE INDEX IF NOT EXISTS submission_audit_actor
    ON submission_audit (lease_name, actor, action, at, seq);

-- Many intents at once, worked off in batches.
-- kind: replay, cancel.  filter: JSON, with what else was asked for.
-- max_intents: no more than so many.
-- state: running, done, stopped, failed.  position: how far it is, NULL at first.

CREATE TABLE IF NOT EXISTS submission_jobs (
    lease_name              TEXT    NOT NULL,
    kind                    TEXT    NOT NULL,
    job_id                  TEXT    NOT NULL,
    filter                  TEXT    NOT NULL,
    max_intents             INTEGER NOT NULL,
    state                   TEXT    NOT NULL,
    position                TEXT,
    seen_count              INTEGER NOT NULL DEFAULT 0,
    done_count              INTEGER NOT NULL DEFAULT 0,
    skipped_count           INTEGER NOT NULL DEFAULT 0,
    last_error              TEXT,
    actor                   TEXT    NOT NULL,
    created_at              INTEGER NOT NULL,
    started_at              INTEGER,
    last_modified_at        INTEGER NOT NULL,
    completed_at            INTEGER,
    PRIMARY KEY (lease_name, kind, job_id)
) WITHOUT ROWID;

-- The jobs that are not done yet, oldest first.

CREATE INDEX IF NOT EXISTS submission_jobs_running
    ON submission_jobs (lease_name, created_at, job_id)
    WHERE completed_at IS NULL;

-- All of them, by the time at which they were made.

CREATE INDEX IF NOT EXISTS submission_jobs_list
    ON submission_jobs (lease_name, kind, created_at, job_id);

-- Recurring intents.  body: JSON, without the payload.  source: api, configuration.
-- revision: grows with each change, and is the etag.
-- next_run_at: the planned time, NULL if none is to come; it stays while paused.
-- last_run_at: the planned time of last_intent_id; where times that were missed are
-- made up in parts, that of the last part, and last_intent_id follows with the end.
-- last_error: why it does not run, until a leader finds that it can, or it is changed.

CREATE TABLE IF NOT EXISTS submission_schedules (
    lease_name              TEXT    NOT NULL,
    schedule_id             TEXT    NOT NULL,
    submission_target       TEXT    NOT NULL,
    body                    TEXT    NOT NULL,
    payload_hash            TEXT    NOT NULL,
    source                  TEXT    NOT NULL,
    revision                INTEGER NOT NULL,
    next_run_at             INTEGER,
    last_run_at             INTEGER,
    last_fired_at           INTEGER,
    last_intent_id          TEXT,
    fired_count             INTEGER NOT NULL DEFAULT 0,
    skipped_count           INTEGER NOT NULL DEFAULT 0,
    missed_count            INTEGER NOT NULL DEFAULT 0,
    paused_at               INTEGER,
    pause_reason            TEXT,
    last_error              TEXT,
    actor                   TEXT    NOT NULL,
    created_at              INTEGER NOT NULL,
    last_modified_at        INTEGER NOT NULL,
    payload                 BLOB    NOT NULL,
    PRIMARY KEY (lease_name, schedule_id)
);

-- The schedules that are due, oldest first.

CREATE INDEX IF NOT EXISTS submission_schedules_due
    ON submission_schedules (lease_name, next_run_at, schedule_id)
    WHERE next_run_at IS NOT NULL AND paused_at IS NULL
          AND last_error IS NULL;

-- Intents that applications leave in their own transactions; the leader moves what
-- is committed, from the lowest seq on.  Columns that are not named have defaults.
-- What is not a valid intent goes into submission_inbox_refused.

CREATE TABLE IF NOT EXISTS submission_inbox (
    seq                     INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    lease_name              TEXT    NOT NULL
                                    DEFAULT 'submission-manager-executor',
    intent_id               TEXT    NOT NULL,
    submission_target       TEXT    NOT NULL,
    payload                 BLOB    NOT NULL,
    not_before              INTEGER,
    traceparent             TEXT,
    tracestate              TEXT,
    created_at              INTEGER NOT NULL
                                    DEFAULT (CAST(round((julianday('now')
                                             - 2440587.5) * 86400000)
                                             AS INTEGER) * 1000)
);

CREATE INDEX IF NOT EXISTS submission_inbox_next
    ON submission_inbox (lease_name, seq);

-- reason: a code, as POST would have answered; detail: in words.

CREATE TABLE IF NOT EXISTS submission_inbox_refused (
    lease_name              TEXT    NOT NULL,
    refused_at              INTEGER NOT NULL,
    seq                     INTEGER NOT NULL,
    intent_id               TEXT    NOT NULL,
    submission_target       TEXT    NOT NULL,
    payload                 BLOB    NOT NULL,
    not_before              INTEGER,
    traceparent             TEXT,
    tracestate              TEXT,
    created_at              INTEGER NOT NULL,
    reason                  TEXT    NOT NULL,
    detail                  TEXT,
    PRIMARY KEY (lease_name, refused_at, seq)
);

INSERT INTO submission_schema (version, compatible_from)
    SELECT 1, 1 WHERE NOT EXISTS (SELECT 1 FROM submission_schema);

INSERT INTO submission_schema (version, compatible_from)
    SELECT 2, 1
    WHERE NOT EXISTS (SELECT 1 FROM submission_schema WHERE version >= 2);
