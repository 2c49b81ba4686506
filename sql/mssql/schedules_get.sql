-- Shows the schedules with ids from @first to @last, with their payloads if @payload is
-- not 0.  With @special, only those of the configuration and those that have an error are
-- shown.  One row, without an id, has the time.

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

    SELECT r.now, s.*
    FROM (
             SELECT CAST(NULL AS nvarchar(400))
                    COLLATE Latin1_General_BIN2 AS id,
                    submission.submission_us(@now) AS now
             UNION ALL
             SELECT k.schedule_id, NULL
             FROM (
                      SELECT TOP (@limit) t.schedule_id
                      FROM submission.submission_schedules AS t
                           WITH (FORCESEEK (submission_schedules_pk
                                            (lease_name, schedule_id)))
                      WHERE t.lease_name = @lease_name
                            AND t.schedule_id >= @first
                            AND t.schedule_id <= @last
                            AND (@special = 0 OR t.source = 'configuration'
                                 OR t.last_error IS NOT NULL)
                      ORDER BY t.schedule_id
                  ) AS k
         ) AS r
         CROSS APPLY submission.submission_schedule_shown(
             @lease_name, r.id, @payload, NULL, NULL) AS s
    WHERE r.id IS NULL OR s.schedule_id IS NOT NULL
    ORDER BY r.id;
END
GO
