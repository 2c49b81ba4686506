-- The schema on SQL Server, 2019 or later, and Azure SQL.  Every batch may run
-- again on a database that has it.  Run as the owner, then every other file
-- beside this one, then role.sql: sql/install.sh does.
--
-- Ids are compared byte for byte: a binary collation.  SQL Server takes no notice
-- of spaces at the end; nginx has trimmed them, and of holders the length counts.
-- nvarchar is as long as the UTF-16 of the longest: 200 characters of an id, 128
-- of a target, may be two units each.  Names of leases are ASCII; that keeps the
-- key of intents below the 900 bytes that a clustered one may have.
--
-- Times are SYSUTCDATETIME(), of microseconds, as nginx's cursors are: with a
-- seventh digit a page would begin again, or leave out, what shares its time with
-- the end of the page before.
--
-- Collations, SET options and datetime2(6) are looked at by "make lint".

SET ANSI_NULLS ON;
SET QUOTED_IDENTIFIER ON;
SET ANSI_PADDING ON;
SET ANSI_WARNINGS ON;
SET ARITHABORT ON;
SET CONCAT_NULL_YIELDS_NULL ON;
SET NUMERIC_ROUNDABORT OFF;
GO

-- What this database has to be.  Numbers from 57000 are our own.

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

-- Without it readers and writers wait for one another, and may deadlock.  It can
-- be set while nobody else is in the database.

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

IF OBJECT_ID(N'submission.submission_schema') IS NULL
    CREATE TABLE submission.submission_schema (
        version                 int             NOT NULL
    );
GO

IF OBJECT_ID(N'submission.submission_manager_leases') IS NULL
    CREATE TABLE submission.submission_manager_leases (
        lease_name              varchar(64)     COLLATE Latin1_General_BIN2 NOT NULL,
        holder_id               nvarchar(128)   COLLATE Latin1_General_BIN2 NOT NULL,
        lease_epoch             bigint          NOT NULL,
        acquired_at             datetime2(6)    NOT NULL,
        renewed_at              datetime2(6)    NOT NULL,
        expires_at              datetime2(6)    NOT NULL,
        CONSTRAINT submission_manager_leases_pk PRIMARY KEY (lease_name)
    );
GO

IF OBJECT_ID(N'submission.submission_manager_candidates') IS NULL
    CREATE TABLE submission.submission_manager_candidates (
        lease_name              varchar(64)     COLLATE Latin1_General_BIN2 NOT NULL,
        holder_id               nvarchar(128)   COLLATE Latin1_General_BIN2 NOT NULL,
        started_at              datetime2(6)    NOT NULL,
        heartbeat_at            datetime2(6)    NOT NULL,
        expires_at              datetime2(6)    NOT NULL,
        role                    nvarchar(32)    COLLATE Latin1_General_BIN2 NOT NULL,
        version                 nvarchar(64)    COLLATE Latin1_General_BIN2 NOT NULL,
        CONSTRAINT submission_manager_candidates_pk
            PRIMARY KEY (lease_name, holder_id)
    );
GO

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
        CONSTRAINT submission_intents_pk PRIMARY KEY (lease_name, intent_id)
    );
GO

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
        CONSTRAINT submission_attempts_pk
            PRIMARY KEY (lease_name, intent_id, attempt_number)
    );
GO

-- Tables of the first release had seven digits of a second.  Their indexes are
-- made anew below.

IF EXISTS (SELECT 1 FROM sys.columns
           WHERE object_id = OBJECT_ID(N'submission.submission_intents')
                 AND name = N'created_at' AND scale = 7)
