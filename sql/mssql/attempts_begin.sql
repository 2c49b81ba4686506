-- Marks in flight those of a document of ids that are pending and due.  One row
-- of the answer, without a place, has the time.  Then outcome is 1: begun,
-- 2: early, 3: past its deadline, and exhausted, 0: a contract that is not
-- understood, as src/core/sm_contract.c has it; that must not be begun, as nobody
-- would know how to go on with it.  What is not in the answer has nothing to be
-- tried.  What is answered is read before the commit: nobody has changed it.

SET ANSI_NULLS ON;
SET QUOTED_IDENTIFIER ON;
GO

DROP PROCEDURE IF EXISTS submission.submission_attempts_begin;
GO

CREATE PROCEDURE submission.submission_attempts_begin
    @lease_name nvarchar(64),
    @holder_id nvarchar(128),
    @lease_epoch bigint,
    @doc nvarchar(max)
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;

    DECLARE @now datetime2(7);

    DECLARE @found TABLE (
        id       nvarchar(200) COLLATE Latin1_General_BIN2 NOT NULL PRIMARY KEY,
        n        bigint NOT NULL,
        due_at   datetime2(7) NOT NULL,
        outcome  int NOT NULL
    );

    BEGIN TRANSACTION;

    EXECUTE submission.submission_fence @lease_name, @holder_id, @lease_epoch,
                                        @now OUTPUT;

    INSERT INTO @found (id, n, due_at, outcome)
    SELECT i.intent_id, r.n, i.next_attempt_at,
           CASE WHEN i.next_attempt_at > @now
                THEN 2
                WHEN NOT (i.gateway_type IN ('sms', 'push', 'http')
                          AND (i.policy = 'one_shot'
                               OR (i.policy = 'deadline'
                                   AND COALESCE(i.max_acceptance_seconds, 0)
                                       BETWEEN 1 AND 31536000)
                               OR (i.policy = 'max_attempts'
                                   AND COALESCE(i.max_attempts, 0)
                                       BETWEEN 1 AND 1000000))
                          AND i.retry_delay_ms BETWEEN 1 AND 86400000
                          AND (i.retry_max_ms = 0
                               OR i.retry_max_ms BETWEEN i.retry_delay_ms
                                                 AND 86400000)
                          AND i.retry_backoff_pct BETWEEN 100 AND 10000
                          AND i.retry_jitter_pct BETWEEN 0 AND 100
                          AND ((i.gateway_url COLLATE Latin1_General_BIN2
                                LIKE N'http://_%'
                                AND SUBSTRING(i.gateway_url, 8, 1)
                                    NOT IN (N'/', N':'))
                               OR (i.gateway_url COLLATE Latin1_General_BIN2
                                   LIKE N'https://_%'
                                   AND SUBSTRING(i.gateway_url, 9, 1)
                                       NOT IN (N'/', N':'))))
                THEN 0
                WHEN i.policy = 'deadline'
                     AND @now >= DATEADD(second,
                                         CAST(i.max_acceptance_seconds AS int),
                                         i.created_at)
                THEN 3
                ELSE 1 END
    FROM (
             SELECT CAST(j.value AS nvarchar(200)) COLLATE Latin1_General_BIN2
                    AS id, MIN(CAST(j.[key] AS bigint)) AS n
             FROM OPENJSON(@doc) AS j
             GROUP BY CAST(j.value AS nvarchar(200))
                      COLLATE Latin1_General_BIN2
         ) AS r
         CROSS APPLY (
             SELECT TOP (1) *
             FROM submission.submission_intents AS s
             WHERE s.lease_name = @lease_name AND s.intent_id = r.id
         ) AS i
    WHERE i.status = 'pending' AND i.next_attempt_at IS NOT NULL
          AND i.inflight_epoch IS NULL;

    UPDATE i
    SET status = CASE f.outcome WHEN 3 THEN 'exhausted' ELSE i.status END,
        exhausted_reason = CASE f.outcome WHEN 3 THEN 'deadline_exceeded' END,
        completed_at = CASE f.outcome WHEN 3 THEN @now END,
        inflight_epoch = CASE f.outcome WHEN 1 THEN @lease_epoch END,
        inflight_holder = CASE f.outcome WHEN 1 THEN @holder_id END,
        inflight_at = CASE f.outcome WHEN 1 THEN @now END,
        next_attempt_at = NULL,
        last_modified_at = @now
    FROM @found AS f
         JOIN submission.submission_intents AS i
         ON i.lease_name = @lease_name AND i.intent_id = f.id
    WHERE f.outcome IN (1, 3);

    SELECT submission.submission_us(@now) AS now, NULL AS n, NULL AS outcome,
           NULL AS due_at, NULL AS created_at, NULL AS number,
           NULL AS submission_target, NULL AS gateway_type,
           NULL AS gateway_url, NULL AS policy,
           NULL AS max_acceptance_seconds, NULL AS max_attempts,
           NULL AS terminal_outcomes, NULL AS retry_delay_ms,
           NULL AS retry_max_ms, NULL AS retry_backoff_pct,
           NULL AS retry_jitter_pct,
           NULL AS payload
    UNION ALL
    SELECT NULL, f.n, f.outcome, submission.submission_us(f.due_at),
           submission.submission_us(i.created_at), i.attempt_count + 1,
           i.submission_target, i.gateway_type, i.gateway_url, i.policy,
           i.max_acceptance_seconds, i.max_attempts, i.terminal_outcomes,
           i.retry_delay_ms, i.retry_max_ms, i.retry_backoff_pct,
           i.retry_jitter_pct,
           CASE f.outcome WHEN 1 THEN i.payload END
    FROM @found AS f
         CROSS APPLY (
             SELECT TOP (1) *
             FROM submission.submission_intents AS s
             WHERE s.lease_name = @lease_name AND s.intent_id = f.id
         ) AS i;

    COMMIT TRANSACTION;
END
GO
