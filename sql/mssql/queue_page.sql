-- Shows a page of the intents that have an attempt to come, strictly after
-- (@after_at, @after_id).  With @order = 0 they are in the order of modification; with
-- @order = 2, too, but without those whose deadline has passed.  With @order = 1, only
-- retries and what has a not_before and was never tried are shown, in the order in which
-- they are due.  One row, without an id, has the time.
--
-- An intent with a deadline has created_at, from which the deadline counts, and its
-- seconds.
--
-- The indexes cover what is read.  Otherwise, where READ_COMMITTED_SNAPSHOT is off, a
-- reader that goes from the index to the row could deadlock with a turn that goes from
-- the row to the index.

SET ANSI_NULLS ON;
SET QUOTED_IDENTIFIER ON;
SET ANSI_PADDING ON;
SET ANSI_WARNINGS ON;
SET ARITHABORT ON;
SET CONCAT_NULL_YIELDS_NULL ON;
SET NUMERIC_ROUNDABORT OFF;
GO

CREATE OR ALTER PROCEDURE submission.submission_queue_page
    @lease_name varchar(64),
    @holder_id nvarchar(128),
    @lease_epoch bigint,
    @order bigint,
    @after_at bigint,
    @after_id nvarchar(400),
    @limit bigint
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;

    DECLARE @now datetime2(6), @at datetime2(6);

    EXECUTE submission.submission_fence_read @lease_name, @holder_id,
                                             @lease_epoch, @now OUTPUT;

    SET @at = submission.submission_at(@after_at);

    IF @order = 1
        SELECT submission.submission_us(@now) AS now, NULL AS intent_id,
               NULL AS submission_target, NULL AS at, NULL AS due_at,
               NULL AS created_at, NULL AS seconds
        UNION ALL
        SELECT NULL, p.intent_id, p.submission_target,
               submission.submission_us(p.next_attempt_at),
               submission.submission_us(p.next_attempt_at),
               CASE WHEN p.policy = 'deadline' COLLATE Latin1_General_BIN2
                    THEN submission.submission_us(
                             CASE WHEN p.not_before > p.created_at
                                  THEN p.not_before ELSE p.created_at END) END,
               CASE WHEN p.policy = 'deadline' COLLATE Latin1_General_BIN2
                    THEN p.max_acceptance_seconds END
        FROM (
                 SELECT TOP (@limit) u.*
                 FROM (
                          SELECT a.intent_id, a.submission_target,
                                 a.next_attempt_at, a.policy,
                                 a.created_at, a.not_before,
                                 a.max_acceptance_seconds
                          FROM (
                                   SELECT TOP (@limit) i.intent_id,
                                          i.submission_target,
                                          i.next_attempt_at, i.policy,
                                          i.created_at, i.not_before,
                                          i.max_acceptance_seconds
                                   FROM submission.submission_intents AS i
                                        WITH (FORCESEEK (
                                            submission_intents_due
                                            (lease_name, next_attempt_at)))
                                   WHERE i.lease_name = @lease_name
                                         AND i.next_attempt_at IS NOT NULL
                                         AND i.attempt_count > 0
                                         AND i.next_attempt_at >= @at
                                         AND (i.next_attempt_at > @at
                                              OR i.intent_id > @after_id)
                                   ORDER BY i.next_attempt_at, i.intent_id
                               ) AS a
                          UNION ALL
                          SELECT b.intent_id, b.submission_target,
                                 b.next_attempt_at, b.policy,
                                 b.created_at, b.not_before,
                                 b.max_acceptance_seconds
                          FROM (
                                   SELECT TOP (@limit) i.intent_id,
                                          i.submission_target,
                                          i.next_attempt_at, i.policy,
                                          i.created_at, i.not_before,
                                          i.max_acceptance_seconds
                                   FROM submission.submission_intents AS i
                                        WITH (FORCESEEK (
                                            submission_intents_delayed
                                            (lease_name, next_attempt_at)))
                                   WHERE i.lease_name = @lease_name
                                         AND i.next_attempt_at IS NOT NULL
                                         AND i.not_before IS NOT NULL
                                         AND i.attempt_count = 0
                                         AND i.next_attempt_at >= @at
                                         AND (i.next_attempt_at > @at
                                              OR i.intent_id > @after_id)
                                   ORDER BY i.next_attempt_at, i.intent_id
                               ) AS b
                      ) AS u
                 ORDER BY u.next_attempt_at, u.intent_id
             ) AS p
        ORDER BY at, intent_id;
    ELSE
        SELECT submission.submission_us(@now) AS now, NULL AS intent_id,
               NULL AS submission_target, NULL AS at, NULL AS due_at,
               NULL AS created_at, NULL AS seconds
        UNION ALL
        SELECT NULL, p.intent_id, p.submission_target,
               submission.submission_us(p.last_modified_at),
               submission.submission_us(p.next_attempt_at),
               CASE WHEN p.policy = 'deadline' COLLATE Latin1_General_BIN2
                    THEN submission.submission_us(
                             CASE WHEN p.not_before > p.created_at
                                  THEN p.not_before ELSE p.created_at END) END,
               CASE WHEN p.policy = 'deadline' COLLATE Latin1_General_BIN2
                    THEN p.max_acceptance_seconds END
        FROM (
                 SELECT TOP (@limit) i.intent_id, i.submission_target,
                        i.last_modified_at, i.next_attempt_at, i.policy,
                        i.created_at, i.not_before, i.max_acceptance_seconds
                 FROM submission.submission_intents AS i
                      WITH (FORCESEEK (submission_intents_modified
                                       (lease_name, last_modified_at)))
                 WHERE i.lease_name = @lease_name
                       AND i.next_attempt_at IS NOT NULL
                       AND i.last_modified_at >= @at
                       AND (i.last_modified_at > @at
                            OR i.intent_id > @after_id)
                       AND (@order = 0
                            OR i.policy <> 'deadline' COLLATE Latin1_General_BIN2
                            OR i.max_acceptance_seconds IS NULL
                            OR DATEDIFF_BIG(
                                   microsecond,
                                   CASE WHEN i.not_before > i.created_at
                                        THEN i.not_before
                                        ELSE i.created_at END, @now) / 1000000
                               < i.max_acceptance_seconds)
                 ORDER BY i.last_modified_at, i.intent_id
             ) AS p
        ORDER BY at, intent_id;
END
GO
