-- What has an attempt to come, in the order of modification, strictly after
-- (@after_at, @after_id); with @due = 1 the retries, and what has a not_before and
-- was never tried, in the order of due time.  One row, without an id, has the time.  The indexes cover what is read: where
-- READ_COMMITTED_SNAPSHOT is off, a reader that went from the index to the row
-- would meet a turn that goes from the row to the index.

SET ANSI_NULLS ON;
SET QUOTED_IDENTIFIER ON;
SET ANSI_PADDING ON;
SET ANSI_WARNINGS ON;
SET ARITHABORT ON;
SET CONCAT_NULL_YIELDS_NULL ON;
SET NUMERIC_ROUNDABORT OFF;
GO

CREATE OR ALTER PROCEDURE submission.submission_schedule_page
    @lease_name varchar(64),
    @holder_id nvarchar(128),
    @lease_epoch bigint,
    @due bigint,
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

    IF @due = 1
        SELECT submission.submission_us(@now) AS now, NULL AS intent_id,
               NULL AS submission_target, NULL AS at, NULL AS due_at
        UNION ALL
        SELECT NULL, p.intent_id, p.submission_target,
               submission.submission_us(p.next_attempt_at),
               submission.submission_us(p.next_attempt_at)
        FROM (
                 SELECT TOP (@limit) u.intent_id, u.submission_target,
                        u.next_attempt_at
                 FROM (
                          SELECT a.intent_id, a.submission_target,
                                 a.next_attempt_at
                          FROM (
                                   SELECT TOP (@limit) i.intent_id,
                                          i.submission_target,
                                          i.next_attempt_at
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
                                 b.next_attempt_at
                          FROM (
                                   SELECT TOP (@limit) i.intent_id,
                                          i.submission_target,
                                          i.next_attempt_at
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
               NULL AS submission_target, NULL AS at, NULL AS due_at
        UNION ALL
        SELECT NULL, p.intent_id, p.submission_target,
               submission.submission_us(p.last_modified_at),
               submission.submission_us(p.next_attempt_at)
        FROM (
                 SELECT TOP (@limit) i.intent_id, i.submission_target,
                        i.last_modified_at, i.next_attempt_at
                 FROM submission.submission_intents AS i
                      WITH (FORCESEEK (submission_intents_modified
                                       (lease_name, last_modified_at)))
                 WHERE i.lease_name = @lease_name
                       AND i.next_attempt_at IS NOT NULL
                       AND i.last_modified_at >= @at
                       AND (i.last_modified_at > @at
                            OR i.intent_id > @after_id)
                 ORDER BY i.last_modified_at, i.intent_id
             ) AS p
        ORDER BY at, intent_id;
END
GO
