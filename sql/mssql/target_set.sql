-- Pauses a target, or lets it go on, and writes who did it into the audit.  outcome is
-- 1: the target is in that state now, 2: it was in that state before, 0: there is no such
-- target.  That is the case if it is not configured where the request came in (@known is
-- 0), nobody has ever paused it, and none of its intents is pending.

SET ANSI_NULLS ON;
SET QUOTED_IDENTIFIER ON;
SET ANSI_PADDING ON;
SET ANSI_WARNINGS ON;
SET ARITHABORT ON;
SET CONCAT_NULL_YIELDS_NULL ON;
SET NUMERIC_ROUNDABORT OFF;
GO

CREATE OR ALTER PROCEDURE submission.submission_target_set
    @lease_name varchar(64),
    @target nvarchar(256),
    @state varchar(16),
    @reason nvarchar(max),
    @actor nvarchar(max),
    @address nvarchar(max),
    @detail nvarchar(max),
    @known bigint
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;

    DECLARE @now datetime2(6), @changed int, @action varchar(32);

    IF @known = 0
       AND NOT EXISTS (SELECT 1
                       FROM submission.submission_targets AS t
                       WHERE t.lease_name = @lease_name
                             AND t.submission_target = @target)
       AND NOT EXISTS (SELECT 1
                       FROM submission.submission_intents AS i
                       WHERE i.lease_name = @lease_name
                             AND i.submission_target = @target
                             AND i.status = 'pending')
    BEGIN
        SELECT CAST(0 AS bigint) AS outcome, CAST('' AS varchar(16)) AS state,
               @target AS submission_target, CAST(NULL AS bigint) AS since,
               CAST(NULL AS nvarchar(500)) AS reason,
               CAST(NULL AS nvarchar(200)) AS actor;
        RETURN;
    END;

    SET @action = CASE WHEN @state = 'paused' THEN 'pause' ELSE 'resume' END;

    BEGIN TRANSACTION;

    SET @now = submission.submission_now();

    UPDATE submission.submission_targets
    SET state = @state,
        since = @now,
        reason = submission.submission_left(@reason, 500),
        actor = submission.submission_left(@actor, 200)
    WHERE lease_name = @lease_name AND submission_target = @target
          AND state <> @state;

    SET @changed = @@ROWCOUNT;

    IF @changed = 0 AND @state = 'paused'
    BEGIN
        INSERT INTO submission.submission_targets (
            lease_name, submission_target, state, since, reason, actor
        )
        SELECT @lease_name, @target, @state, @now,
               submission.submission_left(@reason, 500),
               submission.submission_left(@actor, 200)
        WHERE NOT EXISTS (SELECT 1
                          FROM submission.submission_targets AS t
                               WITH (UPDLOCK, HOLDLOCK)
                          WHERE t.lease_name = @lease_name
                                AND t.submission_target = @target);

        SET @changed = @@ROWCOUNT;
    END;

    IF @changed = 1
        EXECUTE submission.submission_audit_add @lease_name, @now, @actor,
                @address, @action, @target, @detail;

    COMMIT TRANSACTION;

    SELECT CAST(2 - @changed AS bigint) AS outcome,
           COALESCE(t.state, 'open') AS state, @target AS submission_target,
           submission.submission_us(t.since) AS since, t.reason AS reason,
           t.actor AS actor
    FROM (SELECT 1 AS one) AS o
         LEFT JOIN submission.submission_targets AS t
         ON t.lease_name = @lease_name AND t.submission_target = @target;
END
GO
