-- A batch of intents.  One row of the answer, without an id, has the time, as
-- created_at, and comes first; the others are what was there before.  What is not
-- among them was created.  Another one without an id was refused: its not_before is
-- more than 365 days ahead, or, where exhausted_reason is "reserved_id", its id belongs
-- to a schedule.
--
-- @doc: {"contracts":[{"c",...}],"rows":[{"n","id","c","hash","at","len",
-- "before","trace","state"}]}, the last three where there is such a thing; where it
-- begins with "occurrences":[{"n","schedule"}], these rows have an id that belongs to
-- the schedule, if there is one: they are not made, but may be there;
-- @bytes: all payloads, end to end;
-- @rows: how many the document has.
--
-- Most batches are of new ids: that is one INSERT.  Where an id is there already
-- it fails, and is undone; @known has the places of those, @new is a document of
-- the others, and exactly those are inserted.  Who finds that another one has just
-- made an id looks again.
--
-- A row whose contract is not there fails, too, and so does the batch if a row is
-- not made, as by a trigger: none is left out in silence.  Ids go in in their order.
-- Here and elsewhere: each row of a document is a seek, by APPLY with TOP, whatever
-- is known of the tables.

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
    @bytes varbinary(max),
    @rows bigint
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;

    DECLARE @now datetime2(6), @tries int, @new nvarchar(max),
            @known nvarchar(max), @now_us bigint, @latest bigint,
            @inserted int, @sent int, @reserved nvarchar(max);

    SET @new = @doc;
    SET @tries = 0;

    WHILE 1 = 1
    BEGIN
        BEGIN TRY
            BEGIN TRANSACTION;

            SET @now = submission.submission_now();
            SET @now_us = DATEDIFF_BIG(microsecond,
                                       CAST('1970-01-01' AS datetime2(6)), @now);
            SET @latest = @now_us + 31536000000000;

            -- the range is locked: no such schedule is made before this is done

            IF LEFT(@doc, 15) COLLATE Latin1_General_BIN2 = N'{"occurrences":'
                SELECT @reserved = N','
                                   + STRING_AGG(CAST(o.n AS nvarchar(max)), N',')
                                   + N','
                FROM OPENJSON(@doc, '$.occurrences') WITH (
                         n int '$.n',
                         schedule nvarchar(400) COLLATE Latin1_General_BIN2 '$.schedule'
                     ) AS o
                     CROSS APPLY (
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
                retry_jitter_pct, status, attempt_count, created_at,
                last_modified_at, next_attempt_at, not_before,
                retry_schedule, notify, traceparent, tracestate
            )
            SELECT @lease_name, r.id, r.hash,
                   CAST(SUBSTRING(@bytes, r.at + 1, r.len) AS varbinary(max)),
                   c.target, c.type, c.url, c.policy, c.seconds, c.attempts,
                   c.outcomes, c.delay, c.max, c.backoff, c.jitter, 'pending',
                   0, @now, @now,
                   CASE WHEN r.before > @now_us
                        THEN submission.submission_at(r.before) ELSE @now END,
                   CASE WHEN r.before IS NOT NULL
                        THEN submission.submission_at(r.before) END,
                   c.schedule, c.notify, r.trace, r.state
            FROM OPENJSON(@new, '$.rows') WITH (
                     n int '$.n',
                     id nvarchar(400) COLLATE Latin1_General_BIN2 '$.id',
                     c int '$.c',
                     hash varchar(64) COLLATE Latin1_General_BIN2 '$.hash',
                     at int '$.at',
                     len int '$.len',
                     before bigint '$.before',
                     trace varchar(64) COLLATE Latin1_General_BIN2 '$.trace',
                     state varchar(512) COLLATE Latin1_General_BIN2 '$.state'
                 ) AS r
                 LEFT JOIN OPENJSON(@doc, '$.contracts') WITH (
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
                 ON c.c = r.c
            WHERE (r.before IS NULL OR r.before <= @latest)
                  AND (@reserved IS NULL
                       OR CHARINDEX(CONCAT(N',', r.n, N','),
                                    @reserved COLLATE Latin1_General_BIN2) = 0)
            ORDER BY r.id;

            SET @inserted = @@ROWCOUNT;

            IF @rows IS NULL OR @inserted <> @rows
            BEGIN
                SELECT @sent = COUNT(*)
                FROM OPENJSON(@new, '$.rows') WITH (
                         n int '$.n',
                         before bigint '$.before'
                     ) AS r
                WHERE (r.before IS NULL OR r.before <= @latest)
                      AND (@reserved IS NULL
                           OR CHARINDEX(CONCAT(N',', r.n, N','),
                                    @reserved COLLATE Latin1_General_BIN2) = 0);

                IF @inserted <> @sent
                    THROW 57003, N'an intent was neither inserted nor found', 1;
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

        -- of two of the same id, the second is there already; what is refused
        -- counts as if it was there

        SELECT @known = CONCAT(N',', STRING_AGG(CAST(r.n AS nvarchar(max)),
                                                N','), N',')
        FROM (
                 SELECT d.n, d.id, d.before,
                        ROW_NUMBER() OVER (
                            PARTITION BY d.id COLLATE Latin1_General_BIN2,
                                         CASE WHEN d.before > @latest THEN 1
                                              ELSE 0 END
                            ORDER BY d.n) AS nth
                 FROM OPENJSON(@doc, '$.rows') WITH (
                          n int '$.n',
                          id nvarchar(400) COLLATE Latin1_General_BIN2 '$.id',
                          before bigint '$.before'
                      ) AS d
             ) AS r
             OUTER APPLY (
                 SELECT TOP (1) 1 AS there
                 FROM submission.submission_intents AS s
                      WITH (FORCESEEK (submission_intents_pk
                                       (lease_name, intent_id)))
                 WHERE s.lease_name = @lease_name
                       AND s.intent_id = r.id COLLATE Latin1_General_BIN2
             ) AS e
        WHERE r.nth > 1 OR e.there = 1 OR r.before > @latest
              OR CHARINDEX(CONCAT(N',', r.n, N','),
                                    @reserved COLLATE Latin1_General_BIN2) > 0;

        SET @new = (
            SELECT r.n, r.id, r.c, r.hash, r.at, r.len, r.before, r.trace, r.state
            FROM OPENJSON(@doc, '$.rows') WITH (
                     n int '$.n',
                     id nvarchar(400) COLLATE Latin1_General_BIN2 '$.id',
                     c int '$.c',
                     hash varchar(64) COLLATE Latin1_General_BIN2 '$.hash',
                     at int '$.at',
                     len int '$.len',
                     before bigint '$.before',
                     trace varchar(64) COLLATE Latin1_General_BIN2 '$.trace',
                     state varchar(512) COLLATE Latin1_General_BIN2 '$.state'
                 ) AS r
            WHERE CHARINDEX(CONCAT(N',', r.n, N','),
                            @known COLLATE Latin1_General_BIN2) = 0
            FOR JSON PATH, ROOT('rows')
        );
    END;

    -- where all have been inserted, none is refused

    IF @known IS NULL AND @inserted <> @rows
        SELECT @known = N',' + STRING_AGG(CAST(r.n AS nvarchar(max)), N',')
                        + N','
        FROM OPENJSON(@doc, '$.rows') WITH (
                 n int '$.n',
                 before bigint '$.before'
             ) AS r
        WHERE r.before > @latest
              OR CHARINDEX(CONCAT(N',', r.n, N','),
                                    @reserved COLLATE Latin1_General_BIN2) > 0;

    IF @known IS NULL
        SELECT *
        FROM submission.submission_intent_shown(@lease_name, NULL, -1, @now_us,
                                                NULL);
    ELSE
        SELECT i.*
        FROM (
                 SELECT CAST(-1 AS bigint) AS n,
                        CAST(NULL AS nvarchar(400))
                        COLLATE Latin1_General_BIN2 AS id, @now_us AS at,
                        CAST(NULL AS varchar(32)) AS reason
                 UNION ALL
                 SELECT d.n, CASE WHEN d.before > @latest THEN NULL ELSE d.id END,
                        NULL,
                        CASE WHEN CHARINDEX(CONCAT(N',', d.n, N','),
                                            @reserved COLLATE Latin1_General_BIN2)
                                  > 0
                             THEN 'reserved_id' END
                 FROM OPENJSON(@doc, '$.rows') WITH (
                          n int '$.n',
                          id nvarchar(400) COLLATE Latin1_General_BIN2 '$.id',
                          before bigint '$.before'
                      ) AS d
                 WHERE CHARINDEX(CONCAT(N',', d.n, N','),
                                 @known COLLATE Latin1_General_BIN2) > 0
             ) AS r
             CROSS APPLY submission.submission_intent_shown(
                 @lease_name, r.id, r.n, r.at, r.reason) AS i
        ORDER BY i.n;
END
GO
