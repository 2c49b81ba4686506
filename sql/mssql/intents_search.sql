-- The keys of a page, by a time and the id, up (@up = 1) or down: strictly after
-- (@at, @id), until @end.  @by is created, completed, or reason: by completed_at,
-- of what was rejected or exhausted for @reason; NULL is any status, "failed" both
-- of these, and any target.
--
-- Each target, status and index is a seek of its own, as in intents_list.sql, with
-- as many keys read: those of the first part of each place, in the first round,
-- tell how far the page goes at most.  What was stripped is in an index of its
-- own.  Targets with a space in their name are hidden.

SET ANSI_NULLS ON;
SET QUOTED_IDENTIFIER ON;
SET ANSI_PADDING ON;
SET ANSI_WARNINGS ON;
SET ARITHABORT ON;
SET CONCAT_NULL_YIELDS_NULL ON;
SET NUMERIC_ROUNDABORT OFF;
GO

CREATE OR ALTER PROCEDURE submission.submission_intents_search
    @lease_name varchar(64),
    @by varchar(16),
    @status varchar(16),
    @target nvarchar(256),
    @reason nvarchar(400),
    @up bigint,
    @at bigint,
    @id nvarchar(400),
    @end bigint,
    @limit bigint
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;

    DECLARE @start datetime2(6), @stop datetime2(6), @last datetime2(6),
            @last_id nvarchar(400), @name nvarchar(256), @n bigint,
            @top bigint, @skip bigint, @round bigint, @exhausted varchar(400);

    -- where to look: a row for each target and status

    DECLARE @places TABLE (
        name nvarchar(256) COLLATE Latin1_General_BIN2 NOT NULL,
        status varchar(16) COLLATE Latin1_General_BIN2 NOT NULL,
        PRIMARY KEY (name, status)
    );

    DECLARE @keys TABLE (
        at datetime2(6) NOT NULL,
        intent_id nvarchar(400) COLLATE Latin1_General_BIN2 NOT NULL
    );

    SET @start = submission.submission_at(@at);
    SET @stop = submission.submission_at(@end);
    SET @last = CASE WHEN @up = 1 THEN CAST('9999-12-31' AS datetime2(6))
                     ELSE CAST('0001-01-01' AS datetime2(6)) END;
    SET @last_id = N'';
    SET @name = @target;

    -- of the column's type, or else its index is no use: what its code page does not
    -- have is the reason of nobody

    SET @exhausted = @reason;

    IF CAST(@exhausted AS nvarchar(400)) COLLATE Latin1_General_BIN2 <> @reason
        SET @exhausted = NULL;

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
        WHERE CHARINDEX(N' ' COLLATE Latin1_General_BIN2, @name) = 0
              AND (@status IS NULL OR s.status = @status
                   OR @status = 'failed')
              AND (@by = 'created' OR s.status <> 'pending')
              AND ((@by <> 'reason' AND COALESCE(@status, '') <> 'failed')
                   OR s.status = 'rejected' OR s.status = 'exhausted');

        IF @target IS NOT NULL
            BREAK;

        SET @name = (SELECT MIN(submission_target)
                     FROM submission.submission_intents
                     WHERE lease_name = @lease_name
                           AND submission_target > @name);
    END;

    SET @n = (SELECT COUNT(*) FROM @places);
    SET @n = CASE WHEN @by = 'completed' THEN 2 * @n ELSE @n END;
    SET @round = CASE WHEN @n > 1 THEN 1 ELSE 2 END;
    SET @top = CASE WHEN @n > 1 THEN CEILING(@limit / SQRT(@n))
                    ELSE @limit END;
    SET @skip = @limit - 1;

    WHILE @round <= 2
    BEGIN
        IF @by = 'created' AND @up = 0
        BEGIN
            INSERT INTO @keys (at, intent_id)
            SELECT k.at, k.intent_id
            FROM @places AS t
                 CROSS APPLY (
                     SELECT TOP (@top) p.created_at AS at, p.intent_id
                     FROM submission.submission_intents AS p WITH (FORCESEEK)
                     WHERE p.lease_name = @lease_name
                           AND p.submission_target = t.name
                           AND p.status = t.status
                           AND p.created_at <= @start AND p.created_at >= @stop
                           AND p.created_at >= @last
                           AND (p.created_at < @start OR p.intent_id < @id)
                           AND (p.created_at > @last OR p.intent_id >= @last_id)
                     ORDER BY p.created_at DESC, p.intent_id DESC
                 ) AS k;
        END
        ELSE IF @by = 'created' AND @up = 1
        BEGIN
            INSERT INTO @keys (at, intent_id)
            SELECT k.at, k.intent_id
            FROM @places AS t
                 CROSS APPLY (
                     SELECT TOP (@top) p.created_at AS at, p.intent_id
                     FROM submission.submission_intents AS p WITH (FORCESEEK)
                     WHERE p.lease_name = @lease_name
                           AND p.submission_target = t.name
                           AND p.status = t.status
                           AND p.created_at >= @start AND p.created_at < @stop
                           AND p.created_at <= @last
                           AND (p.created_at > @start OR p.intent_id > @id)
                           AND (p.created_at < @last OR p.intent_id <= @last_id)
                     ORDER BY p.created_at, p.intent_id
                 ) AS k;
        END
        ELSE IF @by = 'completed' AND @up = 0
        BEGIN
            INSERT INTO @keys (at, intent_id)
            SELECT k.at, k.intent_id
            FROM @places AS t
                 CROSS APPLY (
                     SELECT TOP (@top) p.completed_at AS at, p.intent_id
                     FROM submission.submission_intents AS p WITH (FORCESEEK)
                     WHERE p.lease_name = @lease_name
                           AND p.submission_target = t.name
                           AND p.status = t.status
                           AND p.completed_at IS NOT NULL
                           AND p.stripped_at IS NULL
                           AND p.completed_at <= @start AND p.completed_at >= @stop
                           AND p.completed_at >= @last
                           AND (p.completed_at < @start OR p.intent_id < @id)
                           AND (p.completed_at > @last OR p.intent_id >= @last_id)
                     ORDER BY p.completed_at DESC, p.intent_id DESC
                 ) AS k;

            INSERT INTO @keys (at, intent_id)
            SELECT k.at, k.intent_id
            FROM @places AS t
                 CROSS APPLY (
                     SELECT TOP (@top) p.completed_at AS at, p.intent_id
                     FROM submission.submission_intents AS p WITH (FORCESEEK)
                     WHERE p.lease_name = @lease_name
                           AND p.submission_target = t.name
                           AND p.status = t.status
                           AND p.stripped_at IS NOT NULL
                           AND p.completed_at <= @start AND p.completed_at >= @stop
                           AND p.completed_at >= @last
                           AND (p.completed_at < @start OR p.intent_id < @id)
                           AND (p.completed_at > @last OR p.intent_id >= @last_id)
                     ORDER BY p.completed_at DESC, p.intent_id DESC
                 ) AS k;
        END
        ELSE IF @by = 'completed' AND @up = 1
        BEGIN
            INSERT INTO @keys (at, intent_id)
            SELECT k.at, k.intent_id
            FROM @places AS t
                 CROSS APPLY (
                     SELECT TOP (@top) p.completed_at AS at, p.intent_id
                     FROM submission.submission_intents AS p WITH (FORCESEEK)
                     WHERE p.lease_name = @lease_name
                           AND p.submission_target = t.name
                           AND p.status = t.status
                           AND p.completed_at IS NOT NULL
                           AND p.stripped_at IS NULL
                           AND p.completed_at >= @start AND p.completed_at < @stop
                           AND p.completed_at <= @last
                           AND (p.completed_at > @start OR p.intent_id > @id)
                           AND (p.completed_at < @last OR p.intent_id <= @last_id)
                     ORDER BY p.completed_at, p.intent_id
                 ) AS k;

            INSERT INTO @keys (at, intent_id)
            SELECT k.at, k.intent_id
            FROM @places AS t
                 CROSS APPLY (
                     SELECT TOP (@top) p.completed_at AS at, p.intent_id
                     FROM submission.submission_intents AS p WITH (FORCESEEK)
                     WHERE p.lease_name = @lease_name
                           AND p.submission_target = t.name
                           AND p.status = t.status
                           AND p.stripped_at IS NOT NULL
                           AND p.completed_at >= @start AND p.completed_at < @stop
                           AND p.completed_at <= @last
                           AND (p.completed_at > @start OR p.intent_id > @id)
                           AND (p.completed_at < @last OR p.intent_id <= @last_id)
                     ORDER BY p.completed_at, p.intent_id
                 ) AS k;
        END
        ELSE IF @by = 'reason' AND @up = 0
        BEGIN
            INSERT INTO @keys (at, intent_id)
            SELECT k.at, k.intent_id
            FROM @places AS t
                 CROSS APPLY (
                     SELECT TOP (@top) p.completed_at AS at, p.intent_id
                     FROM submission.submission_intents AS p WITH (FORCESEEK)
                     WHERE p.lease_name = @lease_name
                           AND p.submission_target = t.name
                           AND p.status = 'rejected'
                           AND p.final_outcome_reason = @reason
                           AND p.completed_at <= @start AND p.completed_at >= @stop
                           AND p.completed_at >= @last
                           AND (p.completed_at < @start OR p.intent_id < @id)
                           AND (p.completed_at > @last OR p.intent_id >= @last_id)
                     ORDER BY p.completed_at DESC, p.intent_id DESC
                 ) AS k
            WHERE t.status = 'rejected';

            INSERT INTO @keys (at, intent_id)
            SELECT k.at, k.intent_id
            FROM @places AS t
                 CROSS APPLY (
                     SELECT TOP (@top) p.completed_at AS at, p.intent_id
                     FROM submission.submission_intents AS p WITH (FORCESEEK)
                     WHERE p.lease_name = @lease_name
                           AND p.submission_target = t.name
                           AND p.status = 'exhausted'
                           AND p.exhausted_reason = @exhausted
                           AND p.completed_at <= @start AND p.completed_at >= @stop
                           AND p.completed_at >= @last
                           AND (p.completed_at < @start OR p.intent_id < @id)
                           AND (p.completed_at > @last OR p.intent_id >= @last_id)
                     ORDER BY p.completed_at DESC, p.intent_id DESC
                 ) AS k
            WHERE t.status = 'exhausted';
        END
        ELSE IF @by = 'reason' AND @up = 1
        BEGIN
            INSERT INTO @keys (at, intent_id)
            SELECT k.at, k.intent_id
            FROM @places AS t
                 CROSS APPLY (
                     SELECT TOP (@top) p.completed_at AS at, p.intent_id
                     FROM submission.submission_intents AS p WITH (FORCESEEK)
                     WHERE p.lease_name = @lease_name
                           AND p.submission_target = t.name
                           AND p.status = 'rejected'
                           AND p.final_outcome_reason = @reason
                           AND p.completed_at >= @start AND p.completed_at < @stop
                           AND p.completed_at <= @last
                           AND (p.completed_at > @start OR p.intent_id > @id)
                           AND (p.completed_at < @last OR p.intent_id <= @last_id)
                     ORDER BY p.completed_at, p.intent_id
                 ) AS k
            WHERE t.status = 'rejected';

            INSERT INTO @keys (at, intent_id)
            SELECT k.at, k.intent_id
            FROM @places AS t
                 CROSS APPLY (
                     SELECT TOP (@top) p.completed_at AS at, p.intent_id
                     FROM submission.submission_intents AS p WITH (FORCESEEK)
                     WHERE p.lease_name = @lease_name
                           AND p.submission_target = t.name
                           AND p.status = 'exhausted'
                           AND p.exhausted_reason = @exhausted
                           AND p.completed_at >= @start AND p.completed_at < @stop
                           AND p.completed_at <= @last
                           AND (p.completed_at > @start OR p.intent_id > @id)
                           AND (p.completed_at < @last OR p.intent_id <= @last_id)
                     ORDER BY p.completed_at, p.intent_id
                 ) AS k
            WHERE t.status = 'exhausted';
        END;

        IF @round = 1
        BEGIN
            IF @up = 1
                SELECT @last = k.at, @last_id = k.intent_id
                FROM @keys AS k
                ORDER BY k.at, k.intent_id
                OFFSET @skip ROWS FETCH NEXT 1 ROWS ONLY;
            ELSE
                SELECT @last = k.at, @last_id = k.intent_id
                FROM @keys AS k
                ORDER BY k.at DESC, k.intent_id DESC
                OFFSET @skip ROWS FETCH NEXT 1 ROWS ONLY;

            DELETE FROM @keys;
            SET @top = @limit;
        END;

        SET @round = @round + 1;
    END;

    IF @up = 1
        SELECT TOP (@limit) submission.submission_us(k.at) AS at, k.intent_id
        FROM @keys AS k
        ORDER BY k.at, k.intent_id;
    ELSE
        SELECT TOP (@limit) submission.submission_us(k.at) AS at, k.intent_id
        FROM @keys AS k
        ORDER BY k.at DESC, k.intent_id DESC;
END
GO
