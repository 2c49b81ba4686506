-- The schema on SQLite, version 1.  Times are microseconds since 1970 in UTC, by
-- SQLite's own clock.  Every statement may run again on a database that already has its
-- object.  On an older database, migrate/*.sql runs before this file, in the same
-- transaction.

-- This table has the version of the schema, and the oldest version of a module that may
-- use it.

CREATE TABLE IF NOT EXISTS submission_schema (
    version                 INTEGER NOT NULL,
    compatible_from         INTEGER NOT NULL
);

CREATE TABLE IF NOT EXISTS submission_manager_leases (
    lease_name              TEXT    NOT NULL PRIMARY KEY,
    holder_id               TEXT    NOT NULL,
    lease_epoch             INTEGER NOT NULL,
    acquired_at             INTEGER NOT NULL,
    renewed_at              INTEGER NOT NULL,
    expires_at              INTEGER NOT NULL
);

-- config has a hash of each part of the instance's configuration, and config_since is
-- when it was first told.  instance_key is a number that no other instance has, and
-- other_key is that of the instance that has written to the row before; shared_at is
-- when two instances were last seen to take turns, because they have the same holder_id.

CREATE TABLE IF NOT EXISTS submission_manager_candidates (
    lease_name              TEXT    NOT NULL,
    holder_id               TEXT    NOT NULL,
    started_at              INTEGER NOT NULL,
    heartbeat_at            INTEGER NOT NULL,
    expires_at              INTEGER NOT NULL,
    role                    TEXT    NOT NULL,
    version                 TEXT    NOT NULL,
    wake_url                TEXT,
    config                  TEXT,
    config_since            INTEGER,
    instance_key            INTEGER,
    other_key               INTEGER,
    shared_at               INTEGER,
    events                  TEXT,
    PRIMARY KEY (lease_name, holder_id)
) WITHOUT ROWID;

-- Hashes of the names of each instance's targets, 8 digits each, so that others know
-- which targets exist elsewhere.  A heartbeat does not write to it.

CREATE TABLE IF NOT EXISTS submission_manager_target_names (
    lease_name              TEXT    NOT NULL,
    holder_id               TEXT    NOT NULL,
    names_hash              TEXT    NOT NULL,
    names                   TEXT    NOT NULL,
    PRIMARY KEY (lease_name, holder_id)
) WITHOUT ROWID;

-- An intent's status is pending, accepted, rejected, exhausted or canceled.
--
-- not_before is kept as it was given, and may be in the past.  The first attempt is
-- due, and a deadline counts, from not_before or created_at, whichever is later.
-- retry_schedule has delays in milliseconds, separated by spaces; it replaces
-- retry_delay_ms and the columns after it.
-- notify has the webhooks of the contract and the ends that they are told: words such
-- as "rejected:ops", separated by spaces.
-- contract_version is the first version of the module that understands the contract;
-- NULL means 1.  The rules are in src/core/model/sm_contract.c.
-- replay_of is the intent that this one replays.
-- replay_count is how often this one was replayed, and replayed_as has the ids of its
-- replays, the newest first, each with a line feed after it, as far as there is room.
-- Both stay when retention removes a replay; NULL means never.
-- event_of marks an event, a message to a webhook about the end of that intent.  Its
-- target is "webhook <name>", and its id begins with a space; no id of a client does.
-- stripped_at is when the payload was emptied and the attempts were removed.
--
-- The payload is the last column, because columns after a long one are slow to read.

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
    event_of                TEXT,
    traceparent             TEXT,
    tracestate              TEXT,
    last_error              TEXT,
    stripped_at             INTEGER,
    replay_count            INTEGER,
    replayed_as             TEXT,
    payload                 BLOB    NOT NULL,
    PRIMARY KEY (lease_name, intent_id)
);

-- The indexes of the queue have the intents with an attempt to come, and those in
-- flight.  An intent that was never tried is due since it was created, and "modified"
-- has it in that order.  "due" has only retries, and "delayed" only intents that wait
-- for their not_before, because each index slows down every submission that is in it.

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

CREATE INDEX IF NOT EXISTS submission_intents_begun
    ON submission_intents (lease_name, inflight_at, intent_id)
    WHERE inflight_epoch IS NOT NULL;

-- This view defines once how an intent is read.  SQLite merges it into the statement
-- that reads it.

CREATE VIEW IF NOT EXISTS submission_intents_shown AS
SELECT rowid AS row_id, lease_name, intent_id, submission_target, status,
       created_at, attempt_count, next_attempt_at, completed_at,
       final_outcome_reason, exhausted_reason, payload_hash, not_before,
       inflight_epoch IS NOT NULL AS in_flight, last_error,
       iif(status = 'pending',
           coalesce(final_outcome_reason, final_outcome_status), NULL)
       AS last_reason,
       replay_of, replayed_as, replay_count,
       stripped_at IS NOT NULL AS stripped, traceparent
FROM submission_intents;

-- This view has the events of intents that have ended, one for each webhook that is to
-- be told, with the columns that intent_ended.sql and restored.sql insert, in their
-- order.  An event is an intent of the webhook's own target, and the body of the
-- message is made from its payload.  The URL and the retries are taken from the
-- configuration when it is sent.

CREATE VIEW IF NOT EXISTS submission_intents_told AS
SELECT i.lease_name,
       ' ' || substr(w.value, length(i.status) + 2) || ' '
       || lower(hex(randomblob(16))) AS intent_id,
       'webhook ' || substr(w.value, length(i.status) + 2) AS submission_target,
       '' AS payload_hash, 'webhook' AS gateway_type, '' AS gateway_url,
       'max_attempts' AS policy, 1000000 AS max_attempts,
       '' AS terminal_outcomes, 5000 AS retry_delay_ms, 0 AS retry_max_ms,
       100 AS retry_backoff_pct, 0 AS retry_jitter_pct, 'pending' AS status,
       0 AS attempt_count, i.last_modified_at AS created_at,
       i.last_modified_at, i.last_modified_at AS next_attempt_at,
       i.intent_id AS event_of, i.traceparent, i.tracestate,
       CAST(json_object('id', i.intent_id, 'target', i.submission_target,
                        'status', i.status, 'created', i.created_at,
                        'attempts', i.attempt_count,
                        'completed', i.completed_at,
                        'reason', i.final_outcome_reason,
                        'exhausted', i.exhausted_reason,
                        'before', i.not_before, 'error', i.last_error,
                        'replay', i.replay_of,
                        'trace', i.traceparent) AS BLOB) AS payload
FROM submission_intents AS i
     CROSS JOIN json_each('[' || replace(json_quote(i.notify), ' ', '","')
                          || ']') AS w
WHERE i.notify IS NOT NULL AND w.value LIKE i.status || ':%';

-- The list is ordered by created_at for each target and status.  A list of several
-- targets or statuses merges them.

CREATE INDEX IF NOT EXISTS submission_intents_list
    ON submission_intents (lease_name, submission_target, status, created_at,
                           intent_id);

-- These are ordered by completed_at in the same way, for the list with by=completed,
-- for failures, and for intents that are to be stripped.  Stripped intents are in the
-- second index, so that stripping does not pass over them again.  Removing and listing
-- read both.

CREATE INDEX IF NOT EXISTS submission_intents_completed
    ON submission_intents (lease_name, submission_target, status, completed_at,
                           intent_id)
    WHERE completed_at IS NOT NULL AND stripped_at IS NULL;

CREATE INDEX IF NOT EXISTS submission_intents_stripped
    ON submission_intents (lease_name, submission_target, status, completed_at,
                           intent_id)
    WHERE stripped_at IS NOT NULL;

-- Searches by reason find rejected and exhausted intents here, by completed_at.

CREATE INDEX IF NOT EXISTS submission_intents_rejected
    ON submission_intents (lease_name, submission_target, final_outcome_reason,
                           completed_at, intent_id)
    WHERE status = 'rejected';

CREATE INDEX IF NOT EXISTS submission_intents_exhausted
    ON submission_intents (lease_name, submission_target, exhausted_reason,
                           completed_at, intent_id)
    WHERE status = 'exhausted';

-- Failures that were not replayed, by completed_at: those that may need a hand.

CREATE INDEX IF NOT EXISTS submission_intents_failed
    ON submission_intents (lease_name, submission_target, status, completed_at,
                           intent_id)
    WHERE replay_count IS NULL AND status IN ('rejected', 'exhausted');

-- These find the replays of an intent, and the events of its webhooks.

CREATE INDEX IF NOT EXISTS submission_intents_replays
    ON submission_intents (lease_name, replay_of, intent_id)
    WHERE replay_of IS NOT NULL;

CREATE INDEX IF NOT EXISTS submission_intents_events
    ON submission_intents (lease_name, event_of, intent_id)
    WHERE event_of IS NOT NULL;

-- http_status is the gateway's status, and answer has the first 500 characters of its
-- answer.

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

-- An operator has set a target to a state, open or paused; since, reason and actor tell
-- about that state.  A target without a row is open.

CREATE TABLE IF NOT EXISTS submission_targets (
    lease_name              TEXT    NOT NULL,
    submission_target       TEXT    NOT NULL,
    state                   TEXT    NOT NULL,
    since                   INTEGER NOT NULL,
    reason                  TEXT,
    actor                   TEXT,
    PRIMARY KEY (lease_name, submission_target)
) WITHOUT ROWID;

-- These are the leader's statistics, which the leader replaces every few seconds.

CREATE TABLE IF NOT EXISTS submission_stats (
    lease_name              TEXT    NOT NULL PRIMARY KEY,
    lease_epoch             INTEGER NOT NULL,
    at                      INTEGER NOT NULL,
    stats                   TEXT    NOT NULL
);

-- An entry of the audit is written in the transaction of the action itself.  Pages are
-- ordered by (at, seq); the pages of an actor merge the few kinds of actions.

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

-- A job replays or cancels many intents in batches.
--
-- kind is replay or cancel.  filter is JSON, with the other options of the request.
-- max_intents is how many intents the job may change at most.
-- state is running, done, stopped or failed.  position is how far the job has come; it
-- is NULL at first.

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

-- This finds the jobs that are running, the oldest first.

CREATE INDEX IF NOT EXISTS submission_jobs_running
    ON submission_jobs (lease_name, created_at, job_id)
    WHERE completed_at IS NULL;

-- This lists all jobs by the time of their creation.

CREATE INDEX IF NOT EXISTS submission_jobs_list
    ON submission_jobs (lease_name, kind, created_at, job_id);

-- A schedule creates intents at planned times.
--
-- body is JSON, without the payload.  source is api or configuration.
-- revision grows with each change, and is the etag.
-- next_run_at is the planned time, or NULL if there is none; a pause does not change
-- it.
-- last_run_at is the planned time of last_intent_id.  While missed times are made up
-- in parts, it is that of the latest part, and last_intent_id changes with the last
-- part.
-- last_error says why the schedule does not run, until the schedule is changed or a
-- leader finds that it can run.

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

-- This finds the schedules that are due, the oldest first.

CREATE INDEX IF NOT EXISTS submission_schedules_due
    ON submission_schedules (lease_name, next_run_at, schedule_id)
    WHERE next_run_at IS NOT NULL AND paused_at IS NULL
          AND last_error IS NULL;

-- Applications put intents into the inbox in their own transactions, and the leader
-- moves committed rows, from the lowest seq on.  A row that is not a valid intent goes
-- into submission_inbox_refused.

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

-- reason is the code that POST would have answered, and detail is the message.

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

UPDATE submission_schema
SET version = 1,
    compatible_from = 1
WHERE version < 1;
