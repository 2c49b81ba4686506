-- A copy of an intent that has ended, under another id, with another contract, or
-- its own where @contract is NULL; and likewise of another trace.  outcome is 1:
-- created, 2: it was made before, 3: the id is that of another intent, 4: it belongs
-- to @schedule, which exists.  No row: there is nothing to copy, or its payload is gone.

SET ANSI_NULLS ON;
SET QUOTED_IDENTIFIER ON;
SET ANSI_PADDING ON;
SET ANSI_WARNINGS ON;
SET ARITHABORT ON;
SET CONCAT_NULL_YIELDS_NULL ON;
SET NUMERIC_ROUNDABORT OFF;
GO

CREATE OR ALTER PROCEDURE submission.submission_intent_replay
    @lease_name varchar(64),
    @intent_id nvarchar(400),
    @new_id nvarchar(400),
    @contract nvarchar(max),
    @actor nvarchar(max),
    @address nvarchar(max),
    @detail nvarchar(max),
    @traceparent varchar(64),
    @tracestate varchar(512),
    @schedule nvarchar(400) = NULL
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;

    DECLARE @now datetime2(6), @tries int, @inserted int;

    SET @tries = 0;

    WHILE 1 = 1
    BEGIN
        BEGIN TRY
            BEGIN TRANSACTION;

            SET @now = submission.submission_now();

            -- the range is locked: no such schedule is made before this is done

            IF @schedule IS NOT NULL
               AND EXISTS (
                   SELECT 1
                   FROM submission.submission_schedules AS s
                        WITH (SERIALIZABLE,
                              FORCESEEK (submission_schedules_pk
                                         (lease_name, schedule_id)))
                   WHERE s.lease_name = @lease_name
                         AND s.schedule_id = @schedule
               )
            BEGIN
                COMMIT TRANSACTION;

                SELECT CAST(4 AS bigint) AS outcome;
                RETURN;
            END;

            INSERT INTO submission.submission_intents (
                lease_name, intent_id, payload_hash, payload,
                submission_target, gateway_type, gateway_url, policy,
                max_acceptance_seconds, max_attempts, terminal_outcomes,
                retry_delay_ms, retry_max_ms, retry_backoff_pct,
                retry_jitter_pct, retry_schedule, notify, contract_version,
                status,
                attempt_count, created_at, last_modified_at, next_attempt_at,
                replay_of, event_of, traceparent, tracestate
            )
            SELECT i.lease_name, @new_id, i.payload_hash, i.payload,
                   i.submission_target,
                   CASE WHEN @contract IS NULL THEN i.gateway_type
                        ELSE CAST(JSON_VALUE(@contract, '$.type') AS varchar(16))
                             COLLATE Latin1_General_BIN2 END,
                   CASE WHEN @contract IS NULL THEN i.gateway_url
                        ELSE CAST(JSON_VALUE(@contract, '$.url') AS nvarchar(1024))
                             COLLATE Latin1_General_BIN2 END,
                   CASE WHEN @contract IS NULL THEN i.policy
                        ELSE CAST(JSON_VALUE(@contract, '$.policy') AS varchar(16))
                             COLLATE Latin1_General_BIN2 END,
                   CASE WHEN @contract IS NULL THEN i.max_acceptance_seconds
                        ELSE CAST(JSON_VALUE(@contract, '$.seconds') AS bigint) END,
                   CASE WHEN @contract IS NULL THEN i.max_attempts
                        ELSE CAST(JSON_VALUE(@contract, '$.attempts') AS bigint) END,
                   CASE WHEN @contract IS NULL THEN i.terminal_outcomes
                        ELSE CAST(JSON_VALUE(@contract, '$.outcomes') AS nvarchar(1000))
                             COLLATE Latin1_General_BIN2 END,
                   CASE WHEN @contract IS NULL THEN i.retry_delay_ms
                        ELSE CAST(JSON_VALUE(@contract, '$.delay') AS bigint) END,
                   CASE WHEN @contract IS NULL THEN i.retry_max_ms
                        ELSE CAST(JSON_VALUE(@contract, '$.max') AS bigint) END,
                   CASE WHEN @contract IS NULL THEN i.retry_backoff_pct
                        ELSE CAST(JSON_VALUE(@contract, '$.backoff') AS bigint) END,
                   CASE WHEN @contract IS NULL THEN i.retry_jitter_pct
                        ELSE CAST(JSON_VALUE(@contract, '$.jitter') AS bigint) END,
                   CASE WHEN @contract IS NULL THEN i.retry_schedule
                        ELSE CAST(JSON_VALUE(@contract, '$.schedule') AS varchar(500))
                             COLLATE Latin1_General_BIN2 END,
                   CASE WHEN @contract IS NULL THEN i.notify
                        ELSE CAST(JSON_VALUE(@contract, '$.notify') AS nvarchar(1000))
                             COLLATE Latin1_General_BIN2 END,
                   CASE WHEN @contract IS NULL THEN i.contract_version END,
                   'pending', 0, @now, @now, @now, i.intent_id, i.event_of,
                   CASE WHEN @traceparent IS NULL THEN i.traceparent
                        ELSE @traceparent COLLATE Latin1_General_BIN2 END,
                   CASE WHEN @traceparent IS NULL THEN i.tracestate
                        ELSE @tracestate COLLATE Latin1_General_BIN2 END
            FROM submission.submission_intents AS i
                 WITH (FORCESEEK (submission_intents_pk
                                  (lease_name, intent_id)))
            WHERE i.lease_name = @lease_name AND i.intent_id = @intent_id
                  AND i.status <> 'pending' AND i.stripped_at IS NULL
                  AND NOT EXISTS (
                      SELECT 1
                      FROM submission.submission_intents AS s
                           WITH (FORCESEEK (submission_intents_pk
                                            (lease_name, intent_id)))
                      WHERE s.lease_name = @lease_name
                            AND s.intent_id = @new_id
                  );

            SET @inserted = @@ROWCOUNT;

            IF @inserted = 1
                EXECUTE submission.submission_audit_add @lease_name, @now,
                        @actor, @address, 'replay', @intent_id, @detail;

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

    IF @inserted = 1
    BEGIN
        SELECT CAST(1 AS bigint) AS outcome;
        RETURN;
    END;

    SELECT CAST(CASE WHEN s.replay_of = @intent_id THEN 2 ELSE 3 END
                AS bigint) AS outcome
    FROM submission.submission_intents AS s
         WITH (FORCESEEK (submission_intents_pk (lease_name, intent_id)))
    WHERE s.lease_name = @lease_name AND s.intent_id = @new_id;
END
GO
