-- The schema on SQL Server, 2019 or later, and Azure SQL: version 1.  Every batch may run
-- again on a database that has it.  sql/install.sh runs this file as the owner, then every
-- other file beside it, then role.sql; before that, it brings a database of an older
-- version up by migrate/*.sql.
--
-- Ids are compared byte for byte, by a binary collation.  SQL Server ignores spaces at the
-- end of a text; nginx has trimmed those of ids, and holders are compared by their length,
-- too.  An nvarchar takes the longest value in UTF-16: each of the 200 characters of an
-- id, or 128 of a target, may be two units.  Names of leases are ASCII, which keeps the
-- key of intents below the 900 bytes that a clustered key may have.
--
-- Times are SYSUTCDATETIME() in microseconds, as nginx's cursors are.  With a seventh
-- digit, a page would repeat or leave out what has the same time as the end of the page
-- before.
--
-- "make lint" checks collations, SET options and datetime2(6).

SET ANSI_NULLS ON;
SET QUOTED_IDENTIFIER ON;
SET ANSI_PADDING ON;
SET ANSI_WARNINGS ON;
SET ARITHABORT ON;
SET CONCAT_NULL_YIELDS_NULL ON;
SET NUMERIC_ROUNDABORT OFF;
GO

-- What the database must be like.  Error numbers from 57000 on are our own.

IF OBJECT_ID(N'submission.submission_schema') IS NOT NULL
    IF EXISTS (SELECT 1 FROM submission.submission_schema WHERE version > 1)
        THROW 57005, N'the schema in this database is newer than these files: take those of the newer release',
              1;
GO

BEGIN TRY
    EXECUTE (N'IF (SELECT COUNT(*) FROM OPENJSON(N''[1]'')) <> 1 SELECT 1');
END TRY
BEGIN CATCH
    THROW 57006, N'OPENJSON is not there: the compatibility level of this database has to be 130 or more (ALTER DATABASE CURRENT SET COMPATIBILITY_LEVEL = 150)',
          1;
END CATCH;
GO

IF EXISTS (SELECT 1 FROM sys.databases
           WHERE name = DB_NAME() AND delayed_durability = 2)
    THROW 57004, N'DELAYED_DURABILITY is FORCED in this database, so that commits may be lost: ALTER DATABASE CURRENT SET DELAYED_DURABILITY = DISABLED',
          1;
GO

-- Without READ_COMMITTED_SNAPSHOT, readers and writers wait for one another, and may
-- deadlock.  It can be set only while nobody else uses the database.

IF EXISTS (SELECT 1 FROM sys.databases
           WHERE name = DB_NAME() AND is_read_committed_snapshot_on = 0)
    BEGIN TRY
        EXECUTE (N'ALTER DATABASE CURRENT SET READ_COMMITTED_SNAPSHOT ON
                   WITH NO_WAIT');
    END TRY
    BEGIN CATCH
        THROW 57007, N'READ_COMMITTED_SNAPSHOT is off in this database, and could not be set: end all other sessions, or run ALTER DATABASE CURRENT SET READ_COMMITTED_SNAPSHOT ON WITH ROLLBACK IMMEDIATE as its owner, which ends their transactions',
              1;
    END CATCH;
GO

IF SCHEMA_ID(N'submission') IS NULL
    EXECUTE (N'CREATE SCHEMA submission');
GO

-- The version of the schema, and the first version whose modules may use it.

IF OBJECT_ID(N'submission.submission_schema') IS NULL
    CREATE TABLE submission.submission_schema (
        version                 int             NOT NULL,
        compatible_from         int             NOT NULL
    );
GO

-- inflight_since: no intent in flight was begun before this time; NULL if that is not
-- known.  A recovery begins there, and so does not pass the ghosts that attempts leave in
-- the index for as long as an open transaction may want to see them.

IF OBJECT_ID(N'submission.submission_manager_leases') IS NULL
    CREATE TABLE submission.submission_manager_leases (
        lease_name              varchar(64)     COLLATE Latin1_General_BIN2 NOT NULL,
        holder_id               nvarchar(128)   COLLATE Latin1_General_BIN2 NOT NULL,
        lease_epoch             bigint          NOT NULL,
        acquired_at             datetime2(6)    NOT NULL,
        renewed_at              datetime2(6)    NOT NULL,
        expires_at              datetime2(6)    NOT NULL,
        inflight_since          datetime2(6)    NULL,
        CONSTRAINT submission_manager_leases_pk PRIMARY KEY (lease_name)
    );
GO

-- config: a hash of each part of the instance's configuration.  config_since: when that
-- was first told.
-- instance_key: a number that no other instance has.  other_key: that of the instance that
-- has written to the row before.  shared_at: when two instances were last seen to take turns
-- with the row, because they have the same holder_id.

IF OBJECT_ID(N'submission.submission_manager_candidates') IS NULL
    CREATE TABLE submission.submission_manager_candidates (
        lease_name              varchar(64)     COLLATE Latin1_General_BIN2 NOT NULL,
        holder_id               nvarchar(128)   COLLATE Latin1_General_BIN2 NOT NULL,
        started_at              datetime2(6)    NOT NULL,
        heartbeat_at            datetime2(6)    NOT NULL,
        expires_at              datetime2(6)    NOT NULL,
        role                    nvarchar(32)    COLLATE Latin1_General_BIN2 NOT NULL,
        version                 nvarchar(64)    COLLATE Latin1_General_BIN2 NOT NULL,
        wake_url                nvarchar(1024)  COLLATE Latin1_General_BIN2 NULL,
        config                  varchar(512)    COLLATE Latin1_General_BIN2 NULL,
        config_since            datetime2(6)    NULL,
        instance_key            bigint          NULL,
        other_key               bigint          NULL,
        shared_at               datetime2(6)    NULL,
        events                  nvarchar(4000)  COLLATE Latin1_General_BIN2 NULL,
        CONSTRAINT submission_manager_candidates_pk
            PRIMARY KEY (lease_name, holder_id)
    );
GO

-- Hashes of the names of each instance's targets, 8 digits each, so that others know which
-- targets exist elsewhere.  A heartbeat does not write to it.

IF OBJECT_ID(N'submission.submission_manager_target_names') IS NULL
    CREATE TABLE submission.submission_manager_target_names (
        lease_name              varchar(64)     COLLATE Latin1_General_BIN2 NOT NULL,
        holder_id               nvarchar(128)   COLLATE Latin1_General_BIN2 NOT NULL,
        names_hash              varchar(16)     COLLATE Latin1_General_BIN2 NOT NULL,
        names                   varchar(max)    COLLATE Latin1_General_BIN2 NOT NULL,
        CONSTRAINT submission_manager_target_names_pk
            PRIMARY KEY (lease_name, holder_id)
    );
GO

-- An intent's status is pending, accepted, rejected, exhausted or canceled.
--
-- not_before: as the client gave it, which may be in the past.  The first attempt is due,
-- and a deadline counts, from not_before or created_at, whichever is later.
-- retry_schedule: delays in milliseconds, separated by spaces, in place of retry_delay_ms
-- and the columns that belong to it.
-- notify: the webhooks of the contract, and the ends that they are told of: words such as
-- "rejected:ops", separated by spaces.
-- contract_version: the first version of the module that understands the contract; NULL
-- is 1.  SQL compares nothing else of a contract but the deadline: the rules are in
-- src/core/model/sm_contract.c.
-- replay_of: the intent that this one replays.
-- replay_count, replayed_as: how often this one was replayed, and the ids of its replays,
-- the newest first, each with a line feed after it, as far as there is room.  They stay
-- when retention removes a replay; NULL means never.
-- event_of: this intent is an event of a webhook, and tells of that intent.  Its target is
-- "webhook <name>", and its id begins with a space, as no id of a client does.
-- stripped_at: when the payload was emptied and the attempts were deleted.

IF OBJECT_ID(N'submission.submission_intents') IS NULL
    CREATE TABLE submission.submission_intents (
        lease_name              varchar(64)     COLLATE Latin1_General_BIN2 NOT NULL,
        intent_id               nvarchar(400)   COLLATE Latin1_General_BIN2 NOT NULL,
        submission_target       nvarchar(256)   COLLATE Latin1_General_BIN2 NOT NULL,
        payload_hash            varchar(64)     COLLATE Latin1_General_BIN2 NOT NULL,
        gateway_type            varchar(16)     COLLATE Latin1_General_BIN2 NOT NULL,
        gateway_url             nvarchar(1024)  COLLATE Latin1_General_BIN2 NOT NULL,
        policy                  varchar(16)     COLLATE Latin1_General_BIN2 NOT NULL,
        max_acceptance_seconds  bigint          NULL,
        max_attempts            bigint          NULL,
        terminal_outcomes       nvarchar(1000)  COLLATE Latin1_General_BIN2 NOT NULL,
        retry_delay_ms          bigint          NOT NULL,
        retry_max_ms            bigint          NOT NULL,
        retry_backoff_pct       bigint          NOT NULL,
        retry_jitter_pct        bigint          NOT NULL,
        status                  varchar(16)     COLLATE Latin1_General_BIN2 NOT NULL,
        final_outcome_status    varchar(16)     COLLATE Latin1_General_BIN2 NULL,
        final_outcome_reason    nvarchar(200)   COLLATE Latin1_General_BIN2 NULL,
        exhausted_reason        varchar(32)     COLLATE Latin1_General_BIN2 NULL,
        attempt_count           bigint          NOT NULL,
        created_at              datetime2(6)    NOT NULL,
        completed_at            datetime2(6)    NULL,
        last_modified_at        datetime2(6)    NOT NULL,
        next_attempt_at         datetime2(6)    NULL,
        inflight_epoch          bigint          NULL,
        inflight_holder         nvarchar(128)   COLLATE Latin1_General_BIN2 NULL,
        inflight_at             datetime2(6)    NULL,
        payload                 varbinary(max)  NOT NULL,
        not_before              datetime2(6)    NULL,
        retry_schedule          varchar(500)    COLLATE Latin1_General_BIN2 NULL,
        notify                  nvarchar(1000)  COLLATE Latin1_General_BIN2 NULL,
        contract_version        int             NULL,
        replay_of               nvarchar(400)   COLLATE Latin1_General_BIN2 NULL,
        event_of                nvarchar(400)   COLLATE Latin1_General_BIN2 NULL,
        traceparent             varchar(64)     COLLATE Latin1_General_BIN2 NULL,
        tracestate              varchar(512)    COLLATE Latin1_General_BIN2 NULL,
        last_error              nvarchar(1000)  COLLATE Latin1_General_BIN2 NULL,
        stripped_at             datetime2(6)    NULL,
        replay_count            bigint          NULL,
        replayed_as             nvarchar(500)   COLLATE Latin1_General_BIN2 NULL,
        CONSTRAINT submission_intents_pk PRIMARY KEY (lease_name, intent_id)
    );
GO

-- http_status, answer: the status of the gateway's answer, and its first 500 characters.

IF OBJECT_ID(N'submission.submission_attempts') IS NULL
    CREATE TABLE submission.submission_attempts (
        lease_name              varchar(64)     COLLATE Latin1_General_BIN2 NOT NULL,
        intent_id               nvarchar(400)   COLLATE Latin1_General_BIN2 NOT NULL,
        attempt_number          bigint          NOT NULL,
        lease_epoch             bigint          NOT NULL,
        holder_id               nvarchar(128)   COLLATE Latin1_General_BIN2 NOT NULL,
        started_at              datetime2(6)    NOT NULL,
        finished_at             datetime2(6)    NOT NULL,
        outcome_status          varchar(16)     COLLATE Latin1_General_BIN2 NOT NULL,
        outcome_reason          nvarchar(200)   COLLATE Latin1_General_BIN2 NULL,
        error                   nvarchar(1000)  COLLATE Latin1_General_BIN2 NULL,
        http_status             int             NULL,
        answer                  nvarchar(1000)  COLLATE Latin1_General_BIN2 NULL,
        span_id                 varchar(16)     COLLATE Latin1_General_BIN2 NULL,
        CONSTRAINT submission_attempts_pk
            PRIMARY KEY (lease_name, intent_id, attempt_number)
    );
GO

-- The queue: the intents that have an attempt to come, and those in flight.  An intent
-- without an attempt is due since it was submitted, and "modified" has it in that order.
-- "due" has only retries, and "delayed" has intents that wait for their not_before.  Every
-- submission that is in an index pays for it.  Each index is made if it is missing;
-- Babelfish adds a suffix to its name.

IF NOT EXISTS (SELECT 1 FROM sys.indexes
               WHERE object_id = OBJECT_ID(N'submission.submission_intents')
                     AND name LIKE N'submission[_]intents[_]modified%')
    CREATE INDEX submission_intents_modified
        ON submission.submission_intents (lease_name, last_modified_at,
                                          intent_id)
        INCLUDE (submission_target, next_attempt_at, policy, created_at,
                 not_before, max_acceptance_seconds)
        WHERE next_attempt_at IS NOT NULL;
GO

IF NOT EXISTS (SELECT 1 FROM sys.indexes
               WHERE object_id = OBJECT_ID(N'submission.submission_intents')
                     AND name LIKE N'submission[_]intents[_]due%')
    CREATE INDEX submission_intents_due
        ON submission.submission_intents (lease_name, next_attempt_at,
                                          intent_id)
        INCLUDE (submission_target, attempt_count, policy, created_at,
                 not_before, max_acceptance_seconds)
        WHERE next_attempt_at IS NOT NULL AND attempt_count > 0;
GO

IF NOT EXISTS (SELECT 1 FROM sys.indexes
               WHERE object_id = OBJECT_ID(N'submission.submission_intents')
                     AND name LIKE N'submission[_]intents[_]delayed%')
    CREATE INDEX submission_intents_delayed
        ON submission.submission_intents (lease_name, next_attempt_at,
                                          intent_id)
        INCLUDE (submission_target, not_before, attempt_count, policy,
                 created_at, max_acceptance_seconds)
        WHERE next_attempt_at IS NOT NULL AND not_before IS NOT NULL
              AND attempt_count = 0;
GO

IF NOT EXISTS (SELECT 1 FROM sys.indexes
               WHERE object_id = OBJECT_ID(N'submission.submission_intents')
                     AND name LIKE N'submission[_]intents[_]begun%')
    CREATE INDEX submission_intents_begun
        ON submission.submission_intents (lease_name, inflight_at, intent_id)
        INCLUDE (inflight_epoch)
        WHERE inflight_epoch IS NOT NULL;
GO

-- The list, by created_at for each target and status.  Several targets or statuses are
-- merged.

IF NOT EXISTS (SELECT 1 FROM sys.indexes
               WHERE object_id = OBJECT_ID(N'submission.submission_intents')
                     AND name LIKE N'submission[_]intents[_]list%')
    CREATE INDEX submission_intents_list
        ON submission.submission_intents (lease_name, submission_target,
                                          status, created_at, intent_id);
GO

-- The list with by=completed, the failures, and what is to be stripped, by completed_at
-- for each target and status.  What has been stripped is in the second index, so that
-- stripping does not pass it again.  Forgetting reads the second, the list reads both.

IF NOT EXISTS (SELECT 1 FROM sys.indexes
               WHERE object_id = OBJECT_ID(N'submission.submission_intents')
                     AND name LIKE N'submission[_]intents[_]completed%')
    CREATE INDEX submission_intents_completed
        ON submission.submission_intents (lease_name, submission_target,
                                          status, completed_at, intent_id)
        INCLUDE (stripped_at)
        WHERE completed_at IS NOT NULL AND stripped_at IS NULL;
GO

IF NOT EXISTS (SELECT 1 FROM sys.indexes
               WHERE object_id = OBJECT_ID(N'submission.submission_intents')
                     AND name LIKE N'submission[_]intents[_]stripped%')
    CREATE INDEX submission_intents_stripped
        ON submission.submission_intents (lease_name, submission_target,
                                          status, completed_at, intent_id)
        WHERE stripped_at IS NOT NULL;
GO

-- What was rejected or exhausted for one reason, by completed_at.  The id is not named:
-- every index has the clustered key at its end, and with the id a key could be longer than
-- the 1,700 bytes that it may have.

IF NOT EXISTS (SELECT 1 FROM sys.indexes
               WHERE object_id = OBJECT_ID(N'submission.submission_intents')
                     AND name LIKE N'submission[_]intents[_]rejected%')
    CREATE INDEX submission_intents_rejected
        ON submission.submission_intents (lease_name, submission_target,
                                          final_outcome_reason, completed_at)
        WHERE status = 'rejected';
GO

IF NOT EXISTS (SELECT 1 FROM sys.indexes
               WHERE object_id = OBJECT_ID(N'submission.submission_intents')
                     AND name LIKE N'submission[_]intents[_]exhausted%')
    CREATE INDEX submission_intents_exhausted
        ON submission.submission_intents (lease_name, submission_target,
                                          exhausted_reason, completed_at)
        WHERE status = 'exhausted';
GO

-- Failures that were not replayed, by completed_at.

IF NOT EXISTS (SELECT 1 FROM sys.indexes
               WHERE object_id = OBJECT_ID(N'submission.submission_intents')
                     AND name LIKE N'submission[_]intents[_]failed%')
    CREATE INDEX submission_intents_failed
        ON submission.submission_intents (lease_name, submission_target,
                                          status, completed_at, intent_id)
        INCLUDE (replay_count)
        WHERE replay_count IS NULL AND status IN ('rejected', 'exhausted');
GO

-- The replays of an intent, and the events of its webhooks.

IF NOT EXISTS (SELECT 1 FROM sys.indexes
               WHERE object_id = OBJECT_ID(N'submission.submission_intents')
                     AND name LIKE N'submission[_]intents[_]replays%')
    CREATE INDEX submission_intents_replays
        ON submission.submission_intents (lease_name, replay_of)
        WHERE replay_of IS NOT NULL;
GO

IF NOT EXISTS (SELECT 1 FROM sys.indexes
               WHERE object_id = OBJECT_ID(N'submission.submission_intents')
                     AND name LIKE N'submission[_]intents[_]events%')
    CREATE INDEX submission_intents_events
        ON submission.submission_intents (lease_name, event_of)
        WHERE event_of IS NOT NULL;
GO

-- What an operator has set for a target; a target without a row is open.
-- state: open or paused.
-- since, reason, actor: when, why and by whom the state was set.

IF OBJECT_ID(N'submission.submission_targets') IS NULL
    CREATE TABLE submission.submission_targets (
        lease_name              varchar(64)     COLLATE Latin1_General_BIN2 NOT NULL,
        submission_target       nvarchar(256)   COLLATE Latin1_General_BIN2 NOT NULL,
        state                   varchar(16)     COLLATE Latin1_General_BIN2 NOT NULL,
        since                   datetime2(6)    NOT NULL,
        reason                  nvarchar(500)   COLLATE Latin1_General_BIN2 NULL,
        actor                   nvarchar(200)   COLLATE Latin1_General_BIN2 NULL,
        CONSTRAINT submission_targets_pk PRIMARY KEY (lease_name, submission_target)
    );
GO

-- The leader's numbers, which it replaces every few seconds.

IF OBJECT_ID(N'submission.submission_stats') IS NULL
    CREATE TABLE submission.submission_stats (
        lease_name              varchar(64)     COLLATE Latin1_General_BIN2 NOT NULL,
        lease_epoch             bigint          NOT NULL,
        at                      datetime2(6)    NOT NULL,
        stats                   varbinary(max)  NOT NULL,
        CONSTRAINT submission_stats_pk PRIMARY KEY (lease_name)
    );
GO

-- Who did what, written in the transaction that did it.  A page is by (at, seq).  There are
-- few kinds of action: those of an actor are merged.

IF OBJECT_ID(N'submission.submission_audit') IS NULL
    CREATE TABLE submission.submission_audit (
        seq                     bigint          IDENTITY(1, 1) NOT NULL,
        lease_name              varchar(64)     COLLATE Latin1_General_BIN2 NOT NULL,
        at                      datetime2(6)    NOT NULL,
        actor                   nvarchar(200)   COLLATE Latin1_General_BIN2 NOT NULL,
        address                 varchar(64)     COLLATE Latin1_General_BIN2 NOT NULL,
        action                  varchar(32)     COLLATE Latin1_General_BIN2 NOT NULL,
        object                  nvarchar(400)   COLLATE Latin1_General_BIN2 NOT NULL,
        detail                  nvarchar(2000)  COLLATE Latin1_General_BIN2 NULL,
        CONSTRAINT submission_audit_pk PRIMARY KEY (seq)
    );
GO

IF NOT EXISTS (SELECT 1 FROM sys.indexes
               WHERE object_id = OBJECT_ID(N'submission.submission_audit')
                     AND name LIKE N'submission[_]audit[_]at%')
    CREATE INDEX submission_audit_at
        ON submission.submission_audit (lease_name, at, seq);
GO

IF NOT EXISTS (SELECT 1 FROM sys.indexes
               WHERE object_id = OBJECT_ID(N'submission.submission_audit')
                     AND name LIKE N'submission[_]audit[_]action%')
    CREATE INDEX submission_audit_action
        ON submission.submission_audit (lease_name, action, at, seq);
GO

IF NOT EXISTS (SELECT 1 FROM sys.indexes
               WHERE object_id = OBJECT_ID(N'submission.submission_audit')
                     AND name LIKE N'submission[_]audit[_]actor%')
    CREATE INDEX submission_audit_actor
        ON submission.submission_audit (lease_name, actor, action, at, seq);
GO

-- Jobs that replay or cancel many intents, in batches.
-- kind: replay or cancel.
-- filter: JSON, which also has what else was asked for.
-- max_intents: the number of intents after which the job ends.
-- state: running, done, stopped or failed.
-- position: how far the job is; NULL at first.

IF OBJECT_ID(N'submission.submission_jobs') IS NULL
    CREATE TABLE submission.submission_jobs (
        lease_name              varchar(64)     COLLATE Latin1_General_BIN2 NOT NULL,
        kind                    varchar(16)     COLLATE Latin1_General_BIN2 NOT NULL,
        job_id                  nvarchar(400)   COLLATE Latin1_General_BIN2 NOT NULL,
        filter                  nvarchar(4000)  COLLATE Latin1_General_BIN2 NOT NULL,
        max_intents             bigint          NOT NULL,
        state                   varchar(16)     COLLATE Latin1_General_BIN2 NOT NULL,
        position                nvarchar(2000)  COLLATE Latin1_General_BIN2 NULL,
        seen_count              bigint          NOT NULL DEFAULT 0,
        done_count              bigint          NOT NULL DEFAULT 0,
        skipped_count           bigint          NOT NULL DEFAULT 0,
        last_error              nvarchar(1000)  COLLATE Latin1_General_BIN2 NULL,
        actor                   nvarchar(200)   COLLATE Latin1_General_BIN2 NOT NULL,
        created_at              datetime2(6)    NOT NULL,
        started_at              datetime2(6)    NULL,
        last_modified_at        datetime2(6)    NOT NULL,
        completed_at            datetime2(6)    NULL,
        CONSTRAINT submission_jobs_pk PRIMARY KEY (lease_name, kind, job_id)
    );
GO

-- The jobs that are not done yet, oldest first.

IF NOT EXISTS (SELECT 1 FROM sys.indexes
               WHERE object_id = OBJECT_ID(N'submission.submission_jobs')
                     AND name LIKE N'submission[_]jobs[_]running%')
    CREATE INDEX submission_jobs_running
        ON submission.submission_jobs (lease_name, created_at, job_id)
        WHERE completed_at IS NULL;
GO

-- All of them, by the time at which they were made.

IF NOT EXISTS (SELECT 1 FROM sys.indexes
               WHERE object_id = OBJECT_ID(N'submission.submission_jobs')
                     AND name LIKE N'submission[_]jobs[_]list%')
    CREATE INDEX submission_jobs_list
        ON submission.submission_jobs (lease_name, kind, created_at, job_id);
GO

-- Schedules, which make intents again and again.
-- body: JSON, without the payload.
-- source: api or configuration.
-- revision: grows with each change, and is the etag.
-- next_run_at: the next planned time, NULL if there is none; it stays while paused.
-- last_run_at: the planned time of last_intent_id.  While missed times are made up in
-- parts, it is that of the last part, and last_intent_id follows with the last of them.
-- last_error: why the schedule does not run, until a leader finds that it can, or it is
-- changed.

IF OBJECT_ID(N'submission.submission_schedules') IS NULL
    CREATE TABLE submission.submission_schedules (
        lease_name              varchar(64)     COLLATE Latin1_General_BIN2 NOT NULL,
        schedule_id             nvarchar(400)   COLLATE Latin1_General_BIN2 NOT NULL,
        submission_target       nvarchar(256)   COLLATE Latin1_General_BIN2 NOT NULL,
        body                    nvarchar(4000)  COLLATE Latin1_General_BIN2 NOT NULL,
        payload_hash            varchar(64)     COLLATE Latin1_General_BIN2 NOT NULL,
        source                  varchar(16)     COLLATE Latin1_General_BIN2 NOT NULL,
        revision                bigint          NOT NULL,
        next_run_at             datetime2(6)    NULL,
        last_run_at             datetime2(6)    NULL,
        last_fired_at           datetime2(6)    NULL,
        last_intent_id          nvarchar(400)   COLLATE Latin1_General_BIN2 NULL,
        fired_count             bigint          NOT NULL DEFAULT 0,
        skipped_count           bigint          NOT NULL DEFAULT 0,
        missed_count            bigint          NOT NULL DEFAULT 0,
        paused_at               datetime2(6)    NULL,
        pause_reason            nvarchar(500)   COLLATE Latin1_General_BIN2 NULL,
        last_error              nvarchar(500)   COLLATE Latin1_General_BIN2 NULL,
        actor                   nvarchar(200)   COLLATE Latin1_General_BIN2 NOT NULL,
        created_at              datetime2(6)    NOT NULL,
        last_modified_at        datetime2(6)    NOT NULL,
        payload                 varbinary(max)  NOT NULL,
        CONSTRAINT submission_schedules_pk PRIMARY KEY (lease_name, schedule_id)
    );
GO

-- The schedules that are due, oldest first.

IF NOT EXISTS (SELECT 1 FROM sys.indexes
               WHERE object_id = OBJECT_ID(N'submission.submission_schedules')
                     AND name LIKE N'submission[_]schedules[_]due%')
    CREATE INDEX submission_schedules_due
        ON submission.submission_schedules (lease_name, next_run_at,
                                            schedule_id)
        WHERE next_run_at IS NOT NULL AND paused_at IS NULL
              AND last_error IS NULL;
GO

-- Intents that applications submit in their own transactions.  The leader moves what is
-- committed, from the lowest seq on.  What is not a valid intent goes into
-- submission_inbox_refused; the columns take longer values than those of an intent.

IF OBJECT_ID(N'submission.submission_inbox') IS NULL
    CREATE TABLE submission.submission_inbox (
        seq                     bigint          IDENTITY(1, 1) NOT NULL,
        lease_name              varchar(64)     COLLATE Latin1_General_BIN2 NOT NULL,
        intent_id               nvarchar(4000)  COLLATE Latin1_General_BIN2 NOT NULL,
        submission_target       nvarchar(4000)  COLLATE Latin1_General_BIN2 NOT NULL,
        payload                 varbinary(max)  NOT NULL,
        not_before              datetime2(6)    NULL,
        traceparent             nvarchar(4000)  COLLATE Latin1_General_BIN2 NULL,
        tracestate              nvarchar(4000)  COLLATE Latin1_General_BIN2 NULL,
        created_at              datetime2(6)    NOT NULL,
        CONSTRAINT submission_inbox_pk PRIMARY KEY (seq)
    );
GO

IF NOT EXISTS (SELECT 1 FROM sys.indexes
               WHERE object_id = OBJECT_ID(N'submission.submission_inbox')
                     AND name LIKE N'submission[_]inbox[_]next%')
    CREATE INDEX submission_inbox_next
        ON submission.submission_inbox (lease_name, seq);
GO

-- reason: the code with which POST would have answered.
-- detail: the reason in words.

IF OBJECT_ID(N'submission.submission_inbox_refused') IS NULL
    CREATE TABLE submission.submission_inbox_refused (
        lease_name              varchar(64)     COLLATE Latin1_General_BIN2 NOT NULL,
        refused_at              datetime2(6)    NOT NULL,
        seq                     bigint          NOT NULL,
        intent_id               nvarchar(4000)  COLLATE Latin1_General_BIN2 NOT NULL,
        submission_target       nvarchar(4000)  COLLATE Latin1_General_BIN2 NOT NULL,
        payload                 varbinary(max)  NOT NULL,
        not_before              datetime2(6)    NULL,
        traceparent             nvarchar(4000)  COLLATE Latin1_General_BIN2 NULL,
        tracestate              nvarchar(4000)  COLLATE Latin1_General_BIN2 NULL,
        created_at              datetime2(6)    NOT NULL,
        reason                  varchar(64)     COLLATE Latin1_General_BIN2 NOT NULL,
        detail                  nvarchar(1000)  COLLATE Latin1_General_BIN2 NULL,
        CONSTRAINT submission_inbox_refused_pk PRIMARY KEY (lease_name, refused_at, seq)
    );
GO

-- The clock of all procedures.

CREATE OR ALTER FUNCTION submission.submission_now ()
RETURNS datetime2(6)
WITH SCHEMABINDING
AS
BEGIN
    RETURN CAST(SYSUTCDATETIME() AS datetime2(6));
END
GO

-- Turns a time into microseconds since 1970, as nginx has it, and back.

CREATE OR ALTER FUNCTION submission.submission_us (@at datetime2(6))
RETURNS bigint
WITH SCHEMABINDING
AS
BEGIN
    RETURN DATEDIFF_BIG(microsecond, CAST('1970-01-01' AS datetime2(6)), @at);
END
GO

CREATE OR ALTER FUNCTION submission.submission_at (@us bigint)
RETURNS datetime2(6)
WITH SCHEMABINDING
AS
BEGIN
    RETURN DATEADD(microsecond, CAST(@us % 1000000 AS int),
               DATEADD(second, CAST(@us / 1000000 % 86400 AS int),
                   DATEADD(day, CAST(@us / 86400000000 AS int),
                           CAST('1970-01-01' AS datetime2(6)))));
END
GO

-- Clips a text to @length UTF-16 units, or to one less if it would end with half of a
-- character.

CREATE OR ALTER FUNCTION submission.submission_left
    (@text nvarchar(max), @length int)
RETURNS nvarchar(max)
WITH SCHEMABINDING
AS
BEGIN
    RETURN LEFT(@text COLLATE Latin1_General_BIN2,
               @length - CASE WHEN UNICODE(SUBSTRING(
                                       @text COLLATE Latin1_General_BIN2,
                                       @length, 1)) BETWEEN 55296 AND 56319
                              THEN 1 ELSE 0 END);
END
GO
