-- Does a turn of the executor in one transaction: it records the attempts that have ended,
-- and begins those that are due; either document may be [].  One row of the answer,
-- without an n, has the time.  In the others n is the place in a document.
--
-- The answer, with its payloads, is sent after the commit, so that a leader that stops
-- reading it keeps no lock.  @sent and @found have what may change after the commit;
-- contracts and payloads never do.  They are documents, because a table variable costs
-- more than all else where rows are few.  UPDLOCK: what they say of an intent stays true
-- until the intent is updated.  The conditions on "n" are always true; they tell a
-- planner without hints, that of Babelfish, that such a document is short.
--
-- @ended: [{"n","id","number","epoch","holder","started","finished","outcome",
-- "reason","error","http","answer","span","status","exhausted","delay","held"}].
-- An attempt that is in flight is appended, and its intent is moved on.  An attempt
-- without an outcome was not sent: the intent is due when it was due before, or, with a
-- delay, that much later than now.  An attempt that is held stays in flight, and only
-- its error is written.  outcome is 4: applied, and the next attempt is due at due_at; an
-- attempt that is not in the answer was not applied.  A text that is too long is clipped.
--
-- @due: ["id"].  Intents that are pending and due are marked as in flight.  outcome is
-- 1: begun, 2: too early, 3: the deadline has passed, and the intent is exhausted,
-- 0: the contract is of a newer version than @version, that of the calling module, and is
-- left to a newer module, which last_error says from then on, 5: as 0, and last_error
-- said so before.  What a module understands of a contract is said by
-- src/core/model/sm_contract.c.  An intent that is not in the answer has no attempt to
-- come.  created_at is not_before if that is later, because a deadline counts from it.

SET ANSI_NULLS ON;
SET QUOTED_IDENTIFIER ON;
SET ANSI_PADDING ON;
SET ANSI_WARNINGS ON;
SET ARITHABORT ON;
SET CONCAT_NULL_YIELDS_NULL ON;
SET NUMERIC_ROUNDABORT OFF;
GO

