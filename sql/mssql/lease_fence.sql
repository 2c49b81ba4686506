-- Begins every transaction of an executor.  It takes the lease's row until the transaction
-- ends, and then the time.  If the lease is not held any more, it fails with the time in
-- its message.
--
-- An UPDATE that changes nothing takes its lock under read committed snapshot, too.
-- XLOCK keeps the lock until the end of the transaction where locking is optimized, as in
-- Azure SQL: there a row's own lock ends with the statement.

SET ANSI_NULLS ON;
SET QUOTED_IDENTIFIER ON;
SET ANSI_PADDING ON;
SET ANSI_WARNINGS ON;
SET ARITHABORT ON;
SET CONCAT_NULL_YIELDS_NULL ON;
SET NUMERIC_ROUNDABORT OFF;
GO

CREATE OR ALTER PROCEDURE submission.submission_fence
    @lease_name varchar(64),
    @holder_id nvarchar(128),
    @lease_epoch bigint,
    @now datetime2(6) OUTPUT
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;

    DECLARE @lost nvarchar(64), @held int, @since datetime2(6);

    UPDATE submission.submission_manager_leases WITH (ROWLOCK, XLOCK)
    SET lease_epoch = lease_epoch
    WHERE lease_name = @lease_name;

    SET @now = submission.submission_now();

    SELECT @held = 1, @since = inflight_since
    FROM submission.submission_manager_leases
    WHERE lease_name = @lease_name AND holder_id = @holder_id
          AND DATALENGTH(holder_id) = DATALENGTH(@holder_id)
          AND lease_epoch = @lease_epoch AND expires_at > @now;

    IF @held IS NULL
    BEGIN
        SET @lost = N'LEASE_LOST at '
                    + CAST(submission.submission_us(@now) AS nvarchar(32));
        THROW 57002, @lost, 1;
    END;

    -- The clock was set back: what begins now is older than inflight_since.

    IF @since > @now
        UPDATE submission.submission_manager_leases
        SET inflight_since = @now
        WHERE lease_name = @lease_name;
END
GO

-- The fence of what only reads.  It locks nothing.  The time is taken before the first
-- read, so that whatever was committed by then is seen.

CREATE OR ALTER PROCEDURE submission.submission_fence_read
    @lease_name varchar(64),
    @holder_id nvarchar(128),
    @lease_epoch bigint,
    @now datetime2(6) OUTPUT
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;

    DECLARE @lost nvarchar(64);

    SET @now = submission.submission_now();

    IF NOT EXISTS (SELECT 1 FROM submission.submission_manager_leases
                   WHERE lease_name = @lease_name AND holder_id = @holder_id
                         AND DATALENGTH(holder_id) = DATALENGTH(@holder_id)
                         AND lease_epoch = @lease_epoch AND expires_at > @now)
    BEGIN
        SET @lost = N'LEASE_LOST at '
                    + CAST(submission.submission_us(@now) AS nvarchar(32));
        THROW 57002, @lost, 1;
    END;
END
GO

-- Sets @since to the time at which the oldest intent in flight was begun, or to @now if
-- none is in flight.  No intent may be older than @since, unless that is NULL.  The caller
-- has locked the lease's row.

CREATE OR ALTER PROCEDURE submission.submission_inflight_since
    @lease_name varchar(64),
    @now datetime2(6),
    @since datetime2(6) OUTPUT
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;

    DECLARE @from datetime2(6);

    SET @from = COALESCE(@since, CAST('0001-01-01' AS datetime2(6)));
    SET @since = @now;

    SELECT TOP (1) @since = i.inflight_at
    FROM submission.submission_intents AS i
         WITH (FORCESEEK (submission_intents_begun (lease_name, inflight_at)))
    WHERE i.lease_name = @lease_name AND i.inflight_epoch IS NOT NULL
          AND i.inflight_at >= @from
    ORDER BY i.inflight_at;
END
GO
