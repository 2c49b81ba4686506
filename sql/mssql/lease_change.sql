-- Changes the lease in one transaction: what acquire, renew, takeover and release, which
-- are @action, have in common.  The answer has the time, whether the holder got what it
-- asked for, and the lease as it is then.
--
-- The transaction takes the lease's row first, and then the time: whoever had to wait for
-- the row does not use the time from before the wait.

SET ANSI_NULLS ON;
SET QUOTED_IDENTIFIER ON;
SET ANSI_PADDING ON;
SET ANSI_WARNINGS ON;
SET ARITHABORT ON;
SET CONCAT_NULL_YIELDS_NULL ON;
SET NUMERIC_ROUNDABORT OFF;
GO

CREATE OR ALTER PROCEDURE submission.submission_lease_change
    @lease_name varchar(64),
    @action varchar(16),
    @holder_id nvarchar(128),
    @lease_epoch bigint,
    @duration_ms bigint
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;

    DECLARE @now datetime2(6), @until datetime2(6), @held int,
            @holder nvarchar(128), @epoch bigint, @acquired_at datetime2(6),
            @renewed_at datetime2(6), @expires_at datetime2(6),
            @since datetime2(6);

    BEGIN TRANSACTION;

    UPDATE submission.submission_manager_leases WITH (ROWLOCK, XLOCK)
    SET lease_epoch = lease_epoch
    WHERE lease_name = @lease_name;

    SET @now = submission.submission_now();
    SET @until = DATEADD(millisecond, CAST(@duration_ms AS int), @now);

    SELECT @since = inflight_since
    FROM submission.submission_manager_leases
    WHERE lease_name = @lease_name;

    -- A renewal moves the place where a recovery begins up to the oldest intent in
    -- flight.  That is a short seek, because the renewal before moved it there.

    IF (@action = 'acquire' AND @since IS NULL)
       OR (@action = 'renew' AND @since IS NOT NULL)
        EXECUTE submission.submission_inflight_since @lease_name, @now,
                                                     @since OUTPUT;

    IF @action = 'acquire'
    BEGIN
        UPDATE submission.submission_manager_leases
        SET holder_id = @holder_id,
            inflight_since = @since,
            lease_epoch = lease_epoch + 1,
            acquired_at = @now,
            renewed_at = @now,
            expires_at = @until
        WHERE lease_name = @lease_name AND expires_at <= @now;

        SET @held = @@ROWCOUNT;
    END
    ELSE
    BEGIN
        UPDATE submission.submission_manager_leases
        SET inflight_since = @since,
            lease_epoch = lease_epoch
                          + CASE WHEN @action = 'takeover' THEN 1 ELSE 0 END,
            acquired_at = CASE WHEN @action = 'takeover' THEN @now
                               ELSE acquired_at END,
            renewed_at = CASE WHEN @action = 'release' THEN renewed_at
                              ELSE @now END,
            expires_at = CASE WHEN @action = 'release' THEN @now
                              ELSE @until END
        WHERE lease_name = @lease_name AND holder_id = @holder_id
              AND DATALENGTH(holder_id) = DATALENGTH(@holder_id)
              AND lease_epoch = @lease_epoch AND expires_at > @now;

        SET @held = @@ROWCOUNT;
    END;

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
