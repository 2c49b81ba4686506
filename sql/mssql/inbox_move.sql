-- Rows of the inbox become intents, or refusals, and leave the inbox, in one
-- transaction.  One row of the answer, without an n, has the time; in the others n is
-- the place in @moves, and outcome is 1: created, 2: the intent was there, the same,
-- 3: refused.  What is not in the answer is where it was.
--
-- @doc, @bytes: as for submission_intents_submit; NULL if none is valid.
-- @moves: [{"n","seq","k","hash","target","before"}], where k is the place in @doc;
-- or {"n","seq","reason","detail"}.
-- Of a payload a refusal keeps @max bytes.
--
-- A row that is gone stops all: the next page tells.  Who finds that another one has
-- just made an id begins again, and sees it then.

SET ANSI_NULLS ON;
SET QUOTED_IDENTIFIER ON;
SET ANSI_PADDING ON;
SET ANSI_WARNINGS ON;
SET ARITHABORT ON;
SET CONCAT_NULL_YIELDS_NULL ON;
SET NUMERIC_ROUNDABORT OFF;
GO

CREATE OR ALTER PROCEDURE submission.submission_inbox_move
    @lease_name varchar(64),
    @holder_id nvarchar(128),
    @lease_epoch bigint,
    @doc nvarchar(max),
    @bytes varbinary(max),
    @moves nvarchar(max),
    @max bigint
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;

    DECLARE @now datetime2(6), @tries int, @sent int, @found int;

    DECLARE @rows TABLE (
        n        int NOT NULL PRIMARY KEY,
        seq      bigint NOT NULL,
        k        int NULL,
        hash     varchar(64) COLLATE Latin1_General_BIN2 NULL,
        target   nvarchar(256) COLLATE Latin1_General_BIN2 NULL,
        before   bigint NULL,
        reason   varchar(64) COLLATE Latin1_General_BIN2 NULL,
        detail   nvarchar(1000) COLLATE Latin1_General_BIN2 NULL,
        id       nvarchar(400) COLLATE Latin1_General_BIN2 NULL,
        nth      bigint NULL,
        outcome  int NULL,
        reserved int NULL
    );

    DECLARE @created TABLE (
        id       nvarchar(400) COLLATE Latin1_General_BIN2 NOT NULL PRIMARY KEY
    );

    INSERT INTO @rows (n, seq, k, hash, target, before, reason, detail, id, nth)
    SELECT r.n, r.seq, r.k, r.hash, r.target, r.before, r.reason, r.detail,
           d.id,
           ROW_NUMBER() OVER (PARTITION BY d.id COLLATE Latin1_General_BIN2
                              ORDER BY r.n)
    FROM OPENJSON(@moves) WITH (
             n int '$.n',
             seq bigint '$.seq',
             k int '$.k',
             hash varchar(64) COLLATE Latin1_General_BIN2 '$.hash',
             target nvarchar(256) COLLATE Latin1_General_BIN2 '$.target',
             before bigint '$.before',
             reason varchar(64) COLLATE Latin1_General_BIN2 '$.reason',
             detail nvarchar(1000) COLLATE Latin1_General_BIN2 '$.detail'
         ) AS r
         LEFT JOIN OPENJSON(@doc, '$.rows') WITH (
             n int '$.n',
             id nvarchar(400) COLLATE Latin1_General_BIN2 '$.id'
         ) AS d
         ON d.n = r.k;

    SET @sent = @@ROWCOUNT;
    SET @tries = 0;

    WHILE 1 = 1
    BEGIN
        BEGIN TRY
            DELETE FROM @created;

            BEGIN TRANSACTION;

            EXECUTE submission.submission_fence @lease_name, @holder_id,
                                                @lease_epoch, @now OUTPUT;

            SELECT @found = COUNT(*)
            FROM @rows AS r
                 CROSS APPLY (
                     SELECT TOP (1) 1 AS there
                     FROM submission.submission_inbox AS s
                          WITH (UPDLOCK, FORCESEEK (submission_inbox_pk (seq)))
                     WHERE s.seq = r.seq AND s.lease_name = @lease_name
                 ) AS e;

            IF @found <> @sent
            BEGIN
                COMMIT TRANSACTION;

                SELECT submission.submission_us(@now) AS now, NULL AS n,
                       NULL AS outcome;
                RETURN;
            END;

            -- the range is locked: no such schedule is made before this is done

            IF LEFT(@doc, 15) COLLATE Latin1_General_BIN2 = N'{"occurrences":'
                UPDATE r
                SET reserved = e.there
                FROM @rows AS r
                     JOIN OPENJSON(@doc, '$.occurrences') WITH (
                         n int '$.n',
                         schedule nvarchar(400) COLLATE Latin1_General_BIN2 '$.schedule'
                     ) AS o
                     ON o.n = r.k
                     OUTER APPLY (
                         SELECT TOP (1) 1 AS there
                         FROM submission.submission_schedules AS s
                              WITH (SERIALIZABLE,
                                    FORCESEEK (submission_schedules_pk
                                               (lease_name, schedule_id)))
                         WHERE s.lease_name = @lease_name
                               AND s.schedule_id = o.schedule
                                                   COLLATE Latin1_General_BIN2
                     ) AS e;

            INSERT INTO submission.submission_intents (
                lease_name, intent_id, payload_hash, payload,
                submission_target, gateway_type, gateway_url, policy,
                max_acceptance_seconds, max_attempts, terminal_outcomes,
                retry_delay_ms, retry_max_ms, retry_backoff_pct,
                retry_jitter_pct, retry_schedule, notify, status,
                attempt_count, created_at, last_modified_at, next_attempt_at,
                not_before, traceparent, tracestate
            )
            OUTPUT inserted.intent_id INTO @created (id)
            SELECT @lease_name, r.id, r.hash,
                   CAST(SUBSTRING(@bytes, d.at + 1, d.len) AS varbinary(max)),
                   c.target, c.type, c.url, c.policy, c.seconds, c.attempts,
                   c.outcomes, c.delay, c.max, c.backoff, c.jitter, c.schedule,
                   c.notify, 'pending', 0, @now, @now,
                   CASE WHEN submission.submission_at(r.before) > @now
                        THEN submission.submission_at(r.before)
                        ELSE @now END,
                   submission.submission_at(r.before), d.trace, d.state
            FROM @rows AS r
                 JOIN OPENJSON(@doc, '$.rows') WITH (
                     n int '$.n',
                     c int '$.c',
                     at int '$.at',
                     len int '$.len',
                     trace varchar(64) COLLATE Latin1_General_BIN2 '$.trace',
                     state varchar(512) COLLATE Latin1_General_BIN2 '$.state'
                 ) AS d
                 ON d.n = r.k
                 JOIN OPENJSON(@doc, '$.contracts') WITH (
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
                     jitter bigint '$.jitter',
                     schedule varchar(500) COLLATE Latin1_General_BIN2 '$.schedule',
                     notify nvarchar(1000) COLLATE Latin1_General_BIN2 '$.notify'
                 ) AS c
                 ON c.c = d.c
                 OUTER APPLY (
                     SELECT TOP (1) 1 AS there
                     FROM submission.submission_intents AS s
                          WITH (FORCESEEK (submission_intents_pk
                                           (lease_name, intent_id)))
                     WHERE s.lease_name = @lease_name AND s.intent_id = r.id
                 ) AS e
            WHERE r.reason IS NULL AND r.nth = 1 AND e.there IS NULL
                  AND r.reserved IS NULL
            ORDER BY r.id;

            -- what was there before, or is there twice, is compared

            UPDATE r
            SET outcome = CASE WHEN r.reason IS NOT NULL THEN 3
                               WHEN r.nth = 1 AND n.id IS NOT NULL THEN 1
                               WHEN i.payload_hash = r.hash
                                    AND i.submission_target = r.target
                                    AND COALESCE(
                                            submission.submission_us(i.not_before),
                                            0) = COALESCE(r.before, 0)
                               THEN 2
                               WHEN i.payload_hash IS NOT NULL
                                    OR r.reserved = 1 THEN 3 END,
                reserved = CASE WHEN i.payload_hash IS NULL THEN r.reserved END
            FROM @rows AS r
                 LEFT JOIN @created AS n
                 ON n.id = r.id
                 OUTER APPLY (
                     SELECT TOP (1) s.payload_hash, s.submission_target,
                            s.not_before
                     FROM submission.submission_intents AS s
                          WITH (FORCESEEK (submission_intents_pk
                                           (lease_name, intent_id)))
                     WHERE s.lease_name = @lease_name AND s.intent_id = r.id
                 ) AS i;

            INSERT INTO submission.submission_inbox_refused (
                lease_name, refused_at, seq, intent_id, submission_target,
                payload, not_before, traceparent, tracestate, created_at,
                reason, detail
            )
            SELECT b.lease_name, @now, b.seq, b.intent_id, b.submission_target,
                   CAST(SUBSTRING(b.payload, 1, @max) AS varbinary(max)),
                   b.not_before, b.traceparent, b.tracestate, b.created_at,
                   CASE WHEN r.reason IS NOT NULL THEN r.reason
                        WHEN r.reserved = 1
                        THEN 'reserved_id' COLLATE Latin1_General_BIN2
                        ELSE 'idempotency_conflict'
                             COLLATE Latin1_General_BIN2 END,
                   CASE WHEN r.reason IS NOT NULL THEN r.detail
                        WHEN r.reserved = 1
                        THEN N'the id belongs to a schedule'
                             COLLATE Latin1_General_BIN2
                        ELSE N'the id belongs to another intent'
                             COLLATE Latin1_General_BIN2 END
            FROM @rows AS r
                 CROSS APPLY (
                     SELECT TOP (1) *
                     FROM submission.submission_inbox AS s
                          WITH (FORCESEEK (submission_inbox_pk (seq)))
                     WHERE s.seq = r.seq
                 ) AS b
            WHERE r.outcome = 3;

            DELETE b
            FROM @rows AS r
                 INNER LOOP JOIN submission.submission_inbox AS b
                                 WITH (INDEX (submission_inbox_pk))
                 ON b.seq = r.seq
            WHERE r.outcome IS NOT NULL;

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

    SELECT submission.submission_us(@now) AS now, NULL AS n, NULL AS outcome
    UNION ALL
    SELECT NULL, r.n, r.outcome
    FROM @rows AS r
    WHERE r.outcome IS NOT NULL;
END
GO
