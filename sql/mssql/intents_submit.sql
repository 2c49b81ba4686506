-- Makes a batch of intents.  The first row of the answer has no id, and has the time as
-- created_at.  The other rows are the intents that existed before; what is not among
-- them was created.  A row without an id was refused: its not_before is more than 365
-- days ahead, or, where exhausted_reason is "reserved_id", its id belongs to a schedule.
--
-- @doc: {"contracts":[{"c",...}],"rows":[{"n","id","c","hash","at","len",
-- "before","trace","state"}]}, the last three where there is such a thing.  The document
-- may begin with "occurrences":[{"n","schedule"}]: the ids of these rows belong to the
-- schedule, if it exists, and then the rows are not made, but may exist already.
-- @bytes: all payloads, end to end; "at" and "len" are a row's part of them.
-- @rows: the number of rows of the document.
--
-- Most batches are of new ids, and are made by one INSERT.  If an id exists, the INSERT
-- fails and is undone; then the places of such rows are looked up and the others are
-- inserted.  If somebody else makes one of those ids meanwhile, this begins again.  The
-- batch also fails if a row was not made, for example because of a trigger.
--
-- Here and elsewhere, each row of a document is a seek, by APPLY with TOP, whatever the
-- server knows about the sizes of the tables.  Lists of places are texts such as ",0,4,".

SET ANSI_NULLS ON;
SET QUOTED_IDENTIFIER ON;
SET ANSI_PADDING ON;
SET ANSI_WARNINGS ON;
SET ARITHABORT ON;
SET CONCAT_NULL_YIELDS_NULL ON;
SET NUMERIC_ROUNDABORT OFF;
GO

-- Lists the places of the rows of a document whose ids belong to a schedule that exists;
-- NULL if there are none.  No such schedule is made until the transaction ends.

CREATE OR ALTER PROCEDURE submission.submission_intents_reserved
    @lease_name varchar(64),
    @doc nvarchar(max),
    @reserved nvarchar(max) OUTPUT
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;

    SELECT @reserved = N',' + STRING_AGG(CAST(o.n AS nvarchar(max)), N',')
                       + N','
    FROM OPENJSON(@doc, '$.occurrences') WITH (
             n int '$.n',
             schedule nvarchar(400) COLLATE Latin1_General_BIN2 '$.schedule'
         ) AS o
         CROSS APPLY submission.submission_schedule_there(@lease_name,
                                                          o.schedule) AS e;
END
GO

-- Lists the places of the rows of a document that must not be inserted: the id exists,
-- a row before it has the same id, the place is in @reserved, or not_before is later than
-- @latest, which may be NULL.  The list is never NULL.

CREATE OR ALTER PROCEDURE submission.submission_intents_known
    @lease_name varchar(64),
    @doc nvarchar(max),
    @reserved nvarchar(max),
    @latest bigint,
    @known nvarchar(max) OUTPUT
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;

    SELECT @known = CONCAT(N',', STRING_AGG(CAST(r.n AS nvarchar(max)), N','),
                           N',')
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
END
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

    DECLARE @now datetime2(6), @tries int, @skip nvarchar(max),
            @known nvarchar(max), @now_us bigint, @latest bigint,
            @inserted int, @sent int, @reserved nvarchar(max);

    SET @tries = 0;

    WHILE 1 = 1
    BEGIN
        BEGIN TRY
            BEGIN TRANSACTION;

            SET @now = submission.submission_now();
            SET @now_us = submission.submission_us(@now);
            SET @latest = @now_us + 31536000000000;

            IF LEFT(@doc, 15) COLLATE Latin1_General_BIN2 = N'{"occurrences":'
                EXECUTE submission.submission_intents_reserved @lease_name, @doc,
                                                               @reserved OUTPUT;

            SET @skip = CONCAT(@known, @reserved);

            EXECUTE submission.submission_intents_insert @lease_name, @now, @doc,
                    @bytes, @skip, @latest, @inserted OUTPUT;

            IF @rows IS NULL OR @inserted <> @rows
            BEGIN
                SELECT @sent = COUNT(*)
                FROM OPENJSON(@doc, '$.rows') WITH (
                         n int '$.n',
                         before bigint '$.before'
                     ) AS r
                WHERE (r.before IS NULL OR r.before <= @latest)
                      AND CHARINDEX(CONCAT(N',', r.n, N','),
                                    @skip COLLATE Latin1_General_BIN2) = 0;

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

        EXECUTE submission.submission_intents_known @lease_name, @doc, @reserved,
                                                    @latest, @known OUTPUT;
    END;

    IF @known IS NULL AND @inserted = @rows
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
                 WHERE d.before > @latest
                       OR CHARINDEX(CONCAT(N',', d.n, N','),
                                    @skip COLLATE Latin1_General_BIN2) > 0
             ) AS r
             CROSS APPLY submission.submission_intent_shown(
                 @lease_name, r.id, r.n, r.at, r.reason) AS i
        ORDER BY i.n;
END
GO
