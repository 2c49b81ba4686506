-- Does a batch of a pass over the targets, from the one after @after on.  What ended long
-- ago is stripped: it loses its payload and its attempts.  Later it is forgotten.  The
-- pass ends with the audit, the refusals of the inbox, and the jobs.  The batch changes
-- @limit rows at most, and counts those of attempts.
--
-- One row of the answer has the time alone.  The other has what was done, the number of
-- rows that were changed, whether the pass is at its end, the last target that is done,
-- and the place in the next target at which the batch has stopped, which is @from of the
-- next batch.  So the ghosts of deleted rows, which a long snapshot keeps, are not passed
-- again and again.  For the same reason a pass begins with what was not due at @since.
--
-- @from: [{"target","status","kind","at","id"}], or NULL; kind is 1 for what is to be
-- forgotten, and 2 for what is to be stripped.
-- @rules: [{"status","strip","forget"}], in microseconds; what is to be forgotten is
-- stripped first.
-- @audit, @refused, @jobs: how long they are kept, in microseconds; 0 is for ever.

SET ANSI_NULLS ON;
SET QUOTED_IDENTIFIER ON;
SET ANSI_PADDING ON;
SET ANSI_WARNINGS ON;
SET ARITHABORT ON;
SET CONCAT_NULL_YIELDS_NULL ON;
SET NUMERIC_ROUNDABORT OFF;
GO

