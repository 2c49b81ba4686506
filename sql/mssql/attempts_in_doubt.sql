-- Shows the intents that are in flight under epochs before @lease_epoch, strictly after
-- (@after_at, @after_id), in the order in which they were begun.  One row, without an id,
-- has the time.  The search begins at inflight_since of the lease: no intent is older.

SET ANSI_NULLS ON;
SET QUOTED_IDENTIFIER ON;
SET ANSI_PADDING ON;
SET ANSI_WARNINGS ON;
SET ARITHABORT ON;
SET CONCAT_NULL_YIELDS_NULL ON;
SET NUMERIC_ROUNDABORT OFF;
GO

CREATE OR ALTER PROCEDURE submission.submission_attempts_in_doubt
    @lease_name varchar(64),
    @holder_id nvarchar(128),
    @lease_epoch bigint,
    @after_at bigint,
    @after_id nvarchar(400),
    @limit bigint
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;

    DECLARE @now datetime2(6), @at datetime2(6), @since datetime2(6);

    EXECUTE submission.submission_fence_read @lease_name, @holder_id,
                                             @lease_epoch, @now OUTPUT;

    SET @at = submission.submission_at(@after_at);

    SELECT @since = inflight_since
    FROM submission.submission_manager_leases
    WHERE lease_name = @lease_name;

    IF @since > @at
    BEGIN
        SET @at = @since;
        SET @after_id = N'';
    END;

    SELECT submission.submission_us(@now) AS now, NULL AS intent_id,
           NULL AS number, NULL AS inflight_epoch, NULL AS inflight_holder,
           NULL AS inflight_at, NULL AS created_at,
           NULL AS submission_target, NULL AS gateway_type,
           NULL AS gateway_url, NULL AS policy,
           NULL AS max_acceptance_seconds, NULL AS max_attempts,
           NULL AS terminal_outcomes, NULL AS retry_delay_ms,
           NULL AS retry_max_ms, NULL AS retry_backoff_pct,
           NULL AS retry_jitter_pct, NULL AS retry_schedule,
           NULL AS notify, NULL AS contract_version
    UNION ALL
    SELECT NULL, i.intent_id, i.attempt_count + 1, i.inflight_epoch,
           i.inflight_holder, submission.submission_us(i.inflight_at),
           submission.submission_us(
               CASE WHEN i.not_before > i.created_at THEN i.not_before
                    ELSE i.created_at END),
           i.submission_target, i.gateway_type, i.gateway_url, i.policy,
           i.max_acceptance_seconds, i.max_attempts, i.terminal_outcomes,
           i.retry_delay_ms, i.retry_max_ms, i.retry_backoff_pct,
           i.retry_jitter_pct, i.retry_schedule, i.notify,
           i.contract_version
    FROM (
             SELECT TOP (@limit) *
             FROM submission.submission_intents AS s
                  WITH (FORCESEEK (submission_intents_begun
                                   (lease_name, inflight_at)))
             WHERE s.lease_name = @lease_name AND s.inflight_epoch IS NOT NULL
                   AND s.inflight_epoch < @lease_epoch
                   AND s.inflight_at >= @at
                   AND (s.inflight_at > @at OR s.intent_id > @after_id)
             ORDER BY s.inflight_at, s.intent_id
         ) AS i
    ORDER BY inflight_at, intent_id;
END
GO
