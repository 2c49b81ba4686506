-- The beginning of every transaction of an executor: takes the lease's row, to
-- the end of it, then the time, and fails, telling it, when the lease is not held
-- any more.  An UPDATE that changes nothing takes its lock under read committed
-- snapshot, too; XLOCK keeps it to the end of the transaction where locking is
-- optimized, as in Azure SQL: a row's own lock ends with the statement there.

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

    -- the clock was set back: what is begun now is older than that

    IF @since > @now
        UPDATE submission.submission_manager_leases
        SET inflight_since = @now
        WHERE lease_name = @lease_name;
END
GO

-- The same for what only reads: locks nothing.  The time is taken before the
-- first read: what was committed by then is seen.

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

-- When the oldest of what is in flight was begun, where none is older than @since,
-- or NULL; @now, if there is none.  The caller has the lease's row.

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
