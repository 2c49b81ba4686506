-- Does a batch of a job, and writes down how far the job is then, in one transaction.  One
-- row of the answer has the time alone.  If the job was running and was as far as @seen,
-- another row has -1 as n and the number of items that were done, and each item that was
-- canceled has a row with its place.
--
-- @doc: {"again","contracts":[{"c","d":{...}}],"items":[{"n","id","new","c"}]}, of which
-- submission_intents_copy makes replays.  An item that cannot be done is skipped: an
-- intent that is in flight, or whose payload is gone, or that was replayed before (unless
-- "again" is there), or a new id that exists.  If somebody else makes one of the new ids
-- meanwhile, this begins again, and finds it.

SET ANSI_NULLS ON;
SET QUOTED_IDENTIFIER ON;
SET ANSI_PADDING ON;
SET ANSI_WARNINGS ON;
SET ARITHABORT ON;
SET CONCAT_NULL_YIELDS_NULL ON;
SET NUMERIC_ROUNDABORT OFF;
GO

CREATE OR ALTER PROCEDURE submission.submission_job_apply
    @lease_name varchar(64),
    @holder_id nvarchar(128),
    @lease_epoch bigint,
    @kind varchar(16),
    @job_id nvarchar(400),
    @seen bigint,
    @seen_after bigint,
    @skipped bigint,
    @position nvarchar(2000),
    @state varchar(16),
    @error nvarchar(max),
    @doc nvarchar(max)
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;

    DECLARE @now datetime2(6), @tries int, @sent bigint, @done bigint,
            @moved int, @copied int, @ended nvarchar(max);

    DECLARE @items TABLE (
        n        int NOT NULL PRIMARY KEY,
        id       nvarchar(400) COLLATE Latin1_General_BIN2 NOT NULL,
        new      nvarchar(400) COLLATE Latin1_General_BIN2 NULL,
        c        int NULL
    );

    -- What the UPDATE canceled.  The alias in that statement is the name of the table,
    -- because Babelfish looks for "inserted" under that name.

    DECLARE @gone TABLE (
        id       nvarchar(400) COLLATE Latin1_General_BIN2 NOT NULL PRIMARY KEY,
        notify   nvarchar(1000) COLLATE Latin1_General_BIN2 NULL
    );

    INSERT INTO @items (n, id, new, c)
    SELECT r.n, r.id, r.new, r.c
    FROM OPENJSON(@doc, '$.items') WITH (
             n int '$.n',
             id nvarchar(400) COLLATE Latin1_General_BIN2 '$.id',
             new nvarchar(400) COLLATE Latin1_General_BIN2 '$.new',
             c int '$.c'
         ) AS r;

    SET @sent = @@ROWCOUNT;
    SET @tries = 0;

    WHILE 1 = 1
    BEGIN
        BEGIN TRY
            DELETE FROM @gone;

            SET @done = 0;

            BEGIN TRANSACTION;

            EXECUTE submission.submission_fence @lease_name, @holder_id,
                                                @lease_epoch, @now OUTPUT;

            UPDATE submission.submission_jobs
            SET state = @state,
                position = COALESCE(@position, position),
                seen_count = @seen_after,
                last_error = COALESCE(submission.submission_left(@error, 1000)
                                      COLLATE Latin1_General_BIN2, last_error),
                started_at = COALESCE(started_at, @now),
                last_modified_at = @now,
                completed_at = CASE WHEN @state <> 'running' THEN @now END
            WHERE lease_name = @lease_name AND kind = @kind
                  AND job_id = @job_id AND completed_at IS NULL
                  AND seen_count = @seen;

            SET @moved = @@ROWCOUNT;

            IF @moved = 0
            BEGIN
                COMMIT TRANSACTION;

                SELECT submission.submission_us(@now) AS now, NULL AS n,
                       NULL AS done;
                RETURN;
            END;

            IF @kind = 'cancel'
            BEGIN
                UPDATE submission_intents
                SET status = 'canceled',
                    completed_at = @now,
                    last_modified_at = @now,
                    next_attempt_at = NULL
                OUTPUT inserted.intent_id, inserted.notify
                INTO @gone (id, notify)
                FROM @items AS m
                     INNER LOOP JOIN submission.submission_intents
                                     AS submission_intents
                                     WITH (INDEX (submission_intents_pk))
                     ON submission_intents.lease_name = @lease_name
                        AND submission_intents.intent_id = m.id
                WHERE submission_intents.status = 'pending'
                      AND submission_intents.inflight_epoch IS NULL;

                SET @done = @@ROWCOUNT;

                SET @ended = (
                    SELECT g.id AS id
                    FROM @gone AS g
                    WHERE g.notify IS NOT NULL
                    FOR JSON PATH
                );

                IF @ended IS NOT NULL
                    EXECUTE submission.submission_intents_ended @lease_name,
                            @now, @ended;
            END
            ELSE
            BEGIN
                EXECUTE submission.submission_intents_copy @lease_name, @now,
                        @doc, NULL, NULL, @copied OUTPUT;

                SET @done = @copied;
            END;

            UPDATE submission.submission_jobs
            SET done_count = done_count + @done,
                skipped_count = skipped_count + @skipped + @sent - @done
            WHERE lease_name = @lease_name AND kind = @kind
                  AND job_id = @job_id;

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

    SELECT submission.submission_us(@now) AS now, CAST(NULL AS bigint) AS n,
           CAST(NULL AS bigint) AS done
    UNION ALL
    SELECT NULL, -1, @done
    UNION ALL
    SELECT NULL, m.n, NULL
    FROM @gone AS g
         INNER JOIN @items AS m
         ON m.id = g.id;
END
GO
