-- Shows the schedules whose time has come, the oldest first, and whether their last
-- intents are still pending.  One row, without an id, has the time.  The next_run_at of
-- the row with an empty id is the time at which the next schedule is due.  A row that
-- begins after @bytes of payloads is left for the next page.  Nothing is locked.

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

    -- Only keys are sorted; the payloads are read in their order.

    DECLARE @page TABLE (
        place    int NOT NULL PRIMARY KEY,
        id       nvarchar(400) COLLATE Latin1_General_BIN2 NULL
    );

    EXECUTE submission.submission_fence_read @lease_name, @holder_id,
                                             @lease_epoch, @now OUTPUT;

    SELECT TOP (1) @next = t.next_run_at
    FROM submission.submission_schedules AS t
         WITH (FORCESEEK (submission_schedules_due (lease_name, next_run_at)))
    WHERE t.lease_name = @lease_name AND t.next_run_at > @now
          AND t.next_run_at IS NOT NULL AND t.paused_at IS NULL
          AND t.last_error IS NULL
    ORDER BY t.next_run_at;

    INSERT INTO @page (place, id)
    SELECT -1, CAST(NULL AS nvarchar(400)) COLLATE Latin1_General_BIN2
    UNION ALL
    SELECT 0, CAST(N'' AS nvarchar(400)) COLLATE Latin1_General_BIN2
    UNION ALL
    SELECT s.place, s.schedule_id
    FROM (
             SELECT d.schedule_id,
                    ROW_NUMBER() OVER (ORDER BY d.next_run_at, d.schedule_id)
                    AS place,
                    SUM(d.size) OVER (ORDER BY d.next_run_at, d.schedule_id
                                      ROWS UNBOUNDED PRECEDING)
                    - d.size AS began
             FROM (
                      SELECT TOP (@limit) t.schedule_id, t.next_run_at,
                             CAST(DATALENGTH(t.payload) AS bigint) AS size
                      FROM submission.submission_schedules AS t
                           WITH (FORCESEEK (submission_schedules_due
                                            (lease_name, next_run_at)))
                      WHERE t.lease_name = @lease_name
                            AND t.next_run_at <= @now
                            AND t.next_run_at IS NOT NULL
                            AND t.paused_at IS NULL AND t.last_error IS NULL
                      ORDER BY t.next_run_at, t.schedule_id
                  ) AS d
         ) AS s
    WHERE s.began < @bytes;

    SELECT CASE WHEN p.place = -1 THEN submission.submission_us(@now) END AS now,
           s.*
    FROM @page AS p
         CROSS APPLY submission.submission_schedule_shown(
             @lease_name, p.id, 1, @now,
             CASE WHEN p.place = 0 THEN @next END) AS s
    WHERE p.place <= 0 OR s.schedule_id IS NOT NULL
    ORDER BY p.place;
END
GO
