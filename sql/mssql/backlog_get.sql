-- Counts, by target, the intents that have an attempt to come, of the @bound that were
-- modified first.  "seen" is the number of intents that were read, which is @bound + 1 if
-- there are more.  The index covers what is read.

SET ANSI_NULLS ON;
SET QUOTED_IDENTIFIER ON;
SET ANSI_PADDING ON;
SET ANSI_WARNINGS ON;
SET ARITHABORT ON;
SET CONCAT_NULL_YIELDS_NULL ON;
SET NUMERIC_ROUNDABORT OFF;
GO

CREATE OR ALTER PROCEDURE submission.submission_backlog_get
    @lease_name varchar(64),
    @bound bigint,
    @groups bigint
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;

    DECLARE @now datetime2(6), @seen bigint;

    DECLARE @pending TABLE (
        target   nvarchar(256) COLLATE Latin1_General_BIN2 NOT NULL,
        due_at   datetime2(6) NOT NULL
    );

    SET @now = submission.submission_now();

    INSERT INTO @pending (target, due_at)
    SELECT TOP (@bound + 1) i.submission_target, i.next_attempt_at
    FROM submission.submission_intents AS i
         WITH (FORCESEEK (submission_intents_modified (lease_name)))
    WHERE i.lease_name = @lease_name AND i.next_attempt_at IS NOT NULL
    ORDER BY i.last_modified_at, i.intent_id;

    SET @seen = @@ROWCOUNT;

    SELECT submission.submission_us(@now) AS now, @seen AS seen, g.target,
           g.due, g.waiting, submission.submission_us(g.oldest) AS oldest
    FROM (SELECT 1 AS one) AS o
         LEFT JOIN (
             SELECT TOP (@groups) s.target,
                    CAST(SUM(CASE WHEN s.due_at <= @now THEN 1 ELSE 0 END)
                         AS bigint) AS due,
                    CAST(SUM(CASE WHEN s.due_at > @now THEN 1 ELSE 0 END)
                         AS bigint) AS waiting,
                    MIN(s.due_at) AS oldest
             FROM @pending AS s
             GROUP BY s.target
             ORDER BY s.target
         ) AS g ON 1 = 1;
END
GO
