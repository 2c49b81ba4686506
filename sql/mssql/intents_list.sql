-- A page of the list, newest first, strictly after (@created_at, @intent_id);
-- NULL is any status, any target, and from the newest on.  Keys are found first,
-- in the index alone, then the rows of one page.
--
-- Each target and status is a seek of its own, and so is the step from one
-- target to the next: a page costs the same however many intents there are.
-- With n targets and statuses, the newest "limit / sqrt(n)" of each are looked
-- at before.  If there are "limit" of these, none that is older than all of them
-- is on the page; and at most sqrt(n) targets and statuses can have more for it.
-- So no more than 2 * limit * sqrt(n) keys are read, not limit * n.

SET ANSI_NULLS ON;
SET QUOTED_IDENTIFIER ON;
SET ANSI_PADDING ON;
SET ANSI_WARNINGS ON;
SET ARITHABORT ON;
SET CONCAT_NULL_YIELDS_NULL ON;
SET NUMERIC_ROUNDABORT OFF;
GO

CREATE OR ALTER PROCEDURE submission.submission_intents_list
    @lease_name varchar(64),
    @status varchar(16),
    @target nvarchar(256),
    @limit bigint,
    @created_at bigint,
    @intent_id nvarchar(400)
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;

    DECLARE @at datetime2(6), @id nvarchar(400), @name nvarchar(256),
            @from datetime2(6), @from_id nvarchar(400), @n bigint,
            @part bigint, @skip bigint;

    -- where to look: a row for each target and status

    DECLARE @places TABLE (
        name nvarchar(256) COLLATE Latin1_General_BIN2 NOT NULL,
        status varchar(16) COLLATE Latin1_General_BIN2 NOT NULL,
        PRIMARY KEY (name, status)
    );

    DECLARE @keys TABLE (
        created_at datetime2(6) NOT NULL,
        intent_id nvarchar(400) COLLATE Latin1_General_BIN2 NOT NULL
    );

    SET @at = CASE WHEN @created_at IS NULL
                   THEN CAST('9999-12-31' AS datetime2(6))
                   ELSE submission.submission_at(@created_at) END;
    SET @id = COALESCE(@intent_id, N'');
    SET @name = @target;

    IF @name IS NULL
        SELECT @name = MIN(submission_target)
        FROM submission.submission_intents
        WHERE lease_name = @lease_name;

    WHILE @name IS NOT NULL
    BEGIN
        INSERT INTO @places (name, status)
        SELECT @name, s.status
        FROM (SELECT CAST('pending' AS varchar(16))
                     COLLATE Latin1_General_BIN2 AS status
              UNION ALL
              SELECT CAST('accepted' AS varchar(16))
                     COLLATE Latin1_General_BIN2
              UNION ALL
              SELECT CAST('rejected' AS varchar(16))
                     COLLATE Latin1_General_BIN2
              UNION ALL
              SELECT CAST('exhausted' AS varchar(16))
                     COLLATE Latin1_General_BIN2
              UNION ALL
              SELECT CAST('canceled' AS varchar(16))
                     COLLATE Latin1_General_BIN2) AS s
        WHERE (@status IS NULL OR s.status = @status)
              AND (@target IS NOT NULL
                   OR CHARINDEX(N' ' COLLATE Latin1_General_BIN2, @name) = 0);

        IF @target IS NOT NULL
            BREAK;

        SET @name = (SELECT MIN(submission_target)
                     FROM submission.submission_intents
                     WHERE lease_name = @lease_name
                           AND submission_target > @name);
    END;

    IF @target IS NULL
    BEGIN
        SET @n = (SELECT COUNT(*) FROM @places);
        SET @part = CASE WHEN @n = 0 THEN 1
                         ELSE CEILING(@limit / SQRT(@n)) END;
        SET @skip = @limit - 1;

        SELECT @from = k.created_at, @from_id = k.intent_id
        FROM @places AS t
             CROSS APPLY (
                 SELECT TOP (@part) p.created_at, p.intent_id
                 FROM submission.submission_intents AS p WITH (FORCESEEK)
                 WHERE p.lease_name = @lease_name
                       AND p.submission_target = t.name
                       AND p.status = t.status
                       AND p.created_at <= @at
                       AND (p.created_at < @at OR p.intent_id < @id)
                 ORDER BY p.created_at DESC, p.intent_id DESC
             ) AS k
        ORDER BY k.created_at DESC, k.intent_id DESC
        OFFSET @skip ROWS FETCH NEXT 1 ROWS ONLY;
    END;

    SET @from_id = COALESCE(@from_id, N'');
    SET @from = COALESCE(@from, CAST('0001-01-01' AS datetime2(6)));

    INSERT INTO @keys (created_at, intent_id)
    SELECT TOP (@limit) k.created_at, k.intent_id
    FROM @places AS t
         CROSS APPLY (
             SELECT TOP (@limit) p.created_at, p.intent_id
             FROM submission.submission_intents AS p WITH (FORCESEEK)
             WHERE p.lease_name = @lease_name
                   AND p.submission_target = t.name AND p.status = t.status
                   AND p.created_at <= @at AND p.created_at >= @from
                   AND (p.created_at < @at OR p.intent_id < @id)
                   AND (p.created_at > @from OR p.intent_id >= @from_id)
             ORDER BY p.created_at DESC, p.intent_id DESC
         ) AS k
    ORDER BY k.created_at DESC, k.intent_id DESC;

    SELECT i.*
    FROM @keys AS g
         CROSS APPLY submission.submission_intent_shown(@lease_name, g.intent_id,
                                                        0, NULL, NULL) AS i
    WHERE i.intent_id IS NOT NULL
    ORDER BY g.created_at DESC, g.intent_id DESC;
END
GO
