-- Ends those intents of a batch whose deadline has passed, in one transaction, whenever
-- their next attempt is due.  One row of the answer, without an n, has the time.  In the
-- others n is the place in the document.
--
-- @ids: ["id"].  outcome is 3: the deadline has passed, and the intent is exhausted;
-- 2: it has not, and the next attempt is due at due_at; 0: the contract is of a newer
-- version than @version, and is left to a newer module, which last_error says from then
-- on, and "error" says once.  An intent that is not in the answer has no attempt to come.
-- created_at is not_before if that is later, because a deadline counts from it.
--
-- UPDLOCK: what @found says of an intent stays true until the intent is updated.  See
-- attempts_turn.sql.

SET ANSI_NULLS ON;
SET QUOTED_IDENTIFIER ON;
SET ANSI_PADDING ON;
SET ANSI_WARNINGS ON;
SET ARITHABORT ON;
SET CONCAT_NULL_YIELDS_NULL ON;
SET NUMERIC_ROUNDABORT OFF;
GO

-- Says why the leader leaves an intent alone.

CREATE OR ALTER FUNCTION submission.submission_newer (@version int)
RETURNS nvarchar(100)
WITH SCHEMABINDING
AS
BEGIN
    RETURN CONCAT(N'not sent: its contract is of version ', @version,
                  N', which the leader does not know');
END
GO

CREATE OR ALTER PROCEDURE submission.submission_attempts_expire
    @lease_name varchar(64),
    @holder_id nvarchar(128),
    @lease_epoch bigint,
    @ids nvarchar(max),
    @version bigint
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;

    DECLARE @now datetime2(6), @found nvarchar(max), @told int;

    BEGIN TRANSACTION;

    EXECUTE submission.submission_fence @lease_name, @holder_id, @lease_epoch,
                                        @now OUTPUT;

    SET @found = (
        SELECT i.intent_id AS id, r.n,
               submission.submission_us(i.next_attempt_at) AS due_at,
               submission.submission_us(i.since) AS since,
               i.attempt_count + 1 AS number, i.notify,
               CASE WHEN i.contract_version > @version
                         AND (i.last_error IS NULL
                              OR i.last_error
                                 <> submission.submission_newer(
                                        i.contract_version)
                                    COLLATE Latin1_General_BIN2)
                    THEN submission.submission_newer(i.contract_version)
                    END AS error,
               CASE WHEN i.contract_version > @version THEN 0
                    WHEN i.policy = 'deadline' COLLATE Latin1_General_BIN2
                         AND DATEDIFF_BIG(microsecond, i.since, @now) / 1000000
                             >= i.max_acceptance_seconds
                    THEN 3 ELSE 2 END AS outcome
        FROM (
                 SELECT CAST(j.value AS nvarchar(400))
                        COLLATE Latin1_General_BIN2 AS id,
                        MIN(CAST(j.[key] AS bigint)) AS n
                 FROM OPENJSON(@ids) AS j
                 GROUP BY CAST(j.value AS nvarchar(400))
                          COLLATE Latin1_General_BIN2
             ) AS r
             CROSS APPLY (
                 SELECT TOP (1) s.*,
                        CASE WHEN s.not_before > s.created_at THEN s.not_before
                             ELSE s.created_at END AS since
                 FROM submission.submission_intents AS s
                      WITH (UPDLOCK, FORCESEEK (submission_intents_pk
                                                (lease_name, intent_id)))
                 WHERE s.lease_name = @lease_name AND s.intent_id = r.id
             ) AS i
        WHERE i.status = 'pending' AND i.next_attempt_at IS NOT NULL
              AND i.inflight_epoch IS NULL
        FOR JSON PATH
    );

    UPDATE i
    SET status = 'exhausted',
        exhausted_reason = 'deadline_exceeded',
        completed_at = @now,
        next_attempt_at = NULL,
        last_modified_at = @now
    FROM OPENJSON(@found) WITH (
             n bigint '$.n',
             id nvarchar(400) COLLATE Latin1_General_BIN2 '$.id',
             outcome int '$.outcome'
         ) AS f
         INNER LOOP JOIN submission.submission_intents AS i
                         WITH (INDEX (submission_intents_pk))
         ON i.lease_name = @lease_name
            AND i.intent_id = f.id COLLATE Latin1_General_BIN2
    WHERE f.n BETWEEN 0 AND 1000000 AND f.outcome = 3

          -- One that was canceled since it was found is left as it is.

          AND i.status = 'pending' AND i.inflight_epoch IS NULL;

    IF CHARINDEX(N'"error":', @found COLLATE Latin1_General_BIN2) > 0
        UPDATE i
        SET last_error = f.error,
            final_outcome_reason = N'unsent'
        FROM OPENJSON(@found) WITH (
                 n bigint '$.n',
                 id nvarchar(400) COLLATE Latin1_General_BIN2 '$.id',
                 error nvarchar(100) COLLATE Latin1_General_BIN2 '$.error'
             ) AS f
             INNER LOOP JOIN submission.submission_intents AS i
                             WITH (INDEX (submission_intents_pk))
             ON i.lease_name = @lease_name
                AND i.intent_id = f.id COLLATE Latin1_General_BIN2
        WHERE f.n BETWEEN 0 AND 1000000 AND f.error IS NOT NULL
              AND i.status = 'pending';

    SELECT @told = COUNT(*)
    FROM OPENJSON(@found) WITH (
             notify nvarchar(1000) COLLATE Latin1_General_BIN2 '$.notify'
         ) AS f
    WHERE f.notify IS NOT NULL;

    IF @told > 0
        EXECUTE submission.submission_intents_ended @lease_name, @now, @found;

    COMMIT TRANSACTION;

    -- Each NULL has a type: of two without one, SQL Server would make an int.

    SELECT submission.submission_us(@now) AS now, CAST(NULL AS bigint) AS n,
           CAST(NULL AS bigint) AS outcome, CAST(NULL AS bigint) AS due_at,
           CAST(NULL AS bigint) AS created_at, CAST(NULL AS bigint) AS number,
           CAST(NULL AS nvarchar(1000)) AS notify,
           CAST(NULL AS nvarchar(100)) AS error
    UNION ALL
    SELECT NULL, f.n, f.outcome, f.due_at, f.since, f.number, f.notify, f.error
    FROM OPENJSON(@found) WITH (
             id nvarchar(400) COLLATE Latin1_General_BIN2 '$.id',
             n bigint '$.n',
             due_at bigint '$.due_at',
             since bigint '$.since',
             number bigint '$.number',
             notify nvarchar(1000) COLLATE Latin1_General_BIN2 '$.notify',
             error nvarchar(100) COLLATE Latin1_General_BIN2 '$.error',
             outcome bigint '$.outcome'
         ) AS f
         CROSS APPLY (
             SELECT TOP (1) s.status
             FROM submission.submission_intents AS s
                  WITH (FORCESEEK (submission_intents_pk
                                   (lease_name, intent_id)))
             WHERE s.lease_name = @lease_name
                   AND s.intent_id = f.id COLLATE Latin1_General_BIN2
         ) AS i
    WHERE f.outcome <> 3 OR i.status = 'exhausted';
END
GO