BEGIN
    DROP INDEX IF EXISTS submission_intents_modified
        ON submission.submission_intents;
    DROP INDEX IF EXISTS submission_intents_due
        ON submission.submission_intents;
    DROP INDEX IF EXISTS submission_intents_list
        ON submission.submission_intents;

    -- Babelfish does not parse it, and has no need of it

    EXECUTE (N'
        ALTER TABLE submission.submission_manager_leases
            ALTER COLUMN acquired_at datetime2(6) NOT NULL;
        ALTER TABLE submission.submission_manager_leases
            ALTER COLUMN renewed_at datetime2(6) NOT NULL;
        ALTER TABLE submission.submission_manager_leases
            ALTER COLUMN expires_at datetime2(6) NOT NULL;
        ALTER TABLE submission.submission_manager_candidates
            ALTER COLUMN started_at datetime2(6) NOT NULL;
        ALTER TABLE submission.submission_manager_candidates
            ALTER COLUMN heartbeat_at datetime2(6) NOT NULL;
        ALTER TABLE submission.submission_manager_candidates
            ALTER COLUMN expires_at datetime2(6) NOT NULL;
        ALTER TABLE submission.submission_attempts
            ALTER COLUMN started_at datetime2(6) NOT NULL;
        ALTER TABLE submission.submission_attempts
            ALTER COLUMN finished_at datetime2(6) NOT NULL;
        ALTER TABLE submission.submission_intents
            ALTER COLUMN completed_at datetime2(6) NULL;
        ALTER TABLE submission.submission_intents
            ALTER COLUMN last_modified_at datetime2(6) NOT NULL;
        ALTER TABLE submission.submission_intents
            ALTER COLUMN next_attempt_at datetime2(6) NULL;
        ALTER TABLE submission.submission_intents
            ALTER COLUMN inflight_at datetime2(6) NULL;
        ALTER TABLE submission.submission_intents
            ALTER COLUMN created_at datetime2(6) NOT NULL;
    ');
END
GO

-- The schedule: what still has an attempt to come, and what is in flight.  An
-- intent without an attempt is due since it came, and "modified" has it in that
-- order; only retries are in "due".  Each index costs every submission.  Each is
-- made where it is missing; Babelfish adds to its name.

IF NOT EXISTS (SELECT 1 FROM sys.indexes
               WHERE object_id = OBJECT_ID(N'submission.submission_intents')
                     AND name LIKE N'submission[_]intents[_]modified%')
    CREATE INDEX submission_intents_modified
        ON submission.submission_intents (lease_name, last_modified_at,
                                          intent_id)
        INCLUDE (submission_target, next_attempt_at)
        WHERE next_attempt_at IS NOT NULL;
GO

IF NOT EXISTS (SELECT 1 FROM sys.indexes
               WHERE object_id = OBJECT_ID(N'submission.submission_intents')
                     AND name LIKE N'submission[_]intents[_]due%')
    CREATE INDEX submission_intents_due
        ON submission.submission_intents (lease_name, next_attempt_at,
                                          intent_id)
        INCLUDE (submission_target, attempt_count)
        WHERE next_attempt_at IS NOT NULL AND attempt_count > 0;
GO

IF NOT EXISTS (SELECT 1 FROM sys.indexes
               WHERE object_id = OBJECT_ID(N'submission.submission_intents')
                     AND name LIKE N'submission[_]intents[_]begun%')
    CREATE INDEX submission_intents_begun
        ON submission.submission_intents (lease_name, inflight_at, intent_id)
        INCLUDE (inflight_epoch)
        WHERE inflight_epoch IS NOT NULL;
GO

DROP INDEX IF EXISTS submission_intents_inflight
    ON submission.submission_intents;
GO

-- inflight_since: nothing of the lease that is in flight was begun earlier; NULL:
-- that is not known.  A recovery begins there, and passes by none of the ghosts
-- that attempts leave in the index for as long as a transaction elsewhere may
-- want to see them.

IF NOT EXISTS (SELECT 1 FROM sys.columns
               WHERE object_id = OBJECT_ID(N'submission.submission_manager_leases')
                     AND name = N'inflight_since')
    ALTER TABLE submission.submission_manager_leases
        ADD inflight_since datetime2(6) NULL;
GO

IF NOT EXISTS (SELECT 1 FROM sys.indexes
               WHERE object_id = OBJECT_ID(N'submission.submission_intents')
                     AND name LIKE N'submission[_]intents[_]list%')
    CREATE INDEX submission_intents_list
        ON submission.submission_intents (lease_name, submission_target,
                                          status, created_at, intent_id);
GO

IF NOT EXISTS (SELECT 1 FROM submission.submission_schema)
    INSERT INTO submission.submission_schema (version) VALUES (1);
GO


-- The clock of everything, and times as microseconds since 1970, as they cross
-- to nginx and back.

CREATE OR ALTER FUNCTION submission.submission_now ()
RETURNS datetime2(6)
AS
BEGIN
    RETURN CAST(SYSUTCDATETIME() AS datetime2(6));
END
GO

CREATE OR ALTER FUNCTION submission.submission_us (@at datetime2(6))
RETURNS bigint
AS
BEGIN
    RETURN DATEDIFF_BIG(microsecond, CAST('1970-01-01' AS datetime2(6)), @at);
END
GO

CREATE OR ALTER FUNCTION submission.submission_at (@us bigint)
RETURNS datetime2(6)
AS
BEGIN
    RETURN DATEADD(microsecond, CAST(@us % 1000000 AS int),
               DATEADD(second, CAST(@us / 1000000 % 86400 AS int),
                   DATEADD(day, CAST(@us / 86400000000 AS int),
                           CAST('1970-01-01' AS datetime2(6)))));
END
GO
BEGIN TRANSACTION;
GO

-- What is in flight under epochs before @lease_epoch, strictly after
-- (@after_at, @after_id), in the order of its begin.  One row, without an id, has
-- the time.  It begins where the lease says that nothing is older.

SET ANSI_NULLS ON;
SET QUOTED_IDENTIFIER ON;
SET ANSI_PADDING ON;
SET ANSI_WARNINGS ON;
SET ARITHABORT ON;
SET CONCAT_NULL_YIELDS_NULL ON;
SET NUMERIC_ROUNDABORT OFF;
GO

CREATE OR ALTER PROCEDURE submission.submission_attempts_in_doubt
    @lease_name varchar(64),
    @holder_id nvarchar(128),
    @lease_epoch bigint,
    @after_at bigint,
    @after_id nvarchar(400),
    @limit bigint
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;

    DECLARE @now datetime2(6), @at datetime2(6), @since datetime2(6);

    EXECUTE submission.submission_fence_read @lease_name, @holder_id,
                                             @lease_epoch, @now OUTPUT;

    SET @at = submission.submission_at(@after_at);

    SELECT @since = inflight_since
    FROM submission.submission_manager_leases
    WHERE lease_name = @lease_name;

    IF @since > @at
    BEGIN
        SET @at = @since;
        SET @after_id = N'';
    END;

    SELECT submission.submission_us(@now) AS now, NULL AS intent_id,
           NULL AS number, NULL AS inflight_epoch, NULL AS inflight_holder,
           NULL AS inflight_at, NULL AS created_at,
           NULL AS submission_target, NULL AS gateway_type,
           NULL AS gateway_url, NULL AS policy,
           NULL AS max_acceptance_seconds, NULL AS max_attempts,
           NULL AS terminal_outcomes, NULL AS retry_delay_ms,
           NULL AS retry_max_ms, NULL AS retry_backoff_pct,
           NULL AS retry_jitter_pct
    UNION ALL
    SELECT NULL, i.intent_id, i.attempt_count + 1, i.inflight_epoch,
           i.inflight_holder, submission.submission_us(i.inflight_at),
           submission.submission_us(i.created_at),
           i.submission_target, i.gateway_type, i.gateway_url, i.policy,
           i.max_acceptance_seconds, i.max_attempts, i.terminal_outcomes,
           i.retry_delay_ms, i.retry_max_ms, i.retry_backoff_pct,
           i.retry_jitter_pct
    FROM (
             SELECT TOP (@limit) *
             FROM submission.submission_intents AS s
                  WITH (FORCESEEK (submission_intents_begun
                                   (lease_name, inflight_at)))
             WHERE s.lease_name = @lease_name AND s.inflight_epoch IS NOT NULL
                   AND s.inflight_epoch < @lease_epoch
                   AND s.inflight_at >= @at
                   AND (s.inflight_at > @at OR s.intent_id > @after_id)
             ORDER BY s.inflight_at, s.intent_id
         ) AS i
    ORDER BY inflight_at, intent_id;
END
GO
-- A turn of the executor, in one transaction: what has ended is recorded, and
-- what is due is begun; either may be [].  One row of the answer, without a
-- place, has the time, in the others n is the place in a document.
--
-- The answer, with its payloads, is sent after the commit: a leader that stops
-- reading it keeps no lock.  What may change after the commit is in @sent and
-- @found; contracts and payloads never do.
--
-- @ended: [{"n","id","number","epoch","holder","started","finished","outcome",
-- "reason","error","status","exhausted","delay"}].  Appends attempts and moves
-- their intents, where this attempt of an intent is in flight; one without an
-- outcome was not sent: it is as due as it was, or, with a delay, that much
-- later than now.  outcome is 4: applied, with the next attempt in due_at; what
-- is not in the answer was not.  Over-long text is clipped.
--
-- @due: ["id"].  Marks in flight those that are pending and due.  outcome is
-- 1: begun, 2: early, 3: past its deadline, and exhausted, 0: a contract that
-- is not understood, as src/core/sm_contract.c has it; that must not be begun,
-- as nobody would know how to go on with it.  What is not in the answer has
-- nothing to be tried.

SET ANSI_NULLS ON;
SET QUOTED_IDENTIFIER ON;
SET ANSI_PADDING ON;
SET ANSI_WARNINGS ON;
SET ARITHABORT ON;
SET CONCAT_NULL_YIELDS_NULL ON;
SET NUMERIC_ROUNDABORT OFF;
GO

CREATE OR ALTER PROCEDURE submission.submission_attempts_turn
    @lease_name varchar(64),
    @holder_id nvarchar(128),
    @lease_epoch bigint,
    @ended nvarchar(max),
    @due nvarchar(max)
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;

    DECLARE @now datetime2(6);

    DECLARE @sent TABLE (
        n          bigint NOT NULL,
        id         nvarchar(400) COLLATE Latin1_General_BIN2 NOT NULL
                   PRIMARY KEY,
        number     bigint NOT NULL,
        epoch      bigint NOT NULL,
        holder     nvarchar(128) COLLATE Latin1_General_BIN2 NOT NULL,
        started    bigint NULL,
        finished   bigint NULL,
        outcome    varchar(16) COLLATE Latin1_General_BIN2 NULL,
        reason     nvarchar(200) COLLATE Latin1_General_BIN2 NULL,
        error      nvarchar(1000) COLLATE Latin1_General_BIN2 NULL,
        status     varchar(16) COLLATE Latin1_General_BIN2 NULL,
        exhausted  varchar(32) COLLATE Latin1_General_BIN2 NULL,
        delay      bigint NULL,
        next_at    datetime2(6) NULL
    );

    DECLARE @found TABLE (
        id       nvarchar(400) COLLATE Latin1_General_BIN2 NOT NULL PRIMARY KEY,
        n        bigint NOT NULL,
        due_at   datetime2(6) NOT NULL,
        number   bigint NOT NULL,
        outcome  int NOT NULL
    );

    BEGIN TRANSACTION;

    EXECUTE submission.submission_fence @lease_name, @holder_id, @lease_epoch,
                                        @now OUTPUT;

    IF @ended <> N'[]'
    BEGIN
        -- of two of the same intent, the first

        INSERT INTO @sent (n, id, number, epoch, holder, started, finished,
                           outcome, reason, error, status, exhausted, delay,
                           next_at)
        SELECT x.n, x.id, x.number, x.epoch, x.holder, x.started, x.finished,
               x.outcome, LEFT(x.reason, 200), LEFT(x.error, 1000), x.status,
               x.exhausted, x.delay,
               CASE WHEN x.outcome IS NULL AND x.delay IS NULL
                    THEN x.inflight_at
                    WHEN x.outcome IS NULL OR x.status = 'pending'
                    THEN DATEADD(millisecond, CAST(x.delay AS int), @now) END
        FROM (
                 SELECT r.*, i.inflight_at,
                        ROW_NUMBER() OVER (PARTITION BY i.intent_id
                                           ORDER BY r.n) AS nth
                 FROM OPENJSON(@ended) WITH (
                          n bigint '$.n',
                          id nvarchar(400) COLLATE Latin1_General_BIN2 '$.id',
                          number bigint '$.number',
                          epoch bigint '$.epoch',
                          holder nvarchar(128) COLLATE Latin1_General_BIN2 '$.holder',
                          started bigint '$.started',
                          finished bigint '$.finished',
                          outcome varchar(16) COLLATE Latin1_General_BIN2 '$.outcome',
                          reason nvarchar(max) COLLATE Latin1_General_BIN2 '$.reason',
                          error nvarchar(max) COLLATE Latin1_General_BIN2 '$.error',
                          status varchar(16) COLLATE Latin1_General_BIN2 '$.status',
                          exhausted varchar(32) COLLATE Latin1_General_BIN2 '$.exhausted',
                          delay bigint '$.delay'
                      ) AS r
                      CROSS APPLY (
                          SELECT TOP (1) *
                          FROM submission.submission_intents AS s
                               WITH (FORCESEEK (submission_intents_pk
                                                (lease_name, intent_id)))
                          WHERE s.lease_name = @lease_name
                                AND s.intent_id
                                    = r.id COLLATE Latin1_General_BIN2
                      ) AS i
                 WHERE i.status = 'pending' AND i.inflight_epoch = r.epoch
                       AND i.inflight_holder
                           = r.holder COLLATE Latin1_General_BIN2
                       AND i.attempt_count = r.number - 1
             ) AS x
        WHERE x.nth = 1;

        UPDATE i
        SET status = CASE WHEN r.outcome IS NULL THEN i.status
                          ELSE r.status END,
            final_outcome_status = CASE WHEN r.outcome IS NULL
                                        THEN i.final_outcome_status
                                        ELSE r.outcome END,
            final_outcome_reason = CASE WHEN r.outcome IS NULL
                                        THEN i.final_outcome_reason
                                        ELSE r.reason END,
            exhausted_reason = r.exhausted,
            attempt_count = i.attempt_count + CASE WHEN r.outcome IS NULL THEN 0
                                                   ELSE 1 END,
            completed_at = CASE WHEN r.outcome IS NOT NULL
                                     AND r.status <> 'pending' THEN @now END,
            last_modified_at = @now,
            next_attempt_at = r.next_at,
            inflight_epoch = NULL,
            inflight_holder = NULL,
            inflight_at = NULL
        FROM @sent AS r
             INNER LOOP JOIN submission.submission_intents AS i
                             WITH (INDEX (submission_intents_pk))
             ON i.lease_name = @lease_name AND i.intent_id = r.id;

        INSERT INTO submission.submission_attempts (
            lease_name, intent_id, attempt_number, lease_epoch, holder_id,
            started_at, finished_at, outcome_status, outcome_reason, error
        )
        SELECT @lease_name, r.id, r.number, r.epoch, r.holder,
               submission.submission_at(r.started),
               submission.submission_at(r.finished), r.outcome, r.reason,
               r.error
        FROM @sent AS r
        WHERE r.outcome IS NOT NULL;
    END;

    IF @due <> N'[]'
    BEGIN
        INSERT INTO @found (id, n, due_at, number, outcome)
        SELECT i.intent_id, r.n, i.next_attempt_at, i.attempt_count + 1,
               CASE WHEN i.next_attempt_at > @now
                    THEN 2
                    WHEN NOT (i.gateway_type IN ('sms', 'push', 'http')
                              AND (i.policy = 'one_shot'
                                   OR (i.policy = 'deadline'
                                       AND COALESCE(i.max_acceptance_seconds, 0)
                                           BETWEEN 1 AND 31536000)
                                   OR (i.policy = 'max_attempts'
                                       AND COALESCE(i.max_attempts, 0)
                                           BETWEEN 1 AND 1000000))
                              AND i.retry_delay_ms BETWEEN 1 AND 86400000
                              AND (i.retry_max_ms = 0
                                   OR i.retry_max_ms BETWEEN i.retry_delay_ms
                                                     AND 86400000)
                              AND i.retry_backoff_pct BETWEEN 100 AND 10000
                              AND i.retry_jitter_pct BETWEEN 0 AND 100
                              AND ((i.gateway_url COLLATE Latin1_General_BIN2
                                    LIKE N'http://_%'
                                    AND SUBSTRING(i.gateway_url, 8, 1)
                                        NOT IN (N'/', N':'))
                                   OR (i.gateway_url COLLATE Latin1_General_BIN2
                                       LIKE N'https://_%'
                                       AND SUBSTRING(i.gateway_url, 9, 1)
                                           NOT IN (N'/', N':'))))
                    THEN 0
                    WHEN i.policy = 'deadline'
                         AND @now >= DATEADD(
                                 second, CAST(i.max_acceptance_seconds AS int),
                                 i.created_at)
                    THEN 3
                    ELSE 1 END
        FROM (
                 SELECT CAST(j.value AS nvarchar(400))
                        COLLATE Latin1_General_BIN2 AS id,
                        MIN(CAST(j.[key] AS bigint)) AS n
                 FROM OPENJSON(@due) AS j
                 GROUP BY CAST(j.value AS nvarchar(400))
                          COLLATE Latin1_General_BIN2
             ) AS r
             CROSS APPLY (
                 SELECT TOP (1) *
                 FROM submission.submission_intents AS s
                      WITH (FORCESEEK (submission_intents_pk
                                       (lease_name, intent_id)))
                 WHERE s.lease_name = @lease_name AND s.intent_id = r.id
             ) AS i
        WHERE i.status = 'pending' AND i.next_attempt_at IS NOT NULL
              AND i.inflight_epoch IS NULL;

        UPDATE i
        SET status = CASE f.outcome WHEN 3 THEN 'exhausted' ELSE i.status END,
            exhausted_reason = CASE f.outcome WHEN 3
                               THEN 'deadline_exceeded' END,
            completed_at = CASE f.outcome WHEN 3 THEN @now END,
            inflight_epoch = CASE f.outcome WHEN 1 THEN @lease_epoch END,
            inflight_holder = CASE f.outcome WHEN 1 THEN @holder_id END,
            inflight_at = CASE f.outcome WHEN 1 THEN @now END,
            next_attempt_at = NULL,
            last_modified_at = @now
        FROM @found AS f
             INNER LOOP JOIN submission.submission_intents AS i
                             WITH (INDEX (submission_intents_pk))
             ON i.lease_name = @lease_name AND i.intent_id = f.id
        WHERE f.outcome IN (1, 3);
    END;

    COMMIT TRANSACTION;

    -- of two NULLs without a type nobody knows what they are

    SELECT submission.submission_us(@now) AS now, CAST(NULL AS bigint) AS n,
           CAST(NULL AS bigint) AS outcome, CAST(NULL AS bigint) AS due_at,
           CAST(NULL AS bigint) AS created_at, CAST(NULL AS bigint) AS number,
           CAST(NULL AS nvarchar(256)) AS submission_target,
           CAST(NULL AS varchar(16)) AS gateway_type,
           CAST(NULL AS nvarchar(1024)) AS gateway_url,
           CAST(NULL AS varchar(16)) AS policy,
           CAST(NULL AS bigint) AS max_acceptance_seconds,
           CAST(NULL AS bigint) AS max_attempts,
           CAST(NULL AS nvarchar(1000)) AS terminal_outcomes,
           CAST(NULL AS bigint) AS retry_delay_ms,
           CAST(NULL AS bigint) AS retry_max_ms,
           CAST(NULL AS bigint) AS retry_backoff_pct,
           CAST(NULL AS bigint) AS retry_jitter_pct,
           CAST(NULL AS varbinary(max)) AS payload
    UNION ALL
    SELECT NULL, r.n, 4, submission.submission_us(r.next_at), NULL, NULL, NULL,
           NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
    FROM @sent AS r
    UNION ALL
    SELECT NULL, f.n, f.outcome, submission.submission_us(f.due_at),
           submission.submission_us(i.created_at), f.number,
           i.submission_target, i.gateway_type, i.gateway_url, i.policy,
           i.max_acceptance_seconds, i.max_attempts, i.terminal_outcomes,
           i.retry_delay_ms, i.retry_max_ms, i.retry_backoff_pct,
           i.retry_jitter_pct,
           CASE f.outcome WHEN 1 THEN i.payload END
    FROM @found AS f
         CROSS APPLY (
             SELECT TOP (1) *
             FROM submission.submission_intents AS s
                  WITH (FORCESEEK (submission_intents_pk
                                   (lease_name, intent_id)))
             WHERE s.lease_name = @lease_name AND s.intent_id = f.id
         ) AS i;
END
GO
-- An instance lives, for the duration, and has started at that time or, with
-- 0, now.  Those that ended without a word go.

SET ANSI_NULLS ON;
SET QUOTED_IDENTIFIER ON;
SET ANSI_PADDING ON;
SET ANSI_WARNINGS ON;
SET ARITHABORT ON;
SET CONCAT_NULL_YIELDS_NULL ON;
SET NUMERIC_ROUNDABORT OFF;
GO

CREATE OR ALTER PROCEDURE submission.submission_candidate_heartbeat
    @lease_name varchar(64),
    @holder_id nvarchar(128),
    @duration_ms bigint,
    @role nvarchar(32),
    @version nvarchar(64),
    @started_us bigint = 0
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;

    DECLARE @now datetime2(6), @started_at datetime2(6);
    DECLARE @expires_at datetime2(6);

    SET @now = submission.submission_now();
    SET @started_at = CASE @started_us WHEN 0 THEN @now
                      ELSE submission.submission_at(@started_us) END;
    SET @expires_at = DATEADD(millisecond, CAST(@duration_ms AS int), @now);

    BEGIN TRANSACTION;

    UPDATE submission.submission_manager_candidates
    SET started_at = @started_at,
        heartbeat_at = @now,
        expires_at = @expires_at,
        role = @role,
        version = @version
    WHERE lease_name = @lease_name AND holder_id = @holder_id;

    IF @@ROWCOUNT = 0
        INSERT INTO submission.submission_manager_candidates (
            lease_name, holder_id, started_at, heartbeat_at, expires_at, role,
            version
        )
        VALUES (@lease_name, @holder_id, @started_at, @now, @expires_at,
                @role, @version);

    COMMIT TRANSACTION;

    DELETE FROM submission.submission_manager_candidates
    WHERE lease_name = @lease_name AND expires_at <= @now;

    SELECT submission.submission_us(@now) AS now;
END
GO
-- An instance ends.

SET ANSI_NULLS ON;
SET QUOTED_IDENTIFIER ON;
SET ANSI_PADDING ON;
SET ANSI_WARNINGS ON;
SET ARITHABORT ON;
SET CONCAT_NULL_YIELDS_NULL ON;
SET NUMERIC_ROUNDABORT OFF;
GO

CREATE OR ALTER PROCEDURE submission.submission_candidate_remove
    @lease_name varchar(64),
    @holder_id nvarchar(128)
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;

    DELETE FROM submission.submission_manager_candidates
    WHERE lease_name = @lease_name AND holder_id = @holder_id;

    SELECT submission.submission_us(submission.submission_now()) AS now;
END
GO
-- The lease, and the live instances, oldest first: one row each.

SET ANSI_NULLS ON;
SET QUOTED_IDENTIFIER ON;
SET ANSI_PADDING ON;
SET ANSI_WARNINGS ON;
SET ARITHABORT ON;
SET CONCAT_NULL_YIELDS_NULL ON;
SET NUMERIC_ROUNDABORT OFF;
GO

CREATE OR ALTER PROCEDURE submission.submission_cluster_get
    @lease_name varchar(64)
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;

    DECLARE @now datetime2(6);

    SET @now = submission.submission_now();

    SELECT submission.submission_us(@now) AS now, CAST(0 AS bigint) AS held,
           l.holder_id, l.lease_epoch,
           submission.submission_us(l.acquired_at) AS acquired_at,
           submission.submission_us(l.renewed_at) AS renewed_at,
           submission.submission_us(l.expires_at) AS expires_at,
           c.holder_id AS candidate_holder_id, c.role, c.version,
           submission.submission_us(c.started_at) AS started_at,
           submission.submission_us(c.heartbeat_at) AS heartbeat_at,
           submission.submission_us(c.expires_at) AS candidate_expires_at
    FROM (SELECT 1 AS one) AS o
         LEFT JOIN submission.submission_manager_leases AS l
         ON l.lease_name = @lease_name AND l.lease_epoch > 0
         LEFT JOIN submission.submission_manager_candidates AS c
         ON c.lease_name = @lease_name AND c.expires_at > @now
    ORDER BY c.started_at, c.holder_id;
END
GO
-- A page of the attempts of one intent, newest first, before @before, or from
-- the newest on where that is NULL.  Each comes with the intent; one row without
-- an attempt where there is none.

SET ANSI_NULLS ON;
SET QUOTED_IDENTIFIER ON;
SET ANSI_PADDING ON;
SET ANSI_WARNINGS ON;
SET ARITHABORT ON;
SET CONCAT_NULL_YIELDS_NULL ON;
SET NUMERIC_ROUNDABORT OFF;
GO

CREATE OR ALTER PROCEDURE submission.submission_intent_history
    @lease_name varchar(64),
    @intent_id nvarchar(400),
    @limit bigint = 500,
    @before bigint = NULL
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;

    SET @before = COALESCE(@before, 9223372036854775807);

    SELECT CAST(0 AS bigint) AS n, i.intent_id, i.submission_target, i.status,
           submission.submission_us(i.created_at) AS created_at,
           i.attempt_count,
           submission.submission_us(i.next_attempt_at) AS next_attempt_at,
           submission.submission_us(i.completed_at) AS completed_at,
           i.final_outcome_reason, i.exhausted_reason, i.payload_hash,
           a.attempt_number,
           submission.submission_us(a.started_at) AS started_at,
           submission.submission_us(a.finished_at) AS finished_at,
           a.outcome_status, a.outcome_reason, a.error
    FROM submission.submission_intents AS i WITH (FORCESEEK)
         OUTER APPLY (
             SELECT TOP (@limit) s.attempt_number, s.started_at, s.finished_at,
                    s.outcome_status, s.outcome_reason, s.error
             FROM submission.submission_attempts AS s WITH (FORCESEEK)
             WHERE s.lease_name = @lease_name AND s.intent_id = @intent_id
                   AND s.attempt_number < @before
             ORDER BY s.attempt_number DESC
         ) AS a
    WHERE i.lease_name = @lease_name AND i.intent_id = @intent_id
    ORDER BY a.attempt_number DESC;
END
GO
-- The intents of a document of ids; "n" is an id's place in it.

SET ANSI_NULLS ON;
SET QUOTED_IDENTIFIER ON;
SET ANSI_PADDING ON;
SET ANSI_WARNINGS ON;
SET ARITHABORT ON;
SET CONCAT_NULL_YIELDS_NULL ON;
SET NUMERIC_ROUNDABORT OFF;
GO

CREATE OR ALTER PROCEDURE submission.submission_intents_get
    @lease_name varchar(64),
    @doc nvarchar(max)
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;

    SELECT CAST(r.[key] AS bigint) AS n, i.intent_id, i.submission_target, i.status,
           submission.submission_us(i.created_at) AS created_at,
           i.attempt_count,
           submission.submission_us(i.next_attempt_at) AS next_attempt_at,
           submission.submission_us(i.completed_at) AS completed_at,
           i.final_outcome_reason, i.exhausted_reason, i.payload_hash
    FROM OPENJSON(@doc) AS r
         CROSS APPLY (
             SELECT TOP (1) *
             FROM submission.submission_intents AS s
                  WITH (FORCESEEK (submission_intents_pk
                                   (lease_name, intent_id)))
             WHERE s.lease_name = @lease_name
                   AND s.intent_id = CAST(r.value AS nvarchar(400))
                                     COLLATE Latin1_General_BIN2
         ) AS i;
END
GO
-- A page of the list, newest first, strictly after (@created_at, @intent_id);
-- NULL is any status, any target, and from the newest on.  Keys are found first,
-- in the index alone, then the rows of one page.
--
-- Each target and status is a seek of its own, and so is the step from one
-- target to the next: a page costs the same however many intents there are.
-- With n targets and statuses, the newest "limit / sqrt(n)" of each are looked
-- at before.  If there are "limit" of these, none that is older than all of them
-- is on the page; and at most sqrt(n) targets and statuses can have more for it.
-- So no more than 2 * limit * sqrt(n) keys are read, not limit * n.

SET ANSI_NULLS ON;
SET QUOTED_IDENTIFIER ON;
SET ANSI_PADDING ON;
SET ANSI_WARNINGS ON;
SET ARITHABORT ON;
SET CONCAT_NULL_YIELDS_NULL ON;
SET NUMERIC_ROUNDABORT OFF;
GO

CREATE OR ALTER PROCEDURE submission.submission_intents_list
    @lease_name varchar(64),
    @status varchar(16),
    @target nvarchar(256),
    @limit bigint,
    @created_at bigint,
    @intent_id nvarchar(400)
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;

    DECLARE @at datetime2(6), @id nvarchar(400), @name nvarchar(256),
            @from datetime2(6), @from_id nvarchar(400), @n bigint,
            @part bigint, @skip bigint;

    -- where to look: a row for each target and status

    DECLARE @places TABLE (
        name nvarchar(256) COLLATE Latin1_General_BIN2 NOT NULL,
        status varchar(16) COLLATE Latin1_General_BIN2 NOT NULL,
        PRIMARY KEY (name, status)
    );

    DECLARE @keys TABLE (
        created_at datetime2(6) NOT NULL,
        intent_id nvarchar(400) COLLATE Latin1_General_BIN2 NOT NULL
    );

    SET @at = CASE WHEN @created_at IS NULL
                   THEN CAST('9999-12-31' AS datetime2(6))
                   ELSE submission.submission_at(@created_at) END;
    SET @id = COALESCE(@intent_id, N'');
    SET @name = @target;

    IF @name IS NULL
        SELECT @name = MIN(submission_target)
        FROM submission.submission_intents
        WHERE lease_name = @lease_name;

    WHILE @name IS NOT NULL
    BEGIN
        INSERT INTO @places (name, status)
        SELECT @name, s.status
        FROM (SELECT CAST('pending' AS varchar(16))
                     COLLATE Latin1_General_BIN2 AS status
              UNION ALL
              SELECT CAST('accepted' AS varchar(16))
                     COLLATE Latin1_General_BIN2
              UNION ALL
              SELECT CAST('rejected' AS varchar(16))
                     COLLATE Latin1_General_BIN2
              UNION ALL
              SELECT CAST('exhausted' AS varchar(16))
                     COLLATE Latin1_General_BIN2) AS s
        WHERE @status IS NULL OR s.status = @status;

        IF @target IS NOT NULL
            BREAK;

        SET @name = (SELECT MIN(submission_target)
                     FROM submission.submission_intents
                     WHERE lease_name = @lease_name
                           AND submission_target > @name);
    END;

    IF @target IS NULL
    BEGIN
        SET @n = (SELECT COUNT(*) FROM @places);
        SET @part = CASE WHEN @n = 0 THEN 1
                         ELSE CEILING(@limit / SQRT(@n)) END;
        SET @skip = @limit - 1;

        SELECT @from = k.created_at, @from_id = k.intent_id
        FROM @places AS t
             CROSS APPLY (
                 SELECT TOP (@part) p.created_at, p.intent_id
                 FROM submission.submission_intents AS p WITH (FORCESEEK)
                 WHERE p.lease_name = @lease_name
                       AND p.submission_target = t.name
                       AND p.status = t.status
                       AND p.created_at <= @at
                       AND (p.created_at < @at OR p.intent_id < @id)
                 ORDER BY p.created_at DESC, p.intent_id DESC
             ) AS k
        ORDER BY k.created_at DESC, k.intent_id DESC
        OFFSET @skip ROWS FETCH NEXT 1 ROWS ONLY;
    END;

    SET @from_id = COALESCE(@from_id, N'');
    SET @from = COALESCE(@from, CAST('0001-01-01' AS datetime2(6)));

    INSERT INTO @keys (created_at, intent_id)
    SELECT TOP (@limit) k.created_at, k.intent_id
    FROM @places AS t
         CROSS APPLY (
             SELECT TOP (@limit) p.created_at, p.intent_id
             FROM submission.submission_intents AS p WITH (FORCESEEK)
             WHERE p.lease_name = @lease_name
                   AND p.submission_target = t.name AND p.status = t.status
                   AND p.created_at <= @at AND p.created_at >= @from
                   AND (p.created_at < @at OR p.intent_id < @id)
                   AND (p.created_at > @from OR p.intent_id >= @from_id)
             ORDER BY p.created_at DESC, p.intent_id DESC
         ) AS k
    ORDER BY k.created_at DESC, k.intent_id DESC;

    SELECT CAST(0 AS bigint) AS n, i.intent_id, i.submission_target, i.status,
           submission.submission_us(i.created_at) AS created_at,
           i.attempt_count,
           submission.submission_us(i.next_attempt_at) AS next_attempt_at,
           submission.submission_us(i.completed_at) AS completed_at,
           i.final_outcome_reason, i.exhausted_reason, i.payload_hash
    FROM @keys AS g
         CROSS APPLY (
             SELECT TOP (1) *
             FROM submission.submission_intents AS q WITH (FORCESEEK)
             WHERE q.lease_name = @lease_name AND q.intent_id = g.intent_id
         ) AS i
    ORDER BY i.created_at DESC, i.intent_id DESC;
END
GO
-- A batch of intents.  One row of the answer, without an id, has the time, as
-- created_at, and comes first; the others are what was there before.  What is not
-- among them was created.
--
-- @doc: {"contracts":[{"c",...}],"rows":[{"n","id","c","hash","at","len"}]};
-- @bytes: all payloads, end to end.
--
-- Ids go in in their order.  Who finds that another one has just made an id
-- begins again, and sees it then.  Here and elsewhere: each row of a document is
-- a seek, by APPLY with TOP, whatever is known of the tables.

SET ANSI_NULLS ON;
SET QUOTED_IDENTIFIER ON;
SET ANSI_PADDING ON;
SET ANSI_WARNINGS ON;
SET ARITHABORT ON;
SET CONCAT_NULL_YIELDS_NULL ON;
SET NUMERIC_ROUNDABORT OFF;
GO

CREATE OR ALTER PROCEDURE submission.submission_intents_submit
    @lease_name varchar(64),
    @doc nvarchar(max),
    @bytes varbinary(max)
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;

    DECLARE @now datetime2(6), @tries int, @sent int, @inserted int,
            @found int;

    DECLARE @rows TABLE (
        n        int NOT NULL PRIMARY KEY,
        id       nvarchar(400) COLLATE Latin1_General_BIN2 NOT NULL,
        c        int NOT NULL,
        hash     varchar(64) COLLATE Latin1_General_BIN2 NOT NULL,
        at       int NOT NULL,
        len      int NOT NULL,
        nth      int NOT NULL
    );

    DECLARE @contracts TABLE (
        c        int NOT NULL PRIMARY KEY,
        target   nvarchar(256) COLLATE Latin1_General_BIN2 NULL,
        type     varchar(16) COLLATE Latin1_General_BIN2 NULL,
        url      nvarchar(1024) COLLATE Latin1_General_BIN2 NULL,
        policy   varchar(16) COLLATE Latin1_General_BIN2 NULL,
        seconds  bigint NULL,
        attempts bigint NULL,
        outcomes nvarchar(1000) COLLATE Latin1_General_BIN2 NULL,
        delay    bigint NULL,
        max      bigint NULL,
        backoff  bigint NULL,
        jitter   bigint NULL
    );

    DECLARE @created TABLE (
        id       nvarchar(400) COLLATE Latin1_General_BIN2 NOT NULL PRIMARY KEY
    );

    INSERT INTO @rows (n, id, c, hash, at, len, nth)
    SELECT r.n, r.id, r.c, r.hash, r.at, r.len,
           ROW_NUMBER() OVER (PARTITION BY r.id COLLATE Latin1_General_BIN2
                              ORDER BY r.n)
    FROM OPENJSON(@doc, '$.rows') WITH (
             n int '$.n',
             id nvarchar(400) COLLATE Latin1_General_BIN2 '$.id',
             c int '$.c',
             hash varchar(64) COLLATE Latin1_General_BIN2 '$.hash',
             at int '$.at',
             len int '$.len'
         ) AS r;

    SET @sent = @@ROWCOUNT;

    INSERT INTO @contracts (c, target, type, url, policy, seconds, attempts,
                            outcomes, delay, max, backoff, jitter)
    SELECT c.c, c.target, c.type, c.url, c.policy, c.seconds, c.attempts,
           c.outcomes, c.delay, c.max, c.backoff, c.jitter
    FROM OPENJSON(@doc, '$.contracts') WITH (
             c int '$.c',
             target nvarchar(256) COLLATE Latin1_General_BIN2 '$.target',
             type varchar(16) COLLATE Latin1_General_BIN2 '$.type',
             url nvarchar(1024) COLLATE Latin1_General_BIN2 '$.url',
             policy varchar(16) COLLATE Latin1_General_BIN2 '$.policy',
             seconds bigint '$.seconds',
             attempts bigint '$.attempts',
             outcomes nvarchar(1000) COLLATE Latin1_General_BIN2 '$.outcomes',
             delay bigint '$.delay',
             max bigint '$.max',
             backoff bigint '$.backoff',
             jitter bigint '$.jitter'
         ) AS c;

    SET @tries = 0;

    WHILE 1 = 1
    BEGIN
        BEGIN TRY
            DELETE FROM @created;

            BEGIN TRANSACTION;

            SET @now = submission.submission_now();

            INSERT INTO submission.submission_intents (
                lease_name, intent_id, payload_hash, payload,
                submission_target, gateway_type, gateway_url, policy,
                max_acceptance_seconds, max_attempts, terminal_outcomes,
                retry_delay_ms, retry_max_ms, retry_backoff_pct,
                retry_jitter_pct, status, attempt_count, created_at,
                last_modified_at, next_attempt_at
            )
            OUTPUT inserted.intent_id INTO @created (id)
            SELECT @lease_name, r.id, r.hash,
                   CAST(SUBSTRING(@bytes, r.at + 1, r.len) AS varbinary(max)),
                   c.target, c.type, c.url, c.policy, c.seconds, c.attempts,
                   c.outcomes, c.delay, c.max, c.backoff, c.jitter, 'pending',
                   0, @now, @now, @now
            FROM @rows AS r
                 JOIN @contracts AS c
                 ON c.c = r.c
                 OUTER APPLY (
                     SELECT TOP (1) 1 AS there
                     FROM submission.submission_intents AS s
                          WITH (FORCESEEK (submission_intents_pk
                                           (lease_name, intent_id)))
                     WHERE s.lease_name = @lease_name AND s.intent_id = r.id
                 ) AS e
            WHERE r.nth = 1 AND e.there IS NULL
            ORDER BY r.id;

            SET @inserted = @@ROWCOUNT;

            IF @inserted <> @sent
            BEGIN
                SELECT @found = COUNT(*)
                FROM @rows AS r
                     CROSS APPLY (
                         SELECT TOP (1) 1 AS there
                         FROM submission.submission_intents AS s
                              WITH (FORCESEEK (submission_intents_pk
                                               (lease_name, intent_id)))
                         WHERE s.lease_name = @lease_name
                               AND s.intent_id = r.id
                     ) AS e
                WHERE r.nth > 1 OR NOT EXISTS (SELECT 1 FROM @created AS d
                                               WHERE d.id = r.id);

                IF @inserted + @found <> @sent
                    THROW 57003, N'an intent was neither inserted nor found',
                          1;
            END;

            COMMIT TRANSACTION;
            BREAK;
        END TRY
        BEGIN CATCH
            IF @@TRANCOUNT > 0
                ROLLBACK TRANSACTION;

            SET @tries = @tries + 1;

            IF ERROR_NUMBER() NOT IN (2627, 2601) OR @tries >= 20
                THROW;
        END CATCH;
    END;

    SELECT -1 AS n, NULL AS intent_id, NULL AS submission_target,
           NULL AS status, submission.submission_us(@now) AS created_at,
           NULL AS attempt_count, NULL AS next_attempt_at,
           NULL AS completed_at, NULL AS final_outcome_reason,
           NULL AS exhausted_reason, NULL AS payload_hash
    UNION ALL
    SELECT r.n, i.intent_id, i.submission_target, i.status,
           submission.submission_us(i.created_at) AS created_at,
           i.attempt_count,
           submission.submission_us(i.next_attempt_at) AS next_attempt_at,
           submission.submission_us(i.completed_at) AS completed_at,
           i.final_outcome_reason, i.exhausted_reason, i.payload_hash
    FROM @rows AS r
         CROSS APPLY (
             SELECT TOP (1) *
             FROM submission.submission_intents AS s
                  WITH (FORCESEEK (submission_intents_pk
                                   (lease_name, intent_id)))
             WHERE s.lease_name = @lease_name AND s.intent_id = r.id
         ) AS i
    WHERE r.nth > 1 OR NOT EXISTS (SELECT 1 FROM @created AS d
                                   WHERE d.id = r.id)
    ORDER BY n;
END
GO
-- Takes the lease where there is none, or where it has expired.  A row is made
-- before the transaction, of epoch 0, which nobody sees and anyone may take.

SET ANSI_NULLS ON;
SET QUOTED_IDENTIFIER ON;
SET ANSI_PADDING ON;
SET ANSI_WARNINGS ON;
SET ARITHABORT ON;
SET CONCAT_NULL_YIELDS_NULL ON;
SET NUMERIC_ROUNDABORT OFF;
GO

CREATE OR ALTER PROCEDURE submission.submission_lease_acquire
    @lease_name varchar(64),
    @holder_id nvarchar(128),
    @duration_ms bigint
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;

    DECLARE @now datetime2(6), @held int, @holder nvarchar(128), @epoch bigint,
            @acquired_at datetime2(6), @renewed_at datetime2(6),
            @expires_at datetime2(6), @since datetime2(6);

    IF NOT EXISTS (SELECT 1 FROM submission.submission_manager_leases
                   WHERE lease_name = @lease_name)
    BEGIN TRY
        SET @now = submission.submission_at(0);

        INSERT INTO submission.submission_manager_leases (
            lease_name, holder_id, lease_epoch, acquired_at, renewed_at,
            expires_at
        )
        VALUES (@lease_name, N'', 0, @now, @now, @now);
    END TRY
    BEGIN CATCH
        IF ERROR_NUMBER() NOT IN (2627, 2601)
            THROW;
    END CATCH;

    BEGIN TRANSACTION;

    -- the row first, then the time: what is waited for is not slept through

    UPDATE submission.submission_manager_leases
    SET lease_epoch = lease_epoch
    WHERE lease_name = @lease_name;

    SET @now = submission.submission_now();

    SELECT @since = inflight_since
    FROM submission.submission_manager_leases
    WHERE lease_name = @lease_name;

    IF @since IS NULL
        EXECUTE submission.submission_inflight_since @lease_name, @now,
                                                     @since OUTPUT;

    UPDATE submission.submission_manager_leases
    SET holder_id = @holder_id,
        inflight_since = @since,
        lease_epoch = lease_epoch + 1,
        acquired_at = @now,
        renewed_at = @now,
        expires_at = DATEADD(millisecond, CAST(@duration_ms AS int), @now)
    WHERE lease_name = @lease_name AND expires_at <= @now;

    SET @held = @@ROWCOUNT;

    SELECT @holder = holder_id, @epoch = lease_epoch,
           @acquired_at = acquired_at, @renewed_at = renewed_at,
           @expires_at = expires_at
    FROM submission.submission_manager_leases
    WHERE lease_name = @lease_name AND lease_epoch > 0;

    COMMIT TRANSACTION;

    SELECT submission.submission_us(@now) AS now, CAST(@held AS bigint) AS held,
           @holder AS holder_id, @epoch AS lease_epoch,
           submission.submission_us(@acquired_at) AS acquired_at,
           submission.submission_us(@renewed_at) AS renewed_at,
           submission.submission_us(@expires_at) AS expires_at;
END
GO
-- The beginning of every transaction of an executor: takes the lease's row, to
-- the end of it, then the time, and fails, telling it, when the lease is not held
-- any more.  An UPDATE that changes nothing takes its lock under read committed
-- snapshot, too.

SET ANSI_NULLS ON;
SET QUOTED_IDENTIFIER ON;
SET ANSI_PADDING ON;
SET ANSI_WARNINGS ON;
SET ARITHABORT ON;
SET CONCAT_NULL_YIELDS_NULL ON;
SET NUMERIC_ROUNDABORT OFF;
GO

CREATE OR ALTER PROCEDURE submission.submission_fence
    @lease_name varchar(64),
    @holder_id nvarchar(128),
    @lease_epoch bigint,
    @now datetime2(6) OUTPUT
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;

    DECLARE @lost nvarchar(64), @held int, @since datetime2(6);

    UPDATE submission.submission_manager_leases
    SET lease_epoch = lease_epoch
    WHERE lease_name = @lease_name;

    SET @now = submission.submission_now();

    SELECT @held = 1, @since = inflight_since
    FROM submission.submission_manager_leases
    WHERE lease_name = @lease_name AND holder_id = @holder_id
          AND DATALENGTH(holder_id) = DATALENGTH(@holder_id)
          AND lease_epoch = @lease_epoch AND expires_at > @now;

    IF @held IS NULL
    BEGIN
        SET @lost = N'LEASE_LOST at '
                    + CAST(submission.submission_us(@now) AS nvarchar(32));
        THROW 57002, @lost, 1;
    END;

    -- the clock was set back: what is begun now is older than that

    IF @since > @now
        UPDATE submission.submission_manager_leases
        SET inflight_since = @now
        WHERE lease_name = @lease_name;
END
GO

-- The same for what only reads: locks nothing.  The time is taken before the
-- first read: what was committed by then is seen.

CREATE OR ALTER PROCEDURE submission.submission_fence_read
    @lease_name varchar(64),
    @holder_id nvarchar(128),
    @lease_epoch bigint,
    @now datetime2(6) OUTPUT
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;

    DECLARE @lost nvarchar(64);

    SET @now = submission.submission_now();

    IF NOT EXISTS (SELECT 1 FROM submission.submission_manager_leases
                   WHERE lease_name = @lease_name AND holder_id = @holder_id
                         AND DATALENGTH(holder_id) = DATALENGTH(@holder_id)
                         AND lease_epoch = @lease_epoch AND expires_at > @now)
    BEGIN
        SET @lost = N'LEASE_LOST at '
                    + CAST(submission.submission_us(@now) AS nvarchar(32));
        THROW 57002, @lost, 1;
    END;
END
GO

-- When the oldest of what is in flight was begun, where none is older than @since,
-- or NULL; @now, if there is none.  The caller has the lease's row.

CREATE OR ALTER PROCEDURE submission.submission_inflight_since
    @lease_name varchar(64),
    @now datetime2(6),
    @since datetime2(6) OUTPUT
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;

    DECLARE @from datetime2(6);

    SET @from = COALESCE(@since, CAST('0001-01-01' AS datetime2(6)));
    SET @since = @now;

    SELECT TOP (1) @since = i.inflight_at
    FROM submission.submission_intents AS i
         WITH (FORCESEEK (submission_intents_begun (lease_name, inflight_at)))
    WHERE i.lease_name = @lease_name AND i.inflight_epoch IS NOT NULL
          AND i.inflight_at >= @from
    ORDER BY i.inflight_at;
END
GO
-- The lease as it is.

SET ANSI_NULLS ON;
SET QUOTED_IDENTIFIER ON;
SET ANSI_PADDING ON;
SET ANSI_WARNINGS ON;
SET ARITHABORT ON;
SET CONCAT_NULL_YIELDS_NULL ON;
SET NUMERIC_ROUNDABORT OFF;
GO

CREATE OR ALTER PROCEDURE submission.submission_lease_get
    @lease_name varchar(64)
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;

    DECLARE @now datetime2(6);

    SET @now = submission.submission_now();

    SELECT submission.submission_us(@now) AS now, CAST(0 AS bigint) AS held,
           l.holder_id, l.lease_epoch,
           submission.submission_us(l.acquired_at) AS acquired_at,
           submission.submission_us(l.renewed_at) AS renewed_at,
           submission.submission_us(l.expires_at) AS expires_at
    FROM (SELECT 1 AS one) AS o
         LEFT JOIN submission.submission_manager_leases AS l
         ON l.lease_name = @lease_name AND l.lease_epoch > 0;
END
GO
-- Gives the lease up: anyone can acquire it at once.

SET ANSI_NULLS ON;
SET QUOTED_IDENTIFIER ON;
SET ANSI_PADDING ON;
SET ANSI_WARNINGS ON;
SET ARITHABORT ON;
SET CONCAT_NULL_YIELDS_NULL ON;
SET NUMERIC_ROUNDABORT OFF;
GO

CREATE OR ALTER PROCEDURE submission.submission_lease_release
    @lease_name varchar(64),
    @holder_id nvarchar(128),
    @lease_epoch bigint
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;

    DECLARE @now datetime2(6), @held int, @holder nvarchar(128), @epoch bigint,
            @acquired_at datetime2(6), @renewed_at datetime2(6),
            @expires_at datetime2(6);

    BEGIN TRANSACTION;

    -- the row first, then the time: what is waited for is not slept through

    UPDATE submission.submission_manager_leases
    SET lease_epoch = lease_epoch
    WHERE lease_name = @lease_name;

    SET @now = submission.submission_now();

    UPDATE submission.submission_manager_leases
    SET expires_at = @now
    WHERE lease_name = @lease_name AND holder_id = @holder_id
          AND DATALENGTH(holder_id) = DATALENGTH(@holder_id)
          AND lease_epoch = @lease_epoch AND expires_at > @now;

    SET @held = @@ROWCOUNT;

    SELECT @holder = holder_id, @epoch = lease_epoch,
           @acquired_at = acquired_at, @renewed_at = renewed_at,
           @expires_at = expires_at
    FROM submission.submission_manager_leases
    WHERE lease_name = @lease_name AND lease_epoch > 0;

    COMMIT TRANSACTION;

    SELECT submission.submission_us(@now) AS now, CAST(@held AS bigint) AS held,
           @holder AS holder_id, @epoch AS lease_epoch,
           submission.submission_us(@acquired_at) AS acquired_at,
           submission.submission_us(@renewed_at) AS renewed_at,
           submission.submission_us(@expires_at) AS expires_at;
END
GO
-- Extends the lease of its holder; the epoch stays.  It also moves the place where
-- a recovery begins up to the oldest that is in flight: a seek, as it was moved
-- there by the renewal before.

SET ANSI_NULLS ON;
SET QUOTED_IDENTIFIER ON;
SET ANSI_PADDING ON;
SET ANSI_WARNINGS ON;
SET ARITHABORT ON;
SET CONCAT_NULL_YIELDS_NULL ON;
SET NUMERIC_ROUNDABORT OFF;
GO

CREATE OR ALTER PROCEDURE submission.submission_lease_renew
    @lease_name varchar(64),
    @holder_id nvarchar(128),
    @lease_epoch bigint,
    @duration_ms bigint
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;

    DECLARE @now datetime2(6), @held int, @holder nvarchar(128), @epoch bigint,
            @acquired_at datetime2(6), @renewed_at datetime2(6),
            @expires_at datetime2(6), @since datetime2(6);

    BEGIN TRANSACTION;

    -- the row first, then the time: what is waited for is not slept through

    UPDATE submission.submission_manager_leases
    SET lease_epoch = lease_epoch
    WHERE lease_name = @lease_name;

    SET @now = submission.submission_now();

    SELECT @since = inflight_since
    FROM submission.submission_manager_leases
    WHERE lease_name = @lease_name;

    IF @since IS NOT NULL
        EXECUTE submission.submission_inflight_since @lease_name, @now,
                                                     @since OUTPUT;

    UPDATE submission.submission_manager_leases
    SET renewed_at = @now,
        expires_at = DATEADD(millisecond, CAST(@duration_ms AS int), @now),
        inflight_since = @since
    WHERE lease_name = @lease_name AND holder_id = @holder_id
          AND DATALENGTH(holder_id) = DATALENGTH(@holder_id)
          AND lease_epoch = @lease_epoch AND expires_at > @now;

    SET @held = @@ROWCOUNT;

    SELECT @holder = holder_id, @epoch = lease_epoch,
           @acquired_at = acquired_at, @renewed_at = renewed_at,
           @expires_at = expires_at
    FROM submission.submission_manager_leases
    WHERE lease_name = @lease_name AND lease_epoch > 0;

    COMMIT TRANSACTION;

    SELECT submission.submission_us(@now) AS now, CAST(@held AS bigint) AS held,
           @holder AS holder_id, @epoch AS lease_epoch,
           submission.submission_us(@acquired_at) AS acquired_at,
           submission.submission_us(@renewed_at) AS renewed_at,
           submission.submission_us(@expires_at) AS expires_at;
END
GO
-- Another worker of the holder goes on, with a new epoch.

SET ANSI_NULLS ON;
SET QUOTED_IDENTIFIER ON;
SET ANSI_PADDING ON;
SET ANSI_WARNINGS ON;
SET ARITHABORT ON;
SET CONCAT_NULL_YIELDS_NULL ON;
SET NUMERIC_ROUNDABORT OFF;
GO

CREATE OR ALTER PROCEDURE submission.submission_lease_takeover
    @lease_name varchar(64),
    @holder_id nvarchar(128),
    @lease_epoch bigint,
    @duration_ms bigint
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;

    DECLARE @now datetime2(6), @held int, @holder nvarchar(128), @epoch bigint,
            @acquired_at datetime2(6), @renewed_at datetime2(6),
            @expires_at datetime2(6);

    BEGIN TRANSACTION;

    -- the row first, then the time: what is waited for is not slept through

    UPDATE submission.submission_manager_leases
    SET lease_epoch = lease_epoch
    WHERE lease_name = @lease_name;

    SET @now = submission.submission_now();

    UPDATE submission.submission_manager_leases
    SET lease_epoch = lease_epoch + 1,
        acquired_at = @now,
        renewed_at = @now,
        expires_at = DATEADD(millisecond, CAST(@duration_ms AS int), @now)
    WHERE lease_name = @lease_name AND holder_id = @holder_id
          AND DATALENGTH(holder_id) = DATALENGTH(@holder_id)
          AND lease_epoch = @lease_epoch AND expires_at > @now;

    SET @held = @@ROWCOUNT;

    SELECT @holder = holder_id, @epoch = lease_epoch,
           @acquired_at = acquired_at, @renewed_at = renewed_at,
           @expires_at = expires_at
    FROM submission.submission_manager_leases
    WHERE lease_name = @lease_name AND lease_epoch > 0;

    COMMIT TRANSACTION;

    SELECT submission.submission_us(@now) AS now, CAST(@held AS bigint) AS held,
           @holder AS holder_id, @epoch AS lease_epoch,
           submission.submission_us(@acquired_at) AS acquired_at,
           submission.submission_us(@renewed_at) AS renewed_at,
           submission.submission_us(@expires_at) AS expires_at;
END
GO
-- Whether a commit is possible.  SQL Server logs nothing for an UPDATE that
-- changes nothing, and a full log would not be seen: so the row is changed, and
-- is as it was when others see it.

SET ANSI_NULLS ON;
SET QUOTED_IDENTIFIER ON;
SET ANSI_PADDING ON;
SET ANSI_WARNINGS ON;
SET ARITHABORT ON;
SET CONCAT_NULL_YIELDS_NULL ON;
SET NUMERIC_ROUNDABORT OFF;
GO

CREATE OR ALTER PROCEDURE submission.submission_ping
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;

    BEGIN TRANSACTION;

    UPDATE submission.submission_schema SET version = version + 1;
    UPDATE submission.submission_schema SET version = version - 1;

    COMMIT TRANSACTION;

    SELECT submission.submission_us(submission.submission_now()) AS now;
END
GO
-- What has an attempt to come, in the order of modification, strictly after
-- (@after_at, @after_id); with @due = 1 the retries, in the order of due time.
-- One row, without an id, has the time.  The indexes cover what is read: where
-- READ_COMMITTED_SNAPSHOT is off, a reader that went from the index to the row
-- would meet a turn that goes from the row to the index.

SET ANSI_NULLS ON;
SET QUOTED_IDENTIFIER ON;
SET ANSI_PADDING ON;
SET ANSI_WARNINGS ON;
SET ARITHABORT ON;
SET CONCAT_NULL_YIELDS_NULL ON;
SET NUMERIC_ROUNDABORT OFF;
GO

CREATE OR ALTER PROCEDURE submission.submission_schedule_page
    @lease_name varchar(64),
    @holder_id nvarchar(128),
    @lease_epoch bigint,
    @due bigint,
    @after_at bigint,
    @after_id nvarchar(400),
    @limit bigint
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;

    DECLARE @now datetime2(6), @at datetime2(6);

    EXECUTE submission.submission_fence_read @lease_name, @holder_id,
                                             @lease_epoch, @now OUTPUT;

    SET @at = submission.submission_at(@after_at);

    IF @due = 1
        SELECT submission.submission_us(@now) AS now, NULL AS intent_id,
               NULL AS submission_target, NULL AS at, NULL AS due_at
        UNION ALL
        SELECT NULL, p.intent_id, p.submission_target,
               submission.submission_us(p.next_attempt_at),
               submission.submission_us(p.next_attempt_at)
        FROM (
                 SELECT TOP (@limit) i.intent_id, i.submission_target,
                        i.next_attempt_at
                 FROM submission.submission_intents AS i
                      WITH (FORCESEEK (submission_intents_due
                                       (lease_name, next_attempt_at)))
                 WHERE i.lease_name = @lease_name
                       AND i.next_attempt_at IS NOT NULL
                       AND i.attempt_count > 0
                       AND i.next_attempt_at >= @at
                       AND (i.next_attempt_at > @at OR i.intent_id > @after_id)
                 ORDER BY i.next_attempt_at, i.intent_id
             ) AS p
        ORDER BY at, intent_id;
    ELSE
        SELECT submission.submission_us(@now) AS now, NULL AS intent_id,
               NULL AS submission_target, NULL AS at, NULL AS due_at
        UNION ALL
        SELECT NULL, p.intent_id, p.submission_target,
               submission.submission_us(p.last_modified_at),
               submission.submission_us(p.next_attempt_at)
        FROM (
                 SELECT TOP (@limit) i.intent_id, i.submission_target,
                        i.last_modified_at, i.next_attempt_at
                 FROM submission.submission_intents AS i
                      WITH (FORCESEEK (submission_intents_modified
                                       (lease_name, last_modified_at)))
                 WHERE i.lease_name = @lease_name
                       AND i.next_attempt_at IS NOT NULL
                       AND i.last_modified_at >= @at
                       AND (i.last_modified_at > @at
                            OR i.intent_id > @after_id)
                 ORDER BY i.last_modified_at, i.intent_id
             ) AS p
        ORDER BY at, intent_id;
END
GO
-- The version of the schema; every connection asks for it first.  A database
-- that need not write its log before a commit is answered is refused: a client
-- would be told of an intent that is lost with the server.

SET ANSI_NULLS ON;
SET QUOTED_IDENTIFIER ON;
SET ANSI_PADDING ON;
SET ANSI_WARNINGS ON;
SET ARITHABORT ON;
SET CONCAT_NULL_YIELDS_NULL ON;
SET NUMERIC_ROUNDABORT OFF;
GO

CREATE OR ALTER PROCEDURE submission.submission_schema_version
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;

    IF EXISTS (SELECT 1 FROM sys.databases
               WHERE name = DB_NAME() AND delayed_durability = 2)
        THROW 57004, N'DELAYED_DURABILITY is FORCED in this database, so that commits may be lost: ALTER DATABASE CURRENT SET DELAYED_DURABILITY = DISABLED',
              1;

    SELECT CAST(version AS bigint) AS version
    FROM submission.submission_schema;
END
GO
COMMIT TRANSACTION;
GO

-- A role that may call the procedures, and nothing else: it cannot read or
-- write a table.  The right is on the schema, so that a procedure which is made
-- anew keeps it.  Run as the owner, after everything else; may run again.  Then
-- let nginx's login have it:
--
--     CREATE LOGIN nginx WITH PASSWORD = '...';
--     CREATE USER nginx FOR LOGIN nginx;
--     ALTER ROLE submission_nginx ADD MEMBER nginx;

SET ANSI_NULLS ON;
SET QUOTED_IDENTIFIER ON;
SET ANSI_PADDING ON;
SET ANSI_WARNINGS ON;
SET ARITHABORT ON;
SET CONCAT_NULL_YIELDS_NULL ON;
SET NUMERIC_ROUNDABORT OFF;
GO

IF DATABASE_PRINCIPAL_ID(N'submission_nginx') IS NULL
    CREATE ROLE submission_nginx;
GO

GRANT EXECUTE ON SCHEMA::submission TO submission_nginx;
GO
