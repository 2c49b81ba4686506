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
-- Times are SYSUTCDATETIME().

SET ANSI_NULLS ON;
SET QUOTED_IDENTIFIER ON;
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
        acquired_at             datetime2(7)    NOT NULL,
        renewed_at              datetime2(7)    NOT NULL,
        expires_at              datetime2(7)    NOT NULL,
        CONSTRAINT submission_manager_leases_pk PRIMARY KEY (lease_name)
    );
GO

IF OBJECT_ID(N'submission.submission_manager_candidates') IS NULL
    CREATE TABLE submission.submission_manager_candidates (
        lease_name              varchar(64)     COLLATE Latin1_General_BIN2 NOT NULL,
        holder_id               nvarchar(128)   COLLATE Latin1_General_BIN2 NOT NULL,
        started_at              datetime2(7)    NOT NULL,
        heartbeat_at            datetime2(7)    NOT NULL,
        expires_at              datetime2(7)    NOT NULL,
        role                    nvarchar(32)    NOT NULL,
        version                 nvarchar(64)    NOT NULL,
        CONSTRAINT submission_manager_candidates_pk
            PRIMARY KEY (lease_name, holder_id)
    );
GO

-- The indexes of intents are made with their table.  The schedule: what still
-- has an attempt to come, and what is in flight.  An intent without an attempt
-- is due since it came, and "modified" has it in that order; only retries are
-- in "due".  Each index costs every submission.

IF OBJECT_ID(N'submission.submission_intents') IS NULL
BEGIN
    CREATE TABLE submission.submission_intents (
        lease_name              varchar(64)     COLLATE Latin1_General_BIN2 NOT NULL,
        intent_id               nvarchar(400)   COLLATE Latin1_General_BIN2 NOT NULL,
        submission_target       nvarchar(256)   COLLATE Latin1_General_BIN2 NOT NULL,
        payload_hash            varchar(64)     COLLATE Latin1_General_BIN2 NOT NULL,
        gateway_type            varchar(16)     COLLATE Latin1_General_BIN2 NOT NULL,
        gateway_url             nvarchar(1024)  NOT NULL,
        policy                  varchar(16)     COLLATE Latin1_General_BIN2 NOT NULL,
        max_acceptance_seconds  bigint          NULL,
        max_attempts            bigint          NULL,
        terminal_outcomes       nvarchar(1000)  NOT NULL,
        retry_delay_ms          bigint          NOT NULL,
        retry_max_ms            bigint          NOT NULL,
        retry_backoff_pct       bigint          NOT NULL,
        retry_jitter_pct        bigint          NOT NULL,
        status                  varchar(16)     COLLATE Latin1_General_BIN2 NOT NULL,
        final_outcome_status    varchar(16)     COLLATE Latin1_General_BIN2 NULL,
        final_outcome_reason    nvarchar(200)   NULL,
        exhausted_reason        varchar(32)     NULL,
        attempt_count           bigint          NOT NULL,
        created_at              datetime2(7)    NOT NULL,
        completed_at            datetime2(7)    NULL,
        last_modified_at        datetime2(7)    NOT NULL,
        next_attempt_at         datetime2(7)    NULL,
        inflight_epoch          bigint          NULL,
        inflight_holder         nvarchar(128)   COLLATE Latin1_General_BIN2 NULL,
        inflight_at             datetime2(7)    NULL,
        payload                 varbinary(max)  NOT NULL,
        CONSTRAINT submission_intents_pk PRIMARY KEY (lease_name, intent_id)
    );

    CREATE INDEX submission_intents_modified
        ON submission.submission_intents (lease_name, last_modified_at,
                                          intent_id)
        WHERE next_attempt_at IS NOT NULL;

    CREATE INDEX submission_intents_due
        ON submission.submission_intents (lease_name, next_attempt_at,
                                          intent_id)
        WHERE next_attempt_at IS NOT NULL AND attempt_count > 0;

    CREATE INDEX submission_intents_inflight
        ON submission.submission_intents (lease_name, inflight_epoch,
                                          intent_id)
        WHERE inflight_epoch IS NOT NULL;

    CREATE INDEX submission_intents_list
        ON submission.submission_intents (lease_name, submission_target,
                                          status, created_at, intent_id);
END
GO

IF OBJECT_ID(N'submission.submission_attempts') IS NULL
    CREATE TABLE submission.submission_attempts (
        lease_name              varchar(64)     COLLATE Latin1_General_BIN2 NOT NULL,
        intent_id               nvarchar(400)   COLLATE Latin1_General_BIN2 NOT NULL,
        attempt_number          bigint          NOT NULL,
        lease_epoch             bigint          NOT NULL,
        holder_id               nvarchar(128)   COLLATE Latin1_General_BIN2 NOT NULL,
        started_at              datetime2(7)    NOT NULL,
        finished_at             datetime2(7)    NOT NULL,
        outcome_status          varchar(16)     NOT NULL,
        outcome_reason          nvarchar(200)   NULL,
        error                   nvarchar(1000)  NULL,
        CONSTRAINT submission_attempts_pk
            PRIMARY KEY (lease_name, intent_id, attempt_number)
    );
GO

IF NOT EXISTS (SELECT 1 FROM submission.submission_schema)
    INSERT INTO submission.submission_schema (version) VALUES (1);
GO


-- The clock of everything, and times as microseconds since 1970, as they cross
-- to nginx and back.

DROP FUNCTION IF EXISTS submission.submission_now;
GO

CREATE FUNCTION submission.submission_now ()
RETURNS datetime2(7)
AS
BEGIN
    RETURN SYSUTCDATETIME();
END
GO

DROP FUNCTION IF EXISTS submission.submission_us;
GO

CREATE FUNCTION submission.submission_us (@at datetime2(7))
RETURNS bigint
AS
BEGIN
    RETURN DATEDIFF_BIG(microsecond, CAST('1970-01-01' AS datetime2(7)), @at);
END
GO

DROP FUNCTION IF EXISTS submission.submission_at;
GO

CREATE FUNCTION submission.submission_at (@us bigint)
RETURNS datetime2(7)
AS
BEGIN
    RETURN DATEADD(microsecond, CAST(@us % 1000000 AS int),
               DATEADD(second, CAST(@us / 1000000 % 86400 AS int),
                   DATEADD(day, CAST(@us / 86400000000 AS int),
                           CAST('1970-01-01' AS datetime2(7)))));
END
GO
