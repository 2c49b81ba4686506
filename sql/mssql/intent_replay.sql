-- Copies an intent that has ended under another id.  The copy has the contract @contract,
-- or that of the intent where that is NULL, and belongs to the trace @traceparent, or to
-- that of the intent.  outcome is 1: created, 2: it was made before, 3: the id is that
-- of another intent, 4: the id belongs to @schedule, which exists, 5: the intent was
-- replayed before, and @again is 0.  There is no row if there is nothing to copy, or if
-- the payload is gone.

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
    @schedule nvarchar(400) = NULL,
    @again bigint = 0
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;

    DECLARE @now datetime2(6), @tries int, @doc nvarchar(max), @copied int;

    SET @doc = CONCAT(N'{', CASE WHEN @again <> 0 THEN N'"again":1,' END,
                      N'"contracts":[{"c":0,"d":', COALESCE(@contract, N'null'),
                      N'}],"items":[{"n":0',
                      submission.submission_fact(N'id', @intent_id),
                      submission.submission_fact(N'new', @new_id),
                      CASE WHEN @contract IS NOT NULL THEN N',"c":0' END,
                      N'}]}');
    SET @tries = 0;

    WHILE 1 = 1
    BEGIN
        BEGIN TRY
            BEGIN TRANSACTION;

            SET @now = submission.submission_now();

            IF @schedule IS NOT NULL
               AND EXISTS (SELECT 1
                           FROM submission.submission_schedule_there(@lease_name,
                                                                     @schedule))
            BEGIN
                COMMIT TRANSACTION;

                SELECT CAST(4 AS bigint) AS outcome;
                RETURN;
            END;

            EXECUTE submission.submission_intents_copy @lease_name, @now, @doc,
                    @traceparent, @tracestate, @copied OUTPUT;

            IF @copied = 1
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

    IF @copied = 1
    BEGIN
        SELECT CAST(1 AS bigint) AS outcome;
        RETURN;
    END;

    SELECT CAST(CASE WHEN s.intent_id IS NULL THEN 5
                     WHEN s.replay_of = @intent_id THEN 2 ELSE 3 END
                AS bigint) AS outcome
    FROM (SELECT 1 AS one) AS o
         OUTER APPLY (
             SELECT TOP (1) p.intent_id, p.replay_of
             FROM submission.submission_intents AS p
                  WITH (FORCESEEK (submission_intents_pk
                                   (lease_name, intent_id)))
             WHERE p.lease_name = @lease_name AND p.intent_id = @new_id
         ) AS s
         OUTER APPLY (
             SELECT TOP (1) 1 AS before
             FROM submission.submission_intents AS p
                  WITH (FORCESEEK (submission_intents_pk
                                   (lease_name, intent_id)))
             WHERE p.lease_name = @lease_name AND p.intent_id = @intent_id
                   AND p.replay_count IS NOT NULL AND p.stripped_at IS NULL
                   AND @again = 0
         ) AS r
    WHERE s.intent_id IS NOT NULL OR r.before IS NOT NULL;
END
GO
