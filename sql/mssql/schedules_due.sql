-- Schedules whose time has come, the oldest first, and whether their last intent has
-- not ended.  One row, without an id, has the time; one with an empty id has, as its
-- next time, when the next schedule is due.  A row that begins after @bytes of
-- payloads is left for the next page.  Nothing is locked.

SET ANSI_NULLS ON;
SET QUOTED_IDENTIFIER ON;
SET ANSI_PADDING ON;
SET ANSI_WARNINGS ON;
SET ARITHABORT ON;
SET CONCAT_NULL_YIELDS_NULL ON;
SET NUMERIC_ROUNDABORT OFF;
GO

CREATE OR ALTER PROCEDURE submission.submission_schedules_due
    @lease_name varchar(64),
    @holder_id nvarchar(128),
    @lease_epoch bigint,
    @limit bigint,
    @bytes bigint
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;

    DECLARE @now datetime2(6), @next datetime2(6);

    EXECUTE submission.submission_fence_read @lease_name, @holder_id,
                                             @lease_epoch, @now OUTPUT;

    SELECT TOP (1) @next = t.next_run_at
    FROM submission.submission_schedules AS t
         WITH (FORCESEEK (submission_schedules_due (lease_name, next_run_at)))
    WHERE t.lease_name = @lease_name AND t.next_run_at > @now
          AND t.next_run_at IS NOT NULL AND t.paused_at IS NULL
          AND t.last_error IS NULL
    ORDER BY t.next_run_at;

    SELECT submission.submission_us(@now) AS now,
           CAST(NULL AS nvarchar(400)) AS schedule_id,
           CAST(NULL AS nvarchar(256)) AS submission_target,
           CAST(NULL AS nvarchar(4000)) AS body,
           CAST(NULL AS varchar(64)) AS payload_hash,
           CAST(NULL AS nvarchar(400)) AS last_intent_id,
           CAST(NULL AS nvarchar(500)) AS pause_reason,
           CAST(NULL AS nvarchar(500)) AS last_error,
           CAST(NULL AS nvarchar(200)) AS actor, CAST(NULL AS int) AS configured,
           CAST(NULL AS bigint) AS revision, CAST(NULL AS bigint) AS next_run_at,
           CAST(NULL AS bigint) AS last_run_at, CAST(NULL AS bigint) AS fired_count,
           CAST(NULL AS bigint) AS skipped_count,
           CAST(NULL AS bigint) AS missed_count, CAST(NULL AS bigint) AS paused_at,
           CAST(NULL AS bigint) AS created_at,
           CAST(NULL AS bigint) AS last_modified_at, CAST(NULL AS int) AS busy,
           CAST(NULL AS varbinary(max)) AS payload
    UNION ALL
    SELECT NULL, N'' COLLATE Latin1_General_BIN2, NULL, NULL, NULL, NULL, NULL, NULL,
           NULL, NULL, NULL, submission.submission_us(@next), NULL, NULL, NULL, NULL,
           NULL, NULL, NULL, NULL, NULL
    UNION ALL
    SELECT NULL, s.schedule_id, s.submission_target, s.body, s.payload_hash,
           s.last_intent_id, s.pause_reason, s.last_error, s.actor,
           CASE WHEN s.source = 'configuration' THEN 1 ELSE 0 END, s.revision,
           submission.submission_us(s.next_run_at),
           submission.submission_us(s.last_run_at), s.fired_count, s.skipped_count,
           s.missed_count, submission.submission_us(s.paused_at),
           submission.submission_us(s.created_at),
           submission.submission_us(s.last_modified_at),
           CASE WHEN s.status = 'pending' THEN 1 ELSE 0 END, s.payload
    FROM (
             SELECT d.*, i.status,
                    SUM(CAST(DATALENGTH(d.payload) AS bigint))
                        OVER (ORDER BY d.next_run_at, d.schedule_id
                              ROWS UNBOUNDED PRECEDING)
                    - DATALENGTH(d.payload) AS began
             FROM (
                      SELECT TOP (@limit) t.*
                      FROM submission.submission_schedules AS t
                           WITH (FORCESEEK (submission_schedules_due
                                            (lease_name, next_run_at)))
                      WHERE t.lease_name = @lease_name
                            AND t.next_run_at <= @now
                            AND t.next_run_at IS NOT NULL
                            AND t.paused_at IS NULL AND t.last_error IS NULL
                      ORDER BY t.next_run_at, t.schedule_id
                  ) AS d
                  OUTER APPLY (
                      SELECT TOP (1) e.status
                      FROM submission.submission_intents AS e
                           WITH (FORCESEEK (submission_intents_pk
                                            (lease_name, intent_id)))
                      WHERE e.lease_name = @lease_name
                            AND e.intent_id = d.last_intent_id
                  ) AS i
         ) AS s
    WHERE s.began < @bytes
    ORDER BY next_run_at, schedule_id;
END
GO
