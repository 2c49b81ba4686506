-- Says that an instance lives for the duration, and that it started at @started_us, or
-- now if that is 0.  Instances whose time has run out are removed.

SET ANSI_NULLS ON;
SET QUOTED_IDENTIFIER ON;
SET ANSI_PADDING ON;
SET ANSI_WARNINGS ON;
SET ARITHABORT ON;
SET CONCAT_NULL_YIELDS_NULL ON;
SET NUMERIC_ROUNDABORT OFF;
GO

CREATE OR ALTER PROCEDURE submission.submission_candidate_heartbeat
    @lease_name varchar(64),
    @holder_id nvarchar(128),
    @duration_ms bigint,
    @role nvarchar(32),
    @version nvarchar(64),
    @started_us bigint = 0,
    @wake_url nvarchar(1024) = NULL
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;

    DECLARE @now datetime2(6), @started_at datetime2(6);
    DECLARE @expires_at datetime2(6);

    SET @now = submission.submission_now();
    SET @started_at = CASE @started_us WHEN 0 THEN @now
                      ELSE submission.submission_at(@started_us) END;
    SET @expires_at = DATEADD(millisecond, CAST(@duration_ms AS int), @now);

    BEGIN TRANSACTION;

    UPDATE submission.submission_manager_candidates
    SET started_at = @started_at,
        heartbeat_at = @now,
        expires_at = @expires_at,
        role = @role,
        version = @version,
        wake_url = @wake_url
    WHERE lease_name = @lease_name AND holder_id = @holder_id;

    IF @@ROWCOUNT = 0
        INSERT INTO submission.submission_manager_candidates (
            lease_name, holder_id, started_at, heartbeat_at, expires_at, role,
            version, wake_url
        )
        VALUES (@lease_name, @holder_id, @started_at, @now, @expires_at,
                @role, @version, @wake_url);

    COMMIT TRANSACTION;

    DELETE FROM submission.submission_manager_candidates
    WHERE lease_name = @lease_name AND expires_at <= @now;

    SELECT submission.submission_us(@now) AS now;
END
GO
