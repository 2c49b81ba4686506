-- Shows the targets that are paused.  One row, without a target, has the time.

SET ANSI_NULLS ON;
SET QUOTED_IDENTIFIER ON;
SET ANSI_PADDING ON;
SET ANSI_WARNINGS ON;
SET ARITHABORT ON;
SET CONCAT_NULL_YIELDS_NULL ON;
SET NUMERIC_ROUNDABORT OFF;
GO

CREATE OR ALTER PROCEDURE submission.submission_targets_paused
    @lease_name varchar(64),
    @holder_id nvarchar(128),
    @lease_epoch bigint
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;

    DECLARE @now datetime2(6);

    EXECUTE submission.submission_fence_read @lease_name, @holder_id,
                                             @lease_epoch, @now OUTPUT;

    SELECT submission.submission_us(@now) AS now, NULL AS submission_target,
           NULL AS since, NULL AS reason, NULL AS actor
    UNION ALL
    SELECT NULL, t.submission_target, submission.submission_us(t.since),
           t.reason, t.actor
    FROM submission.submission_targets AS t
    WHERE t.lease_name = @lease_name AND t.state = 'paused';
END
GO