CREATE OR ALTER PROCEDURE submission.submission_attempts_turn
    @lease_name varchar(64),
    @holder_id nvarchar(128),
    @lease_epoch bigint,
    @ended nvarchar(max),
    @due nvarchar(max),
    @version bigint
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;

    DECLARE @now datetime2(6), @sent nvarchar(max), @found nvarchar(max);

    BEGIN TRANSACTION;

    EXECUTE submission.submission_fence @lease_name, @holder_id, @lease_epoch,
                                        @now OUTPUT;

    IF @ended <> N'[]'
    BEGIN
        -- Of two of the same intent, the first counts.

        SET @sent = (
            SELECT x.n, x.id, x.number, x.epoch, x.holder, x.started,
                   x.finished, x.outcome,
                   submission.submission_left(x.reason, 200) AS reason,
                   submission.submission_left(x.error, 1000) AS error, x.http,
                   submission.submission_left(x.answer, 1000) AS answer, x.span,
                   x.status, x.exhausted,
                   CASE WHEN x.notify IS NOT NULL THEN 1 END AS told,
                   x.held,
                   submission.submission_us(
                       CASE WHEN x.held IS NOT NULL THEN NULL
                            WHEN x.outcome IS NULL AND x.delay IS NULL
                            THEN x.inflight_at
                            WHEN x.outcome IS NULL OR x.status = 'pending'
                            THEN DATEADD(millisecond, CAST(x.delay AS int),
                                         @now) END) AS next_at
            FROM (
                     SELECT r.*, i.inflight_at, i.notify,
                            ROW_NUMBER() OVER (PARTITION BY i.intent_id
                                               ORDER BY r.n) AS nth
                     FROM OPENJSON(@ended) WITH (
                              n bigint '$.n',
                              id nvarchar(400) COLLATE Latin1_General_BIN2 '$.id',
                              number bigint '$.number',
                              epoch bigint '$.epoch',
                              holder nvarchar(128) COLLATE Latin1_General_BIN2 '$.holder',
                              started bigint '$.started',
                              finished bigint '$.finished',
                              outcome varchar(16) COLLATE Latin1_General_BIN2 '$.outcome',
                              reason nvarchar(max) COLLATE Latin1_General_BIN2 '$.reason',
                              error nvarchar(max) COLLATE Latin1_General_BIN2 '$.error',
                              http int '$.http',
                              answer nvarchar(max) COLLATE Latin1_General_BIN2 '$.answer',
                              span varchar(16) COLLATE Latin1_General_BIN2 '$.span',
                              status varchar(16) COLLATE Latin1_General_BIN2 '$.status',
                              exhausted varchar(32) COLLATE Latin1_General_BIN2 '$.exhausted',
                              delay bigint '$.delay',
                              held bigint '$.held'
                          ) AS r
                          CROSS APPLY (
                              SELECT TOP (1) *
                              FROM submission.submission_intents AS s
                                   WITH (UPDLOCK,
                                         FORCESEEK (submission_intents_pk
                                                    (lease_name, intent_id)))
                              WHERE s.lease_name = @lease_name
                                    AND s.intent_id
                                        = r.id COLLATE Latin1_General_BIN2
                          ) AS i
                     WHERE i.status = 'pending' AND i.inflight_epoch = r.epoch
                           AND i.inflight_holder
                               = r.holder COLLATE Latin1_General_BIN2
                           AND i.attempt_count = r.number - 1
                 ) AS x
            WHERE x.nth = 1
            FOR JSON PATH
        );

        UPDATE i
        SET status = CASE WHEN r.outcome IS NULL THEN i.status
                          ELSE r.status END,
            final_outcome_status = CASE WHEN r.outcome IS NULL
                                        THEN i.final_outcome_status
                                        ELSE r.outcome END,
            final_outcome_reason = CASE WHEN r.outcome IS NOT NULL
                                        THEN r.reason
                                        WHEN r.error IS NULL
                                        THEN i.final_outcome_reason
                                        WHEN r.held IS NOT NULL
                                        THEN N'unknown'
                                             COLLATE Latin1_General_BIN2
                                        ELSE N'unsent'
                                             COLLATE Latin1_General_BIN2 END,
            exhausted_reason = r.exhausted,
            last_error = CASE WHEN r.outcome IS NULL AND r.error IS NULL
                              THEN i.last_error
                              ELSE submission.submission_left(r.error, 400)
                                   COLLATE Latin1_General_BIN2 END,
            attempt_count = i.attempt_count + CASE WHEN r.outcome IS NULL THEN 0
                                                   ELSE 1 END,
            completed_at = CASE WHEN r.outcome IS NOT NULL
                                     AND r.status <> 'pending' THEN @now END,
            last_modified_at = @now,
            next_attempt_at = submission.submission_at(r.next_at),
            inflight_epoch = CASE WHEN r.held IS NOT NULL
                                  THEN i.inflight_epoch END,
            inflight_holder = CASE WHEN r.held IS NOT NULL
                                   THEN i.inflight_holder END,
            inflight_at = CASE WHEN r.held IS NOT NULL THEN i.inflight_at END
        FROM OPENJSON(@sent) WITH (
                 n bigint '$.n',
                 id nvarchar(400) COLLATE Latin1_General_BIN2 '$.id',
                 outcome varchar(16) COLLATE Latin1_General_BIN2 '$.outcome',
                 reason nvarchar(200) COLLATE Latin1_General_BIN2 '$.reason',
                 error nvarchar(1000) COLLATE Latin1_General_BIN2 '$.error',
                 status varchar(16) COLLATE Latin1_General_BIN2 '$.status',
                 exhausted varchar(32) COLLATE Latin1_General_BIN2 '$.exhausted',
                 next_at bigint '$.next_at',
                 held bigint '$.held'
             ) AS r
             INNER LOOP JOIN submission.submission_intents AS i
                             WITH (INDEX (submission_intents_pk))
             ON i.lease_name = @lease_name
                AND i.intent_id = r.id COLLATE Latin1_General_BIN2
        WHERE r.n BETWEEN 0 AND 1000000;

        INSERT INTO submission.submission_attempts (
            lease_name, intent_id, attempt_number, lease_epoch, holder_id,
            started_at, finished_at, outcome_status, outcome_reason, error,
            http_status, answer, span_id
        )
        SELECT @lease_name, r.id, r.number, r.epoch, r.holder,
               submission.submission_at(r.started),
               submission.submission_at(r.finished), r.outcome, r.reason,
               r.error, r.http, r.answer, r.span
        FROM OPENJSON(@sent) WITH (
                 id nvarchar(400) COLLATE Latin1_General_BIN2 '$.id',
                 number bigint '$.number',
                 epoch bigint '$.epoch',
                 holder nvarchar(128) COLLATE Latin1_General_BIN2 '$.holder',
                 started bigint '$.started',
                 finished bigint '$.finished',
                 outcome varchar(16) COLLATE Latin1_General_BIN2 '$.outcome',
                 reason nvarchar(200) COLLATE Latin1_General_BIN2 '$.reason',
                 error nvarchar(1000) COLLATE Latin1_General_BIN2 '$.error',
                 http int '$.http',
                 answer nvarchar(1000) COLLATE Latin1_General_BIN2 '$.answer',
                 span varchar(16) COLLATE Latin1_General_BIN2 '$.span'
             ) AS r
        WHERE r.outcome IS NOT NULL;

        IF CHARINDEX(N'"told":', @sent COLLATE Latin1_General_BIN2) > 0
            EXECUTE submission.submission_intents_ended @lease_name, @now,
                                                        @sent;
    END;

    IF @due <> N'[]'
    BEGIN
        SET @found = (
            SELECT i.intent_id AS id, r.n,
                   submission.submission_us(i.next_attempt_at) AS due_at,
                   i.attempt_count + 1 AS number,
                   CASE WHEN i.next_attempt_at > @now
                         THEN 2
                         WHEN i.contract_version > @version
                         THEN CASE WHEN i.last_error
                                        = submission.submission_newer(
                                              i.contract_version)
                                          COLLATE Latin1_General_BIN2
                                   THEN 5 ELSE 0 END

                         -- Nothing here overflows, whatever the row has.

                         WHEN i.policy = 'deadline'
                              AND i.max_acceptance_seconds > 0
                              AND DATEDIFF_BIG(
                                      microsecond,
                                      CASE WHEN i.not_before > i.created_at
                                           THEN i.not_before
                                           ELSE i.created_at END, @now)
                                  / 1000000
                                  >= i.max_acceptance_seconds
                         THEN 3
                         ELSE 1 END AS outcome
            FROM (
                     SELECT CAST(j.value AS nvarchar(400))
                            COLLATE Latin1_General_BIN2 AS id,
                            MIN(CAST(j.[key] AS bigint)) AS n
                     FROM OPENJSON(@due) AS j
                     GROUP BY CAST(j.value AS nvarchar(400))
                              COLLATE Latin1_General_BIN2
                 ) AS r
                 CROSS APPLY (
                     SELECT TOP (1) *
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
        SET status = CASE f.outcome WHEN 3 THEN 'exhausted' ELSE i.status END,
            exhausted_reason = CASE f.outcome WHEN 3
                               THEN 'deadline_exceeded' END,
            completed_at = CASE f.outcome WHEN 3 THEN @now END,
            inflight_epoch = CASE f.outcome WHEN 1 THEN @lease_epoch END,
            inflight_holder = CASE f.outcome WHEN 1 THEN @holder_id END,
            inflight_at = CASE f.outcome WHEN 1 THEN @now END,
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
        WHERE f.n BETWEEN 0 AND 1000000 AND f.outcome IN (1, 3)

              -- One that was canceled since it was found is left as it is.

              AND i.status = 'pending' AND i.inflight_epoch IS NULL;

        -- Babelfish writes a space after the colon.

        IF CHARINDEX(N'"outcome":3', @found COLLATE Latin1_General_BIN2) > 0
           OR CHARINDEX(N'"outcome": 3', @found COLLATE Latin1_General_BIN2) > 0
            EXECUTE submission.submission_intents_ended @lease_name, @now,
                                                        @found;

        IF CHARINDEX(N'"outcome":0', @found COLLATE Latin1_General_BIN2) > 0
           OR CHARINDEX(N'"outcome": 0', @found COLLATE Latin1_General_BIN2) > 0
            UPDATE i
            SET last_error = submission.submission_newer(i.contract_version),
                final_outcome_reason = N'unsent'
            FROM OPENJSON(@found) WITH (
                     n bigint '$.n',
                     id nvarchar(400) COLLATE Latin1_General_BIN2 '$.id',
                     outcome int '$.outcome'
                 ) AS f
                 INNER LOOP JOIN submission.submission_intents AS i
                                 WITH (INDEX (submission_intents_pk))
                 ON i.lease_name = @lease_name
                    AND i.intent_id = f.id COLLATE Latin1_General_BIN2
            WHERE f.n BETWEEN 0 AND 1000000 AND f.outcome = 0
                  AND i.status = 'pending';
    END;

    COMMIT TRANSACTION;

    -- Each NULL has a type: of two without one, SQL Server would make an int.

    SELECT submission.submission_us(@now) AS now, CAST(NULL AS bigint) AS n,
           CAST(NULL AS bigint) AS outcome, CAST(NULL AS bigint) AS due_at,
           CAST(NULL AS bigint) AS created_at, CAST(NULL AS bigint) AS number,
           CAST(NULL AS nvarchar(256)) AS submission_target,
           CAST(NULL AS varchar(16)) AS gateway_type,
           CAST(NULL AS nvarchar(1024)) AS gateway_url,
           CAST(NULL AS varchar(16)) AS policy,
           CAST(NULL AS bigint) AS max_acceptance_seconds,
           CAST(NULL AS bigint) AS max_attempts,
           CAST(NULL AS nvarchar(1000)) AS terminal_outcomes,
           CAST(NULL AS bigint) AS retry_delay_ms,
           CAST(NULL AS bigint) AS retry_max_ms,
           CAST(NULL AS bigint) AS retry_backoff_pct,
           CAST(NULL AS bigint) AS retry_jitter_pct,
           CAST(NULL AS varchar(500)) AS retry_schedule,
           CAST(NULL AS nvarchar(1000)) AS notify,
           CAST(NULL AS bigint) AS contract_version,
           CAST(NULL AS varchar(64)) AS traceparent,
           CAST(NULL AS varchar(512)) AS tracestate,
           CAST(NULL AS varbinary(max)) AS payload
    UNION ALL
    SELECT NULL, r.n, 4, r.next_at, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
           NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
           NULL
    FROM OPENJSON(@sent) WITH (
             n bigint '$.n',
             next_at bigint '$.next_at'
         ) AS r
    UNION ALL
    SELECT NULL, f.n, f.outcome, f.due_at,
           submission.submission_us(
               CASE WHEN i.not_before > i.created_at THEN i.not_before
                    ELSE i.created_at END), f.number,
           i.submission_target, i.gateway_type, i.gateway_url, i.policy,
           i.max_acceptance_seconds, i.max_attempts, i.terminal_outcomes,
           i.retry_delay_ms, i.retry_max_ms, i.retry_backoff_pct,
           i.retry_jitter_pct, i.retry_schedule, i.notify,
           i.contract_version, i.traceparent, i.tracestate,
           CASE f.outcome WHEN 1 THEN i.payload END
    FROM OPENJSON(@found) WITH (
             id nvarchar(400) COLLATE Latin1_General_BIN2 '$.id',
             n bigint '$.n',
             due_at bigint '$.due_at',
             number bigint '$.number',
             outcome bigint '$.outcome'
         ) AS f
         CROSS APPLY (
             SELECT TOP (1) *
             FROM submission.submission_intents AS s
                  WITH (FORCESEEK (submission_intents_pk
                                   (lease_name, intent_id)))
             WHERE s.lease_name = @lease_name
                   AND s.intent_id = f.id COLLATE Latin1_General_BIN2
         ) AS i
    WHERE (f.outcome <> 1 OR (i.inflight_epoch = @lease_epoch
                              AND i.inflight_holder = @holder_id))
          AND (f.outcome <> 3 OR i.status = 'exhausted');
END
GO
