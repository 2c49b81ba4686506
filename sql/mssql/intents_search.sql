-- Finds the keys of a page, by a time and the id, up (@up = 1) or down: strictly after
-- (@at, @id), until @end.  @by is created, completed, or reason, which is by completed_at
-- and finds what was rejected or exhausted for @reason, or failed, which is downwards by
-- completed_at and finds what was rejected or exhausted and not replayed.  @status is NULL for any, or
-- "failed" for rejected and exhausted; @target is NULL for any.  A target with a space in
-- its name, which is that of a webhook, is hidden, unless @hidden is 1 and it is @target.
--
-- Each target, status and index is a place, and a seek of its own, and so is the step
-- from one target to the next: a page costs the same however many intents there are.
-- With n places, the first "limit / sqrt(n)" keys of each are read in a first round.  If
-- there are "limit" of these, nothing that comes after all of them is on the page, and at
-- most sqrt(n) places can have more for it.  So no more than 2 * limit * sqrt(n) keys are
-- read, not limit * n.

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
    @limit bigint,
    @hidden bigint = 0
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;

    DECLARE @low datetime2(6), @low_id nvarchar(400), @high datetime2(6),
            @high_id nvarchar(400), @name nvarchar(256), @n bigint,
            @top bigint, @skip bigint, @round bigint, @exhausted varchar(400);

    -- "way" says which index has the keys of a place.

    DECLARE @places TABLE (
        name nvarchar(256) COLLATE Latin1_General_BIN2 NOT NULL,
        status varchar(16) COLLATE Latin1_General_BIN2 NOT NULL,
        way varchar(16) COLLATE Latin1_General_BIN2 NOT NULL,
        PRIMARY KEY (name, status, way)
    );

    DECLARE @keys TABLE (
        at datetime2(6) NOT NULL,
        intent_id nvarchar(400) COLLATE Latin1_General_BIN2 NOT NULL
    );

    -- The page is between (@low, @low_id) and (@high, @high_id); no id is empty.

    SET @low = submission.submission_at(CASE WHEN @up = 1 THEN @at ELSE @end END);
    SET @low_id = CASE WHEN @up = 1 THEN @id ELSE N'' END;
    SET @high = submission.submission_at(CASE WHEN @up = 1 THEN @end ELSE @at END);
    SET @high_id = CASE WHEN @up = 1 THEN N'' ELSE @id END;
    SET @name = @target;

    -- The index is of use only to a value of the column's type.  A reason that the code
    -- page of that type does not have is the reason of no intent.

    SET @exhausted = @reason;

    IF CAST(@exhausted AS nvarchar(400)) COLLATE Latin1_General_BIN2 <> @reason
        SET @exhausted = NULL;

    IF @name IS NULL
        SELECT @name = MIN(submission_target)
        FROM submission.submission_intents
        WHERE lease_name = @lease_name;

    WHILE @name IS NOT NULL
    BEGIN
        INSERT INTO @places (name, status, way)
        SELECT @name, s.status, w.way
        FROM (
                 SELECT CAST(v.value AS varchar(16))
                        COLLATE Latin1_General_BIN2 AS status
                 FROM STRING_SPLIT('pending accepted rejected exhausted canceled',
                                   ' ') AS v
             ) AS s
             CROSS JOIN (
                 SELECT CAST(v.value AS varchar(16))
                        COLLATE Latin1_General_BIN2 AS way
                 FROM STRING_SPLIT('created completed stripped rejected exhausted failed',
                                   ' ') AS v
             ) AS w
        WHERE (CHARINDEX(N' ' COLLATE Latin1_General_BIN2, @name) = 0
               OR (@hidden = 1 AND @target IS NOT NULL))
              AND (@status IS NULL OR s.status = @status
                   OR (@status = 'failed'
                       AND s.status IN ('rejected', 'exhausted')))
              AND ((@by = 'created' AND w.way = 'created')
                   OR (@by = 'completed' AND s.status <> 'pending'
                       AND w.way IN ('completed', 'stripped'))
                   OR (@by = 'reason' AND w.way = s.status)
                   OR (@by = 'failed' AND w.way = 'failed'));

        IF @target IS NOT NULL
            BREAK;

        SET @name = (SELECT MIN(submission_target)
                     FROM submission.submission_intents
                     WHERE lease_name = @lease_name
                           AND submission_target > @name);
    END;

    SET @n = (SELECT COUNT(*) FROM @places);
    SET @round = CASE WHEN @n > 1 THEN 1 ELSE 2 END;
    SET @top = CASE WHEN @n > 1 THEN CEILING(@limit / SQRT(@n))
                    ELSE @limit END;
    SET @skip = @limit - 1;

    WHILE @round <= 2
    BEGIN
        IF @up = 1
            INSERT INTO @keys (at, intent_id)
            SELECT k.at, k.intent_id
            FROM @places AS t
                 CROSS APPLY (
                     SELECT a.at, a.intent_id
                     FROM (
                              SELECT TOP (@top) p.created_at AS at, p.intent_id
                              FROM submission.submission_intents AS p WITH (FORCESEEK)
                              WHERE t.way = 'created' AND p.lease_name = @lease_name
                                    AND p.submission_target = t.name
                                    AND p.status = t.status
                                    AND p.created_at >= @low AND p.created_at <= @high
                                    AND (p.created_at > @low OR p.intent_id > @low_id)
                                    AND (p.created_at < @high OR p.intent_id <= @high_id)
                              ORDER BY p.created_at, p.intent_id
                          ) AS a
                     UNION ALL
                     SELECT b.at, b.intent_id
                     FROM (
                              SELECT TOP (@top) p.completed_at AS at, p.intent_id
                              FROM submission.submission_intents AS p WITH (FORCESEEK)
                              WHERE t.way = 'completed' AND p.lease_name = @lease_name
                                    AND p.submission_target = t.name
                                    AND p.status = t.status
                                    AND p.completed_at IS NOT NULL
                                    AND p.stripped_at IS NULL
                                    AND p.completed_at >= @low AND p.completed_at <= @high
                                    AND (p.completed_at > @low OR p.intent_id > @low_id)
                                    AND (p.completed_at < @high OR p.intent_id <= @high_id)
                              ORDER BY p.completed_at, p.intent_id
                          ) AS b
                     UNION ALL
                     SELECT c.at, c.intent_id
                     FROM (
                              SELECT TOP (@top) p.completed_at AS at, p.intent_id
                              FROM submission.submission_intents AS p WITH (FORCESEEK)
                              WHERE t.way = 'stripped' AND p.lease_name = @lease_name
                                    AND p.submission_target = t.name
                                    AND p.status = t.status
                                    AND p.stripped_at IS NOT NULL
                                    AND p.completed_at >= @low AND p.completed_at <= @high
                                    AND (p.completed_at > @low OR p.intent_id > @low_id)
                                    AND (p.completed_at < @high OR p.intent_id <= @high_id)
                              ORDER BY p.completed_at, p.intent_id
                          ) AS c
                     UNION ALL
                     SELECT d.at, d.intent_id
                     FROM (
                              SELECT TOP (@top) p.completed_at AS at, p.intent_id
                              FROM submission.submission_intents AS p WITH (FORCESEEK)
                              WHERE t.way = 'rejected' AND p.lease_name = @lease_name
                                    AND p.submission_target = t.name
                                    AND p.status = 'rejected'
                                    AND p.final_outcome_reason = @reason
                                    AND p.completed_at >= @low AND p.completed_at <= @high
                                    AND (p.completed_at > @low OR p.intent_id > @low_id)
                                    AND (p.completed_at < @high OR p.intent_id <= @high_id)
                              ORDER BY p.completed_at, p.intent_id
                          ) AS d
                     UNION ALL
                     SELECT e.at, e.intent_id
                     FROM (
                              SELECT TOP (@top) p.completed_at AS at, p.intent_id
                              FROM submission.submission_intents AS p WITH (FORCESEEK)
                              WHERE t.way = 'exhausted' AND p.lease_name = @lease_name
                                    AND p.submission_target = t.name
                                    AND p.status = 'exhausted'
                                    AND p.exhausted_reason = @exhausted
                                    AND p.completed_at >= @low AND p.completed_at <= @high
                                    AND (p.completed_at > @low OR p.intent_id > @low_id)
                                    AND (p.completed_at < @high OR p.intent_id <= @high_id)
                              ORDER BY p.completed_at, p.intent_id
                          ) AS e
                 ) AS k;
        ELSE
            INSERT INTO @keys (at, intent_id)
            SELECT k.at, k.intent_id
            FROM @places AS t
                 CROSS APPLY (
                     SELECT a.at, a.intent_id
                     FROM (
                              SELECT TOP (@top) p.created_at AS at, p.intent_id
                              FROM submission.submission_intents AS p WITH (FORCESEEK)
                              WHERE t.way = 'created' AND p.lease_name = @lease_name
                                    AND p.submission_target = t.name
                                    AND p.status = t.status
                                    AND p.created_at >= @low AND p.created_at <= @high
                                    AND (p.created_at > @low OR p.intent_id >= @low_id)
                                    AND (p.created_at < @high OR p.intent_id < @high_id)
                              ORDER BY p.created_at DESC, p.intent_id DESC
                          ) AS a
                     UNION ALL
                     SELECT b.at, b.intent_id
                     FROM (
                              SELECT TOP (@top) p.completed_at AS at, p.intent_id
                              FROM submission.submission_intents AS p WITH (FORCESEEK)
                              WHERE t.way = 'completed' AND p.lease_name = @lease_name
                                    AND p.submission_target = t.name
                                    AND p.status = t.status
                                    AND p.completed_at IS NOT NULL
                                    AND p.stripped_at IS NULL
                                    AND p.completed_at >= @low AND p.completed_at <= @high
                                    AND (p.completed_at > @low OR p.intent_id >= @low_id)
                                    AND (p.completed_at < @high OR p.intent_id < @high_id)
                              ORDER BY p.completed_at DESC, p.intent_id DESC
                          ) AS b
                     UNION ALL
                     SELECT c.at, c.intent_id
                     FROM (
                              SELECT TOP (@top) p.completed_at AS at, p.intent_id
                              FROM submission.submission_intents AS p WITH (FORCESEEK)
                              WHERE t.way = 'stripped' AND p.lease_name = @lease_name
                                    AND p.submission_target = t.name
                                    AND p.status = t.status
                                    AND p.stripped_at IS NOT NULL
                                    AND p.completed_at >= @low AND p.completed_at <= @high
                                    AND (p.completed_at > @low OR p.intent_id >= @low_id)
                                    AND (p.completed_at < @high OR p.intent_id < @high_id)
                              ORDER BY p.completed_at DESC, p.intent_id DESC
                          ) AS c
                     UNION ALL
                     SELECT d.at, d.intent_id
                     FROM (
                              SELECT TOP (@top) p.completed_at AS at, p.intent_id
                              FROM submission.submission_intents AS p WITH (FORCESEEK)
                              WHERE t.way = 'rejected' AND p.lease_name = @lease_name
                                    AND p.submission_target = t.name
                                    AND p.status = 'rejected'
                                    AND p.final_outcome_reason = @reason
                                    AND p.completed_at >= @low AND p.completed_at <= @high
                                    AND (p.completed_at > @low OR p.intent_id >= @low_id)
                                    AND (p.completed_at < @high OR p.intent_id < @high_id)
                              ORDER BY p.completed_at DESC, p.intent_id DESC
                          ) AS d
                     UNION ALL
                     SELECT e.at, e.intent_id
                     FROM (
                              SELECT TOP (@top) p.completed_at AS at, p.intent_id
                              FROM submission.submission_intents AS p WITH (FORCESEEK)
                              WHERE t.way = 'exhausted' AND p.lease_name = @lease_name
                                    AND p.submission_target = t.name
                                    AND p.status = 'exhausted'
                                    AND p.exhausted_reason = @exhausted
                                    AND p.completed_at >= @low AND p.completed_at <= @high
                                    AND (p.completed_at > @low OR p.intent_id >= @low_id)
                                    AND (p.completed_at < @high OR p.intent_id < @high_id)
                              ORDER BY p.completed_at DESC, p.intent_id DESC
                          ) AS e
                     UNION ALL
                     SELECT f.at, f.intent_id
                     FROM (
                              SELECT TOP (@top) p.completed_at AS at, p.intent_id
                              FROM submission.submission_intents AS p WITH (FORCESEEK)
                              WHERE t.way = 'failed' AND p.lease_name = @lease_name
                                    AND p.submission_target = t.name
                                    AND p.status = t.status
                                    AND p.status IN ('rejected', 'exhausted')
                                    AND p.replay_count IS NULL
                                    AND p.completed_at >= @low AND p.completed_at <= @high
                                    AND (p.completed_at > @low OR p.intent_id >= @low_id)
                                    AND (p.completed_at < @high OR p.intent_id < @high_id)
                              ORDER BY p.completed_at DESC, p.intent_id DESC
                          ) AS f
                 ) AS k;

        IF @round = 1
        BEGIN
            IF @up = 1
                SELECT @high = k.at, @high_id = k.intent_id
                FROM @keys AS k
                ORDER BY k.at, k.intent_id
                OFFSET @skip ROWS FETCH NEXT 1 ROWS ONLY;
            ELSE
                SELECT @low = k.at, @low_id = k.intent_id
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
