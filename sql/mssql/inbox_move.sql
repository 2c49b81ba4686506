-- Makes intents or refusals of rows of the inbox, which leave the inbox, in one
-- transaction.  One row of the answer, without an n, has the time.  In the others n is
-- the place in @moves, and outcome is 1: created, 2: the same intent existed before,
-- 3: refused.  A row that is not in the answer stays in the inbox.
--
-- @doc, @bytes: as for submission_intents_submit; NULL if no row is valid.
-- @moves: [{"n","seq","k","hash","target","before"}], where k is the place in @doc;
-- or {"n","seq","reason","detail"} for a row that is refused.
-- @max: the number of bytes of a payload that a refusal keeps.
--
-- If a row has left the inbox meanwhile, nothing is changed; the next page shows what
-- there is.  If somebody else makes one of the ids meanwhile, this begins again, and
-- finds it.

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

    DECLARE @now datetime2(6), @tries int, @sent int, @found int,
            @reserved nvarchar(max), @known nvarchar(max), @inserted int;

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
        outcome  int NULL
    );

    INSERT INTO @rows (n, seq, k, hash, target, before, reason, detail, id)
    SELECT r.n, r.seq, r.k, r.hash, r.target, r.before, r.reason, r.detail,
           d.id
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

            IF LEFT(@doc, 15) COLLATE Latin1_General_BIN2 = N'{"occurrences":'
                EXECUTE submission.submission_intents_reserved @lease_name, @doc,
                                                               @reserved OUTPUT;

            IF @doc IS NOT NULL
            BEGIN
                EXECUTE submission.submission_intents_known @lease_name, @doc,
                        @reserved, NULL, @known OUTPUT;
                EXECUTE submission.submission_intents_insert @lease_name, @now,
                        @doc, @bytes, @known, NULL, @inserted OUTPUT;
            END;

            -- What existed before, or comes twice, is compared.  4: refused, since the
            -- id belongs to a schedule.

            UPDATE r
            SET outcome = CASE WHEN r.reason IS NOT NULL THEN 3
                               WHEN i.same IS NOT NULL
                                    AND CHARINDEX(
                                            CONCAT(N',', r.k, N','),
                                            @known COLLATE Latin1_General_BIN2)
                                        = 0 THEN 1
                               WHEN i.same = 1 THEN 2
                               WHEN i.same = 0 THEN 3
                               WHEN CHARINDEX(
                                        CONCAT(N',', r.k, N','),
                                        @reserved COLLATE Latin1_General_BIN2)
                                    > 0 THEN 4 END
            FROM @rows AS r
                 OUTER APPLY submission.submission_intent_compared(
                     @lease_name, r.id, r.hash, r.target, r.before) AS i;

            INSERT INTO submission.submission_inbox_refused (
                lease_name, refused_at, seq, intent_id, submission_target,
                payload, not_before, traceparent, tracestate, created_at,
                reason, detail
            )
            SELECT b.lease_name, @now, b.seq, b.intent_id, b.submission_target,
                   CAST(SUBSTRING(b.payload, 1, @max) AS varbinary(max)),
                   b.not_before, b.traceparent, b.tracestate, b.created_at,
                   CASE WHEN r.reason IS NOT NULL THEN r.reason
                        WHEN r.outcome = 4
                        THEN 'reserved_id' COLLATE Latin1_General_BIN2
                        ELSE 'idempotency_conflict'
                             COLLATE Latin1_General_BIN2 END,
                   CASE WHEN r.reason IS NOT NULL THEN r.detail
                        WHEN r.outcome = 4
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
            WHERE r.outcome >= 3;

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
    SELECT NULL, r.n, CASE WHEN r.outcome = 4 THEN 3 ELSE r.outcome END
    FROM @rows AS r
    WHERE r.outcome IS NOT NULL;
END
GO
