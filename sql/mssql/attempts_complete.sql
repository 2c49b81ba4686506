-- Appends attempts and moves their intents, where this attempt of an intent is
-- in flight; one without an outcome was not sent, and is as due as it was.  One
-- row of the answer, without a place, has the time, the others are what was
-- applied.
--
-- @doc: [{"n","id","number","epoch","holder","started","finished","outcome",
-- "reason","error","status","exhausted","delay"}].  Over-long text is clipped.

SET ANSI_NULLS ON;
SET QUOTED_IDENTIFIER ON;
GO

DROP PROCEDURE IF EXISTS submission.submission_attempts_complete;
GO

CREATE PROCEDURE submission.submission_attempts_complete
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
        n          bigint NOT NULL,
        id         nvarchar(200) COLLATE Latin1_General_BIN2 NOT NULL PRIMARY KEY,
        number     bigint NOT NULL,
        epoch      bigint NOT NULL,
        holder     nvarchar(128) NOT NULL,
        started    bigint NULL,
        finished   bigint NULL,
        outcome    varchar(16) NULL,
        reason     nvarchar(200) NULL,
        error      nvarchar(1000) NULL,
        status     varchar(16) NULL,
        exhausted  varchar(32) NULL,
        delay      bigint NULL,
        next_at    datetime2(7) NULL
    );

    BEGIN TRANSACTION;

    EXECUTE submission.submission_fence @lease_name, @holder_id, @lease_epoch,
                                        @now OUTPUT;

    -- of two of the same intent, the first

    INSERT INTO @found (n, id, number, epoch, holder, started, finished,
                        outcome, reason, error, status, exhausted, delay,
                        next_at)
    SELECT x.n, x.id, x.number, x.epoch, x.holder, x.started, x.finished,
           x.outcome, LEFT(x.reason, 200), LEFT(x.error, 1000), x.status,
           x.exhausted, x.delay,
           CASE WHEN x.outcome IS NULL
                THEN x.inflight_at
                WHEN x.status = 'pending'
                THEN DATEADD(millisecond, CAST(x.delay AS int), @now) END
    FROM (
             SELECT r.*, i.inflight_at,
                    ROW_NUMBER() OVER (PARTITION BY i.intent_id ORDER BY r.n)
                    AS nth
             FROM OPENJSON(@doc) WITH (
                      n bigint '$.n', id nvarchar(200) '$.id',
                      number bigint '$.number', epoch bigint '$.epoch',
                      holder nvarchar(128) '$.holder',
                      started bigint '$.started', finished bigint '$.finished',
                      outcome varchar(16) '$.outcome',
                      reason nvarchar(max) '$.reason',
                      error nvarchar(max) '$.error',
                      status varchar(16) '$.status',
                      exhausted varchar(32) '$.exhausted',
                      delay bigint '$.delay'
                  ) AS r
                  CROSS APPLY (
                      SELECT TOP (1) *
                      FROM submission.submission_intents AS s
                      WHERE s.lease_name = @lease_name
                            AND s.intent_id = r.id COLLATE Latin1_General_BIN2
                  ) AS i
             WHERE i.status = 'pending' AND i.inflight_epoch = r.epoch
                   AND i.inflight_holder = r.holder COLLATE Latin1_General_BIN2
                   AND i.attempt_count = r.number - 1
         ) AS x
    WHERE x.nth = 1;

    UPDATE i
    SET status = CASE WHEN r.outcome IS NULL THEN i.status ELSE r.status END,
        final_outcome_status = CASE WHEN r.outcome IS NULL
                                    THEN i.final_outcome_status
                                    ELSE r.outcome END,
        final_outcome_reason = CASE WHEN r.outcome IS NULL
                                    THEN i.final_outcome_reason
                                    ELSE r.reason END,
        exhausted_reason = r.exhausted,
        attempt_count = i.attempt_count + CASE WHEN r.outcome IS NULL THEN 0
                                               ELSE 1 END,
        completed_at = CASE WHEN r.outcome IS NOT NULL
                                 AND r.status <> 'pending' THEN @now END,
        last_modified_at = @now,
        next_attempt_at = r.next_at,
        inflight_epoch = NULL,
        inflight_holder = NULL,
        inflight_at = NULL
    FROM @found AS r
         JOIN submission.submission_intents AS i
         ON i.lease_name = @lease_name AND i.intent_id = r.id;

    INSERT INTO submission.submission_attempts (
        lease_name, intent_id, attempt_number, lease_epoch, holder_id,
        started_at, finished_at, outcome_status, outcome_reason, error
    )
    SELECT @lease_name, r.id, r.number, r.epoch, r.holder,
           submission.submission_at(r.started),
           submission.submission_at(r.finished), r.outcome, r.reason, r.error
    FROM @found AS r
    WHERE r.outcome IS NOT NULL;

    COMMIT TRANSACTION;

    SELECT submission.submission_us(@now) AS now, NULL AS n,
           NULL AS next_attempt_at
    UNION ALL
    SELECT NULL, r.n, submission.submission_us(r.next_at)
    FROM @found AS r;
END
GO
