-- Takes the lease where there is none, or where it has expired.  A row is made
-- before the transaction, of epoch 0, which nobody sees and anyone may take.

SET ANSI_NULLS ON;
SET QUOTED_IDENTIFIER ON;
SET ANSI_PADDING ON;
SET ANSI_WARNINGS ON;
SET ARITHABORT ON;
SET CONCAT_NULL_YIELDS_NULL ON;
SET NUMERIC_ROUNDABORT OFF;
GO

CREATE OR ALTER PROCEDURE submission.submission_lease_acquire
    @lease_name varchar(64),
    @holder_id nvarchar(128),
    @duration_ms bigint
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;

    DECLARE @now datetime2(6), @held int, @holder nvarchar(128), @epoch bigint,
            @acquired_at datetime2(6), @renewed_at datetime2(6),
            @expires_at datetime2(6), @since datetime2(6);

    IF NOT EXISTS (SELECT 1 FROM submission.submission_manager_leases
                   WHERE lease_name = @lease_name)
    BEGIN TRY
        SET @now = submission.submission_at(0);

        INSERT INTO submission.submission_manager_leases (
            lease_name, holder_id, lease_epoch, acquired_at, renewed_at,
            expires_at
        )
        VALUES (@lease_name, N'', 0, @now, @now, @now);
    END TRY
    BEGIN CATCH
        IF ERROR_NUMBER() NOT IN (2627, 2601)
            THROW;
    END CATCH;

    BEGIN TRANSACTION;

    -- the row first, then the time: what is waited for is not slept through

    UPDATE submission.submission_manager_leases WITH (ROWLOCK, XLOCK)
    SET lease_epoch = lease_epoch
    WHERE lease_name = @lease_name;

    SET @now = submission.submission_now();

    SELECT @since = inflight_since
    FROM submission.submission_manager_leases
    WHERE lease_name = @lease_name;

    IF @since IS NULL
        EXECUTE submission.submission_inflight_since @lease_name, @now,
                                                     @since OUTPUT;

    UPDATE submission.submission_manager_leases
    SET holder_id = @holder_id,
        inflight_since = @since,
        lease_epoch = lease_epoch + 1,
        acquired_at = @now,
        renewed_at = @now,
        expires_at = DATEADD(millisecond, CAST(@duration_ms AS int), @now)
    WHERE lease_name = @lease_name AND expires_at <= @now;

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
