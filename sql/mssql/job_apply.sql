-- A batch of a job, in one transaction with how far the job is then.  One row of the
-- answer has the time alone.  If the job was running, and as far as @seen, one has
-- -1 as n, and how many items were done; each that was canceled has its place.
--
-- @doc: {"contracts":[{"c","d":{...}}],"items":[{"n","id","new","c"}]}.  An item of a
-- replay without c keeps its contract.  What is not done is skipped: an intent that
-- is in flight, or whose payload is gone, or an id that is another's.  Who finds that
-- another one has just made an id begins again, and sees it then.

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
            @moved int, @ended nvarchar(max);

    DECLARE @items TABLE (
        n        int NOT NULL PRIMARY KEY,
        id       nvarchar(400) COLLATE Latin1_General_BIN2 NOT NULL,
        new      nvarchar(400) COLLATE Latin1_General_BIN2 NULL,
        c        int NULL
    );

    -- What is canceled, as the UPDATE says it.  Its alias is the table's name, since
    -- Babelfish finds "inserted" by that.

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

                -- their webhooks are told

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
                INSERT INTO submission.submission_intents (
                    lease_name, intent_id, payload_hash, payload,
                    submission_target, gateway_type, gateway_url, policy,
                    max_acceptance_seconds, max_attempts, terminal_outcomes,
                    retry_delay_ms, retry_max_ms, retry_backoff_pct,
                    retry_jitter_pct, retry_schedule, notify,
                    contract_version, status,
                    attempt_count, created_at, last_modified_at,
                    next_attempt_at, replay_of, traceparent, tracestate
                )
                SELECT i.lease_name, m.new, i.payload_hash, i.payload,
                       i.submission_target,
                       CASE WHEN m.c IS NULL THEN i.gateway_type
                            ELSE c.type END,
                       CASE WHEN m.c IS NULL THEN i.gateway_url
                            ELSE c.url END,
                       CASE WHEN m.c IS NULL THEN i.policy
                            ELSE c.policy END,
                       CASE WHEN m.c IS NULL THEN i.max_acceptance_seconds
                            ELSE c.seconds END,
                       CASE WHEN m.c IS NULL THEN i.max_attempts
                            ELSE c.attempts END,
                       CASE WHEN m.c IS NULL THEN i.terminal_outcomes
                            ELSE c.outcomes END,
                       CASE WHEN m.c IS NULL THEN i.retry_delay_ms
                            ELSE c.delay END,
                       CASE WHEN m.c IS NULL THEN i.retry_max_ms
                            ELSE c.max END,
                       CASE WHEN m.c IS NULL THEN i.retry_backoff_pct
                            ELSE c.backoff END,
                       CASE WHEN m.c IS NULL THEN i.retry_jitter_pct
                            ELSE c.jitter END,
                       CASE WHEN m.c IS NULL THEN i.retry_schedule
                            ELSE c.schedule END,
                       CASE WHEN m.c IS NULL THEN i.notify
                            ELSE c.notify END,
                       CASE WHEN m.c IS NULL THEN i.contract_version END,
                       'pending', 0, @now, @now, @now, i.intent_id,
                       i.traceparent, i.tracestate
                FROM @items AS m
                     CROSS APPLY (
                         SELECT TOP (1) *
                         FROM submission.submission_intents AS s
                              WITH (FORCESEEK (submission_intents_pk
                                               (lease_name, intent_id)))
                         WHERE s.lease_name = @lease_name
                               AND s.intent_id = m.id
                               AND s.status <> 'pending'
                               AND s.stripped_at IS NULL
                     ) AS i
                     LEFT JOIN OPENJSON(@doc, '$.contracts') WITH (
                         c int '$.c',
                         type varchar(16)
                             COLLATE Latin1_General_BIN2 '$.d.type',
                         url nvarchar(1024)
                             COLLATE Latin1_General_BIN2 '$.d.url',
                         policy varchar(16)
                             COLLATE Latin1_General_BIN2 '$.d.policy',
                         seconds bigint '$.d.seconds',
                         attempts bigint '$.d.attempts',
                         outcomes nvarchar(1000)
                             COLLATE Latin1_General_BIN2 '$.d.outcomes',
                         delay bigint '$.d.delay',
                         max bigint '$.d.max',
                         backoff bigint '$.d.backoff',
                         jitter bigint '$.d.jitter',
                         schedule varchar(500)
                             COLLATE Latin1_General_BIN2 '$.d.schedule',
                         notify nvarchar(1000)
                             COLLATE Latin1_General_BIN2 '$.d.notify'
                     ) AS c
                     ON c.c = m.c
                     OUTER APPLY (
                         SELECT TOP (1) 1 AS there
                         FROM submission.submission_intents AS s
                              WITH (FORCESEEK (submission_intents_pk
                                               (lease_name, intent_id)))
                         WHERE s.lease_name = @lease_name
                               AND s.intent_id = m.new
                     ) AS e
                WHERE e.there IS NULL
                ORDER BY m.new;

                SET @done = @@ROWCOUNT;
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
