-- Makes the intents of schedules, and moves the schedules on, in one transaction, if
-- all of the schedules are still as they were read.  If one is not, nothing is changed,
-- and the answer has the time alone.  In the other rows n is the place in @moves of a
-- schedule that was moved on, or -1; then k is the place in @doc of an intent that existed
-- before, and the row describes that intent.
--
-- @doc, @bytes: as for submission_intents_submit; NULL if there is no intent.
-- @moves: [{"n","id","rev","planned","next","last","lastId","fired","skipped",
-- "missed","error"}].  A schedule without "planned" is run by hand, and keeps its next
-- time.  It also keeps what it knows of the last occurrence, if that is pending, or is
-- still being made, in parts: then the next time had come when it was fired.  An intent
-- that existed before was not made by this run, and does not become the last one.
--
-- Without @holder_id the caller is not an executor, but a person, who is written into
-- the audit.

SET ANSI_NULLS ON;
SET QUOTED_IDENTIFIER ON;
SET ANSI_PADDING ON;
SET ANSI_WARNINGS ON;
SET ARITHABORT ON;
SET CONCAT_NULL_YIELDS_NULL ON;
SET NUMERIC_ROUNDABORT OFF;
GO

CREATE OR ALTER PROCEDURE submission.submission_schedules_fire
    @lease_name varchar(64),
    @holder_id nvarchar(128),
    @lease_epoch bigint,
    @doc nvarchar(max),
    @bytes varbinary(max),
    @moves nvarchar(max),
    @actor nvarchar(max),
    @address nvarchar(max),
    @detail nvarchar(max)
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;

    DECLARE @now datetime2(6), @tries int, @sent int, @moved int, @kept int,
            @id nvarchar(400), @known nvarchar(max), @inserted int;

    DECLARE @rows TABLE (
        n        int NOT NULL PRIMARY KEY,
        id       nvarchar(400) COLLATE Latin1_General_BIN2 NOT NULL,
        rev      bigint NOT NULL,
        planned  datetime2(6) NULL,
        next     datetime2(6) NULL,
        last     datetime2(6) NULL,
        last_id  nvarchar(400) COLLATE Latin1_General_BIN2 NULL,
        fired    bigint NOT NULL,
        skipped  bigint NOT NULL,
        missed   bigint NOT NULL,
        error    nvarchar(500) COLLATE Latin1_General_BIN2 NULL
    );

    DECLARE @found TABLE (
        k        int NOT NULL PRIMARY KEY,
        hash     varchar(64) COLLATE Latin1_General_BIN2 NOT NULL,
        target   nvarchar(256) COLLATE Latin1_General_BIN2 NOT NULL,
        before   bigint NULL
    );

    INSERT INTO @rows (n, id, rev, planned, next, last, last_id, fired, skipped,
                       missed, error)
    SELECT r.n, r.id, r.rev, submission.submission_at(r.planned),
           submission.submission_at(r.next), submission.submission_at(r.last),
           r.last_id, r.fired, r.skipped, r.missed, r.error
    FROM OPENJSON(@moves) WITH (
             n int '$.n',
             id nvarchar(400) COLLATE Latin1_General_BIN2 '$.id',
             rev bigint '$.rev',
             planned bigint '$.planned',
             next bigint '$.next',
             last bigint '$.last',
             last_id nvarchar(400) COLLATE Latin1_General_BIN2 '$.lastId',
             fired bigint '$.fired',
             skipped bigint '$.skipped',
             missed bigint '$.missed',
             error nvarchar(500) COLLATE Latin1_General_BIN2 '$.error'
         ) AS r;

    SET @sent = @@ROWCOUNT;
    SET @tries = 0;

    WHILE 1 = 1
    BEGIN
        BEGIN TRY
            DELETE FROM @found;

            BEGIN TRANSACTION;

            IF @holder_id IS NULL
                SET @now = submission.submission_now();
            ELSE
                EXECUTE submission.submission_fence @lease_name, @holder_id,
                                                    @lease_epoch, @now OUTPUT;

            SET @kept = 0;

            IF @holder_id IS NULL
            BEGIN
                SELECT @id = r.id FROM @rows AS r WHERE r.n = 0;

                -- UPDLOCK: nobody fires the schedule before it is moved on.

                SELECT @kept = 1
                FROM submission.submission_schedules AS s
                     WITH (UPDLOCK, INDEX (submission_schedules_pk))
                WHERE s.lease_name = @lease_name AND s.schedule_id = @id
                      AND ((s.last_run_at < s.next_run_at
                            AND s.next_run_at <= s.last_fired_at)
                           OR EXISTS (
                               SELECT 1
                               FROM submission.submission_intents AS e
                                    WITH (FORCESEEK (submission_intents_pk
                                                     (lease_name, intent_id)))
                               WHERE e.lease_name = @lease_name
                                     AND e.intent_id = s.last_intent_id
                                     AND e.status = 'pending'
                           ));
            END;

            UPDATE s
            SET next_run_at = CASE WHEN r.planned IS NULL THEN s.next_run_at
                                   ELSE r.next END,
                last_run_at = CASE WHEN @kept = 1 THEN s.last_run_at
                                   ELSE COALESCE(r.last, s.last_run_at) END,
                last_fired_at = CASE WHEN @kept = 1 OR r.last IS NULL
                                     THEN s.last_fired_at
                                     ELSE @now END,
                last_intent_id = CASE WHEN @kept = 1 OR r.last_id IS NULL
                                           OR e.there = 1
                                      THEN s.last_intent_id
                                      ELSE r.last_id END,
                fired_count = s.fired_count + r.fired,
                skipped_count = s.skipped_count + r.skipped,
                missed_count = s.missed_count + r.missed,
                last_error = COALESCE(r.error, s.last_error)
            FROM @rows AS r
                 INNER LOOP JOIN submission.submission_schedules AS s
                                 WITH (INDEX (submission_schedules_pk))
                 ON s.lease_name = @lease_name AND s.schedule_id = r.id
                 OUTER APPLY (
                     SELECT TOP (1) 1 AS there
                     FROM submission.submission_intents AS i
                          WITH (FORCESEEK (submission_intents_pk
                                           (lease_name, intent_id)))
                     WHERE i.lease_name = @lease_name
                           AND i.intent_id = r.last_id
                 ) AS e
            WHERE s.revision = r.rev
                  AND (r.planned IS NULL
                       OR (s.next_run_at = r.planned AND s.paused_at IS NULL
                           AND s.last_error IS NULL));

            SET @moved = @@ROWCOUNT;

            IF @moved <> @sent
            BEGIN
                ROLLBACK TRANSACTION;

                SELECT submission.submission_us(@now) AS now, NULL AS n,
                       NULL AS k, NULL AS hash, NULL AS target,
                       NULL AS before;
                RETURN;
            END;

            IF @holder_id IS NULL
                EXECUTE submission.submission_audit_add @lease_name, @now,
                        @actor, @address, 'schedule_run', @id, @detail;

            IF @doc IS NOT NULL
            BEGIN
                EXECUTE submission.submission_intents_known @lease_name, @doc,
                        NULL, NULL, @known OUTPUT;
                EXECUTE submission.submission_intents_insert @lease_name, @now,
                        @doc, @bytes, @known, NULL, @inserted OUTPUT;

                INSERT INTO @found (k, hash, target, before)
                SELECT d.n, i.payload_hash, i.submission_target, i.not_before
                FROM OPENJSON(@doc, '$.rows') WITH (
                         n int '$.n',
                         id nvarchar(400) COLLATE Latin1_General_BIN2 '$.id'
                     ) AS d
                     CROSS APPLY submission.submission_intent_shown(
                         @lease_name, d.id, d.n, NULL, NULL) AS i
                WHERE i.intent_id IS NOT NULL
                      AND CHARINDEX(CONCAT(N',', d.n, N','),
                                    @known COLLATE Latin1_General_BIN2) > 0;
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

    SELECT submission.submission_us(@now) AS now, CAST(NULL AS int) AS n,
           CAST(NULL AS int) AS k, CAST(NULL AS varchar(64)) AS hash,
           CAST(NULL AS nvarchar(256)) AS target, CAST(NULL AS bigint) AS before
    UNION ALL
    SELECT NULL, r.n, NULL, NULL, NULL, NULL
    FROM @rows AS r
    UNION ALL
    SELECT NULL, -1, f.k, f.hash, f.target, f.before
    FROM @found AS f;
END
GO
