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