CREATE OR ALTER PROCEDURE submission.submission_retention
    @lease_name varchar(64),
    @holder_id nvarchar(128),
    @lease_epoch bigint,
    @after nvarchar(256),
    @limit bigint,
    @rules nvarchar(max),
    @audit bigint,
    @refused bigint,
    @jobs bigint,
    @from nvarchar(max) = NULL,
    @since bigint = 0
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;

    DECLARE @now datetime2(6), @before datetime2(6), @us bigint,
            @target nvarchar(256), @done nvarchar(256), @id nvarchar(400),
            @status varchar(16), @age bigint, @rule int, @left bigint,
            @n bigint, @fit bigint, @cost bigint, @i int, @stripped bigint,
            @forgotten bigint, @others bigint, @oldest datetime2(6),
            @late bigint, @end int, @kind int, @at datetime2(6),
            @after_id nvarchar(400), @last datetime2(6),
            @last_id nvarchar(400), @place nvarchar(max), @job varchar(16),
            @from_target nvarchar(256), @from_status varchar(16),
            @from_kind int, @from_at bigint, @from_id nvarchar(400);

    DECLARE @list TABLE (
        n        int NOT NULL PRIMARY KEY,
        status   varchar(16) COLLATE Latin1_General_BIN2 NOT NULL,
        kind     int NOT NULL,
        age      bigint NOT NULL
    );

    DECLARE @old TABLE (
        id       nvarchar(400) COLLATE Latin1_General_BIN2 NOT NULL PRIMARY KEY,
        at       datetime2(6) NOT NULL,
        cost     bigint NOT NULL
    );

    INSERT INTO @list (n, status, kind, age)
    SELECT ROW_NUMBER() OVER (ORDER BY r.status COLLATE Latin1_General_BIN2,
                                       k.kind),
           r.status, k.kind,
           CASE WHEN k.kind = 1 THEN r.forget ELSE r.strip END
    FROM OPENJSON(@rules) WITH (
             status varchar(16) COLLATE Latin1_General_BIN2 '$.status',
             strip bigint '$.strip',
             forget bigint '$.forget'
         ) AS r
         CROSS JOIN (SELECT 1 AS kind UNION ALL SELECT 2) AS k
    WHERE CASE WHEN k.kind = 1 THEN r.forget ELSE r.strip END IS NOT NULL;

    SET @from_target = JSON_VALUE(@from, '$[0].target');
    SET @from_status = JSON_VALUE(@from, '$[0].status');
    SET @from_kind = CAST(JSON_VALUE(@from, '$[0].kind') AS int);
    SET @from_at = CAST(JSON_VALUE(@from, '$[0].at') AS bigint);
    SET @from_id = JSON_VALUE(@from, '$[0].id');
    SET @done = @after;
    SET @left = @limit;
    SET @stripped = 0;
    SET @forgotten = 0;
    SET @others = 0;
    SET @late = 0;
    SET @end = 0;
    SET @i = 0;

    BEGIN TRANSACTION;

    EXECUTE submission.submission_fence @lease_name, @holder_id, @lease_epoch,
                                        @now OUTPUT;

    SET @us = submission.submission_us(@now);

    WHILE @i < 32 AND @left > 0 AND @end = 0
    BEGIN
        SET @i = @i + 1;
        SET @target = @from_target;

        IF @target IS NULL
            SELECT TOP (1) @target = s.submission_target
            FROM submission.submission_intents AS s
                 WITH (FORCESEEK (submission_intents_list
                                  (lease_name, submission_target)))
            WHERE s.lease_name = @lease_name AND s.submission_target > @done
            ORDER BY s.submission_target;

        IF @target IS NULL
        BEGIN
            SET @end = 1;
            BREAK;
        END;

        SET @rule = 1;

        WHILE @left > 0 AND EXISTS (SELECT 1 FROM @list WHERE n = @rule)
        BEGIN
            SELECT @status = status, @kind = kind, @age = age
            FROM @list
            WHERE n = @rule;

            SET @rule = @rule + 1;

            -- What comes before @from is done.

            IF @from_target IS NOT NULL
               AND (@from_status > @status COLLATE Latin1_General_BIN2
                    OR (@from_status = @status COLLATE Latin1_General_BIN2
                        AND @from_kind > @kind))
                CONTINUE;

            SET @before = submission.submission_at(@us - @age);
            SET @at = CASE WHEN @since > 0
                           THEN submission.submission_at(@since - @age)
                           ELSE CAST('1970-01-01' AS datetime2(6)) END;
            SET @after_id = N'';

            IF @from_target IS NOT NULL AND @from_kind = @kind
               AND @from_status = @status COLLATE Latin1_General_BIN2
            BEGIN
                SET @at = submission.submission_at(@from_at);
                SET @after_id = @from_id;
            END;

            SET @from_target = NULL;

            DELETE FROM @old;

            IF @kind = 1
            BEGIN
                INSERT INTO @old (id, at, cost)
                SELECT TOP (@left) s.intent_id, s.completed_at, 1
                FROM submission.submission_intents AS s
                     WITH (FORCESEEK (submission_intents_stripped
                                      (lease_name, submission_target)))
                WHERE s.lease_name = @lease_name
                      AND s.submission_target = @target AND s.status = @status
                      AND s.completed_at <= @before
                      AND s.completed_at >= @at
                      AND (s.completed_at > @at OR s.intent_id > @after_id)
                      AND s.stripped_at IS NOT NULL
                ORDER BY s.completed_at, s.intent_id;

                SET @n = @@ROWCOUNT;
                SET @last = @at;
                SET @last_id = @after_id;

                SELECT TOP (1) @last = o.at, @last_id = o.id
                FROM @old AS o
                ORDER BY o.at DESC, o.id DESC;

                DELETE i
                FROM @old AS o
                     INNER LOOP JOIN submission.submission_intents AS i
                                     WITH (INDEX (submission_intents_pk))
                     ON i.lease_name = @lease_name AND i.intent_id = o.id;

                SET @forgotten = @forgotten + @n;
                SET @left = @left - @n;
            END
            ELSE
            BEGIN
                INSERT INTO @old (id, at, cost)
                SELECT f.intent_id, f.completed_at,
                       SUM(f.attempt_count + 1)
                           OVER (ORDER BY f.completed_at, f.intent_id
                                 ROWS UNBOUNDED PRECEDING)
                FROM (
                         SELECT TOP (@left) s.intent_id, s.completed_at,
                                s.attempt_count
                         FROM submission.submission_intents AS s
                              WITH (FORCESEEK (submission_intents_completed
                                               (lease_name,
                                                submission_target)))
                         WHERE s.lease_name = @lease_name
                               AND s.submission_target = @target
                               AND s.status = @status
                               AND s.completed_at <= @before
                               AND s.completed_at >= @at
                               AND (s.completed_at > @at
                                    OR s.intent_id > @after_id)
                               AND s.completed_at IS NOT NULL
                               AND s.stripped_at IS NULL
                         ORDER BY s.completed_at, s.intent_id
                     ) AS f;

                SET @n = @@ROWCOUNT;

                SELECT @fit = SUM(CASE WHEN o.cost <= @left THEN 1 ELSE 0 END),
                       @cost = MAX(CASE WHEN o.cost <= @left THEN o.cost
                                        ELSE 0 END)
                FROM @old AS o;

                -- If none fits, the next batch goes on with the same intent.

                SET @last = @at;
                SET @last_id = @after_id;

                SELECT TOP (1) @last = o.at, @last_id = o.id
                FROM @old AS o
                WHERE o.cost <= @left
                ORDER BY o.cost DESC;

                IF @n > 0 AND @fit = 0
                BEGIN

                    -- The first intent has more attempts than a batch may change:
                    -- some of them go.

                    SELECT TOP (1) @id = o.id
                    FROM @old AS o
                    ORDER BY o.cost;

                    DELETE FROM submission.submission_attempts
                    WHERE lease_name = @lease_name AND intent_id = @id
                          AND attempt_number IN (
                              SELECT TOP (@left) a.attempt_number
                              FROM submission.submission_attempts AS a
                              WHERE a.lease_name = @lease_name
                                    AND a.intent_id = @id
                              ORDER BY a.attempt_number
                          );

                    SET @fit = @@ROWCOUNT;

                    IF @fit < @left
                    BEGIN
                        UPDATE submission.submission_intents
                        SET payload = CAST('' AS varbinary(max)),
                            stripped_at = @now
                        WHERE lease_name = @lease_name AND intent_id = @id;

                        SET @stripped = @stripped + 1;
                    END;

                    SET @left = 0;
                END
                ELSE IF @n > 0
                BEGIN
                    DELETE a
                    FROM @old AS o
                         INNER LOOP JOIN submission.submission_attempts AS a
                                         WITH (INDEX (submission_attempts_pk))
                         ON a.lease_name = @lease_name AND a.intent_id = o.id
                    WHERE o.cost <= @left;

                    UPDATE i
                    SET payload = CAST('' AS varbinary(max)),
                        stripped_at = @now
                    FROM @old AS o
                         INNER LOOP JOIN submission.submission_intents AS i
                                         WITH (INDEX (submission_intents_pk))
                         ON i.lease_name = @lease_name AND i.intent_id = o.id
                    WHERE o.cost <= @left;

                    SET @stripped = @stripped + @fit;
                    SET @left = CASE WHEN @fit < @n THEN 0
                                     ELSE @left - @cost END;
                END;
            END;

            SELECT @oldest = MIN(o.at)
            FROM @old AS o;

            IF DATEDIFF_BIG(microsecond, @oldest, @before) > @late
                SET @late = DATEDIFF_BIG(microsecond, @oldest, @before);

            IF @left <= 0
                SET @place = (SELECT @target AS target, @status AS status,
                                     @kind AS kind,
                                     submission.submission_us(@last) AS at,
                                     @last_id AS id
                              FOR JSON PATH);
        END;

        SET @from_target = NULL;

        IF @left > 0
            SET @done = @target;
    END;

    IF @end = 1 AND @audit > 0
    BEGIN
        SET @before = submission.submission_at(@us - @audit);

        DELETE FROM submission.submission_audit
        WHERE seq IN (SELECT TOP (@left) a.seq
                      FROM submission.submission_audit AS a
                      WHERE a.lease_name = @lease_name AND a.at <= @before
                      ORDER BY a.at, a.seq);

        SET @n = @@ROWCOUNT;
        SET @others = @others + @n;
        SET @left = @left - @n;
    END;

    IF @end = 1 AND @refused > 0 AND @left > 0
    BEGIN
        SET @before = submission.submission_at(@us - @refused);

        DELETE FROM submission.submission_inbox_refused
        WHERE lease_name = @lease_name AND refused_at <= @before
              AND seq IN (SELECT TOP (@left) b.seq
                          FROM submission.submission_inbox_refused AS b
                          WHERE b.lease_name = @lease_name
                                AND b.refused_at <= @before
                          ORDER BY b.refused_at, b.seq);

        SET @n = @@ROWCOUNT;
        SET @others = @others + @n;
        SET @left = @left - @n;
    END;

    -- created_at, which is in the index, is a bound, because no job ends before it was
    -- made.

    SET @before = submission.submission_at(@us - @jobs);
    SET @job = CASE WHEN @end = 1 AND @jobs > 0 THEN 'replay' END;

    WHILE @job IS NOT NULL AND @left > 0
    BEGIN
        DELETE FROM submission.submission_jobs
        WHERE lease_name = @lease_name AND kind = @job
              AND completed_at <= @before
              AND job_id IN (SELECT TOP (@left) j.job_id
                             FROM submission.submission_jobs AS j
                             WHERE j.lease_name = @lease_name
                                   AND j.kind = @job
                                   AND j.created_at <= @before
                                   AND j.completed_at <= @before);

        SET @n = @@ROWCOUNT;
        SET @others = @others + @n;
        SET @left = @left - @n;
        SET @job = CASE WHEN @job = 'replay' THEN 'cancel' END;
    END;

    COMMIT TRANSACTION;

    SELECT @us AS now, NULL AS stripped, NULL AS forgotten, NULL AS others,
           NULL AS changed, NULL AS overdue, NULL AS ended, NULL AS done,
           NULL AS place
    UNION ALL
    SELECT NULL, @stripped, @forgotten, @others, @limit - @left,
           @late, CASE WHEN @end = 1 AND @left > 0 THEN 1 ELSE 0 END, @done,
           @place;
END
GO
