-- Shows the newest @bound intents that were rejected or exhausted since @since and not
-- replayed, those of the newest @bound that were, and those that the inbox refused, in
-- groups of the same target, status, reason and last error: the newest three of each
-- minute of the newest @groups groups.  So one answer serves any later @since, too.  The
-- first row of a minute has the number of its failures.  All failures after "seen" were
-- read; -1 means all there are.
--
-- What was replayed is counted apart, in minutes of its own with 1 as "replayed".  It
-- comes last in its group, and groups that have nothing else come last.

SET ANSI_NULLS ON;
SET QUOTED_IDENTIFIER ON;
SET ANSI_PADDING ON;
SET ANSI_WARNINGS ON;
SET ARITHABORT ON;
SET CONCAT_NULL_YIELDS_NULL ON;
SET NUMERIC_ROUNDABORT OFF;
GO

CREATE OR ALTER PROCEDURE submission.submission_failures_get
    @lease_name varchar(64),
    @target nvarchar(256),
    @since bigint,
    @bound bigint,
    @groups bigint
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;

    DECLARE @from datetime2(6), @most bigint, @failed bigint, @all bigint,
            @refused bigint, @seen bigint;

    DECLARE @keys TABLE (
        at bigint NOT NULL,
        intent_id nvarchar(400) COLLATE Latin1_General_BIN2 NOT NULL
    );

    DECLARE @open TABLE (
        at bigint NOT NULL,
        intent_id nvarchar(400) COLLATE Latin1_General_BIN2 NOT NULL
    );

    DECLARE @looked TABLE (
        target nvarchar(256) COLLATE Latin1_General_BIN2 NOT NULL,
        status varchar(16) COLLATE Latin1_General_BIN2 NOT NULL,
        reason nvarchar(400) COLLATE Latin1_General_BIN2 NULL,
        last_error nvarchar(1000) COLLATE Latin1_General_BIN2 NULL,
        at bigint NOT NULL,
        intent_id nvarchar(400) COLLATE Latin1_General_BIN2 NOT NULL,
        replayed int NOT NULL
    );

    SET @from = submission.submission_at(@since);
    SET @most = @bound + 1;

    INSERT INTO @keys (at, intent_id)
    EXECUTE submission.submission_intents_search
        @lease_name, 'completed', 'failed', @target, NULL, 0,
        253402214400000000, N'', @since, @most;

    INSERT INTO @open (at, intent_id)
    EXECUTE submission.submission_intents_search
        @lease_name, 'failed', 'failed', @target, NULL, 0,
        253402214400000000, N'', @since, @most;

    SET @failed = (SELECT MIN(at) FROM @open HAVING COUNT(*) > @bound);
    SET @all = (SELECT MIN(at) FROM @keys HAVING COUNT(*) > @bound);
    SET @failed = CASE WHEN @all > ISNULL(@failed, -1) THEN @all
                       ELSE @failed END;

    INSERT INTO @looked (target, status, reason, last_error, at, intent_id,
                         replayed)
    SELECT i.submission_target, i.status,
           CASE WHEN i.status = 'rejected' THEN i.final_outcome_reason
                ELSE i.exhausted_reason END,
           i.last_error, k.at, k.intent_id,
           k.replayed
    FROM (
             SELECT o.at, o.intent_id, 0 AS replayed
             FROM @open AS o
             UNION ALL
             SELECT a.at, a.intent_id, 1 AS replayed
             FROM @keys AS a
         ) AS k
         CROSS APPLY (
             SELECT TOP (1) *
             FROM submission.submission_intents AS q WITH (FORCESEEK)
             WHERE q.lease_name = @lease_name AND q.intent_id = k.intent_id
         ) AS i
    WHERE k.replayed = CASE WHEN i.replay_count IS NULL THEN 0 ELSE 1 END;

    INSERT INTO @looked (target, status, reason, last_error, at, intent_id,
                         replayed)
    SELECT TOP (@most) SUBSTRING(i.submission_target, 1, 200),
           CAST('refused' AS varchar(16)) COLLATE Latin1_General_BIN2,
           i.reason, i.detail, submission.submission_us(i.refused_at),
           SUBSTRING(i.intent_id, 1, 200), 0
    FROM submission.submission_inbox_refused AS i WITH (FORCESEEK)
    WHERE i.lease_name = @lease_name AND i.refused_at >= @from
    ORDER BY i.refused_at DESC, i.seq DESC;

    SET @refused = (SELECT MIN(at) FROM @looked WHERE status = 'refused'
                    HAVING COUNT(*) > @bound);
    SET @seen = CASE WHEN @failed > ISNULL(@refused, -1) THEN @failed
                     ELSE ISNULL(@refused, -1) END;

    DELETE FROM @looked
    WHERE @target IS NOT NULL AND target <> @target;

    SELECT g.number, g.intent_id, @seen AS seen, g.target, g.status, g.reason,
           g.last_error,
           CASE g.nth WHEN 1 THEN g.failures ELSE 0 END AS failures,
           CAST(g.replayed AS bigint) AS replayed, g.at AS newest_at
    FROM (
             SELECT r.*,
                    DENSE_RANK() OVER (
                        ORDER BY r.open_at DESC, r.newest_at DESC, r.target,
                                 r.status, r.reason, r.last_error
                    ) AS number
             FROM (
                      SELECT l.target, l.status, l.reason, l.last_error, l.at,
                             l.intent_id, l.replayed,
                             ROW_NUMBER() OVER (
                                 PARTITION BY l.target, l.status, l.reason,
                                              l.last_error, l.replayed,
                                              l.at / 60000000
                                 ORDER BY l.at DESC, l.intent_id DESC
                             ) AS nth,
                             COUNT_BIG(*) OVER (
                                 PARTITION BY l.target, l.status, l.reason,
                                              l.last_error, l.replayed,
                                              l.at / 60000000
                             ) AS failures,
                             MAX(CASE l.replayed WHEN 0 THEN l.at ELSE -1 END)
                             OVER (
                                 PARTITION BY l.target, l.status, l.reason,
                                              l.last_error
                             ) AS open_at,
                             MAX(l.at) OVER (
                                 PARTITION BY l.target, l.status, l.reason,
                                              l.last_error
                             ) AS newest_at
                      FROM @looked AS l
                  ) AS r
             WHERE r.nth <= 3
         ) AS g
    WHERE g.number <= @groups + 1
    ORDER BY g.number, g.replayed, g.at DESC, g.intent_id DESC;
END
GO
