-- Cancels an intent that is pending and has no attempt in flight, by one statement.
-- outcome is 1: canceled, 2: it was canceled before, 3: an attempt is in flight, 4: it
-- has ended otherwise.  There is no row if there is no such intent.
--
-- If a turn is beginning an attempt of the intent, it has locked the row, and the
-- statement waits for the turn, without holding any other lock.  A turn that comes later
-- waits for this statement, and finds that the intent is not pending.

SET ANSI_NULLS ON;
SET QUOTED_IDENTIFIER ON;
SET ANSI_PADDING ON;
SET ANSI_WARNINGS ON;
SET ARITHABORT ON;
SET CONCAT_NULL_YIELDS_NULL ON;
SET NUMERIC_ROUNDABORT OFF;
GO

CREATE OR ALTER PROCEDURE submission.submission_intent_cancel
    @lease_name varchar(64),
    @intent_id nvarchar(400),
    @actor nvarchar(max),
    @address nvarchar(max)
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;

    DECLARE @now datetime2(6), @tries int, @changed int,
            @status varchar(16), @inflight_epoch bigint,
            @ended nvarchar(max);

    SET @tries = 0;

    WHILE @tries < 20
    BEGIN
        SET @tries = @tries + 1;
        SET @status = NULL;

        BEGIN TRANSACTION;

        SET @now = submission.submission_now();

        UPDATE i
        SET status = 'canceled',
            completed_at = @now,
            last_modified_at = @now,
            next_attempt_at = NULL
        FROM submission.submission_intents AS i
             WITH (INDEX (submission_intents_pk))
        WHERE i.lease_name = @lease_name AND i.intent_id = @intent_id
              AND i.status = 'pending' AND i.inflight_epoch IS NULL;

        SET @changed = @@ROWCOUNT;

        IF @changed = 1
        BEGIN
            EXECUTE submission.submission_audit_add @lease_name, @now, @actor,
                    @address, 'cancel', @intent_id, NULL;

            SET @ended = (
                SELECT i.intent_id AS id
                FROM submission.submission_intents AS i
                     WITH (FORCESEEK (submission_intents_pk
                                      (lease_name, intent_id)))
                WHERE i.lease_name = @lease_name AND i.intent_id = @intent_id
                      AND i.notify IS NOT NULL
                FOR JSON PATH
            );

            IF @ended IS NOT NULL
                EXECUTE submission.submission_intents_ended @lease_name, @now,
                        @ended;

            COMMIT TRANSACTION;

            SELECT CAST(1 AS bigint) AS outcome;
            RETURN;
        END;

        SELECT @status = i.status, @inflight_epoch = i.inflight_epoch
        FROM submission.submission_intents AS i
             WITH (FORCESEEK (submission_intents_pk (lease_name, intent_id)))
        WHERE i.lease_name = @lease_name AND i.intent_id = @intent_id;

        COMMIT TRANSACTION;

        -- Otherwise an attempt has ended between the two statements: try again.

        IF @status IS NULL OR @status <> 'pending'
           OR @inflight_epoch IS NOT NULL
            BREAK;
    END;

    SELECT CAST(CASE WHEN @status = 'pending' THEN 3
                     WHEN @status = 'canceled' THEN 2
                     ELSE 4 END AS bigint) AS outcome
    WHERE @status IS NOT NULL;
END
GO
