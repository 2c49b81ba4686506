-- Replaces the leader's numbers; @stats is JSON in UTF-8.

SET ANSI_NULLS ON;
SET QUOTED_IDENTIFIER ON;
SET ANSI_PADDING ON;
SET ANSI_WARNINGS ON;
SET ARITHABORT ON;
SET CONCAT_NULL_YIELDS_NULL ON;
SET NUMERIC_ROUNDABORT OFF;
GO

CREATE OR ALTER PROCEDURE submission.submission_stats_put
    @lease_name varchar(64),
    @holder_id nvarchar(128),
    @lease_epoch bigint,
    @stats varbinary(max)
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;

    DECLARE @now datetime2(6);

    BEGIN TRANSACTION;

    EXECUTE submission.submission_fence @lease_name, @holder_id, @lease_epoch,
         @now OUTPUT;

    UPDATE submission.submission_stats
    SET lease_epoch = @lease_epoch,
        at = @now,
        stats = @stats
    WHERE lease_name = @lease_name;

    IF @@ROWCOUNT = 0
        INSERT INTO submission.submission_stats (
            lease_name, lease_epoch, at, stats
        )
        VALUES (@lease_name, @lease_epoch, @now, @stats);

    COMMIT TRANSACTION;

    SELECT submission.submission_us(@now) AS now;
END
GO
