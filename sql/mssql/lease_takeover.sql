-- Another worker of the holder goes on, with a new epoch.

SET ANSI_NULLS ON;
SET QUOTED_IDENTIFIER ON;
SET ANSI_PADDING ON;
SET ANSI_WARNINGS ON;
SET ARITHABORT ON;
SET CONCAT_NULL_YIELDS_NULL ON;
SET NUMERIC_ROUNDABORT OFF;
GO

CREATE OR ALTER PROCEDURE submission.submission_lease_takeover
    @lease_name varchar(64),
    @holder_id nvarchar(128),
    @lease_epoch bigint,
    @duration_ms bigint
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;

    DECLARE @now datetime2(6), @held int, @holder nvarchar(128), @epoch bigint,
            @acquired_at datetime2(6), @renewed_at datetime2(6),
            @expires_at datetime2(6);

    BEGIN TRANSACTION;

    -- the row first, then the time: what is waited for is not slept through

    UPDATE submission.submission_manager_leases WITH (ROWLOCK, XLOCK)
    SET lease_epoch = lease_epoch
    WHERE lease_name = @lease_name;

    SET @now = submission.submission_now();

    UPDATE submission.submission_manager_leases
    SET lease_epoch = lease_epoch + 1,
        acquired_at = @now,
        renewed_at = @now,
        expires_at = DATEADD(millisecond, CAST(@duration_ms AS int), @now)
    WHERE lease_name = @lease_name AND holder_id = @holder_id
          AND DATALENGTH(holder_id) = DATALENGTH(@holder_id)
          AND lease_epoch = @lease_epoch AND expires_at > @now;

    SET @held = @@ROWCOUNT;

    SELECT @holder = holder_id, @epoch = lease_epoch,
           @acquired_at = acquired_at, @renewed_at = renewed_at,
           @expires_at = expires_at
    FROM submission.submission_manager_leases
    WHERE lease_name = @lease_name AND lease_epoch > 0;

    COMMIT TRANSACTION;

    SELECT submission.submission_us(@now) AS now, CAST(@held AS bigint) AS held,
           @holder AS holder_id, @epoch AS lease_epoch,
           submission.submission_us(@acquired_at) AS acquired_at,
           submission.submission_us(@renewed_at) AS renewed_at,
           submission.submission_us(@expires_at) AS expires_at;
END
GO
