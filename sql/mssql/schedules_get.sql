-- Schedules by their ids, from @first to @last; the payload only if it is asked for.
-- @special: only those of the configuration, and those that do not run.  One row,
-- without an id, has the time.

SET ANSI_NULLS ON;
SET QUOTED_IDENTIFIER ON;
SET ANSI_PADDING ON;
SET ANSI_WARNINGS ON;
SET ARITHABORT ON;
SET CONCAT_NULL_YIELDS_NULL ON;
SET NUMERIC_ROUNDABORT OFF;
GO

CREATE OR ALTER PROCEDURE submission.submission_schedules_get
    @lease_name varchar(64),
    @first nvarchar(400),
    @last nvarchar(400),
    @limit bigint,
    @special bigint,
    @payload bigint
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;

    DECLARE @now datetime2(6);

    SET @now = submission.submission_now();

    SELECT submission.submission_us(@now) AS now, NULL AS schedule_id,
           NULL AS submission_target, NULL AS body, NULL AS payload_hash,
           NULL AS last_intent_id, NULL AS pause_reason, NULL AS last_error,
           NULL AS actor, NULL AS configured, NULL AS revision, NULL AS next_run_at,
           NULL AS last_run_at, NULL AS fired_count, NULL AS skipped_count,
           NULL AS missed_count, NULL AS paused_at, NULL AS created_at,
           NULL AS last_modified_at, NULL AS busy, NULL AS payload
    UNION ALL
    SELECT NULL, s.schedule_id, s.submission_target, s.body, s.payload_hash,
           s.last_intent_id, s.pause_reason, s.last_error, s.actor,
           CASE WHEN s.source = 'configuration' THEN 1 ELSE 0 END, s.revision,
           submission.submission_us(s.next_run_at),
           submission.submission_us(s.last_run_at), s.fired_count, s.skipped_count,
           s.missed_count, submission.submission_us(s.paused_at),
           submission.submission_us(s.created_at),
           submission.submission_us(s.last_modified_at), 0,
           CASE WHEN @payload <> 0 THEN s.payload END
    FROM (
             SELECT TOP (@limit) *
             FROM submission.submission_schedules AS t
                  WITH (FORCESEEK (submission_schedules_pk
                                   (lease_name, schedule_id)))
             WHERE t.lease_name = @lease_name AND t.schedule_id >= @first
                   AND t.schedule_id <= @last
                   AND (@special = 0 OR t.source = 'configuration'
                        OR t.last_error IS NOT NULL)
             ORDER BY t.schedule_id
         ) AS s
    ORDER BY schedule_id;
END
GO
