-- Says that an instance lives for the duration, and that it started at @started_us, or
-- now if that is 0.  Instances whose time has run out are removed a day later: one that
-- comes back, after an outage of the store, finds since when it has its configuration.
--
-- If another instance has written to the row since this one did, both have the same
-- holder_id, and take turns: then shared_at is set.  The names of targets are written if
-- they are given; "wanted" says that they are missing.

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
    @wake_url nvarchar(1024) = NULL,
    @config varchar(512) = NULL,
    @names_hash varchar(16) = NULL,
    @names varchar(max) = NULL,
    @key bigint = 0,
    @events nvarchar(4000) = NULL
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;

    DECLARE @now datetime2(6), @started_at datetime2(6);
    DECLARE @expires_at datetime2(6), @shared_at datetime2(6), @wanted bigint;

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
        wake_url = @wake_url,
        config = @config,
        config_since = CASE WHEN config = @config THEN config_since
                            ELSE @now END,
        shared_at = CASE WHEN instance_key <> @key AND other_key = @key
                         THEN @now ELSE shared_at END,
        other_key = CASE WHEN instance_key <> @key THEN instance_key
                         ELSE other_key END,
        instance_key = @key,
        events = @events
    WHERE lease_name = @lease_name AND holder_id = @holder_id;

    IF @@ROWCOUNT = 0
        INSERT INTO submission.submission_manager_candidates (
            lease_name, holder_id, started_at, heartbeat_at, expires_at, role,
            version, wake_url, config, config_since, instance_key,
            events
        )
        VALUES (@lease_name, @holder_id, @started_at, @now, @expires_at,
                @role, @version, @wake_url, @config, @now, @key,
                @events);

    COMMIT TRANSACTION;

    IF @names IS NOT NULL
    BEGIN
        BEGIN TRANSACTION;

        UPDATE submission.submission_manager_target_names
        SET names_hash = @names_hash,
            names = @names
        WHERE lease_name = @lease_name AND holder_id = @holder_id;

        IF @@ROWCOUNT = 0
            INSERT INTO submission.submission_manager_target_names (
                lease_name, holder_id, names_hash, names
            )
            VALUES (@lease_name, @holder_id, @names_hash, @names);

        COMMIT TRANSACTION;
    END

    DELETE FROM submission.submission_manager_candidates
    WHERE lease_name = @lease_name AND expires_at <= DATEADD(day, -1, @now);

    DELETE FROM submission.submission_manager_target_names
    WHERE lease_name = @lease_name
          AND holder_id NOT IN (
              SELECT holder_id
              FROM submission.submission_manager_candidates
              WHERE lease_name = @lease_name AND expires_at > @now
          );

    SELECT @shared_at = shared_at
    FROM submission.submission_manager_candidates
    WHERE lease_name = @lease_name AND holder_id = @holder_id;

    SET @wanted = CASE WHEN @names_hash IS NOT NULL
                            AND NOT EXISTS (
                                SELECT 1
                                FROM submission.submission_manager_target_names
                                WHERE lease_name = @lease_name
                                      AND holder_id = @holder_id
                                      AND names_hash = @names_hash
                            )
                       THEN 1 ELSE 0 END;

    SELECT submission.submission_us(@now) AS now, @wanted AS wanted,
           CASE WHEN @shared_at = @now THEN CAST(1 AS bigint)
                ELSE CAST(0 AS bigint) END AS shared;
END
GO
