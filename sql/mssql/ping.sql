-- Finds out whether a commit is possible.  SQL Server logs nothing for an UPDATE that
-- changes nothing, so a full log would not be noticed.  Therefore the row is changed, and
-- changed back before others can see it.
--
-- @trial: whether an intent can be written, too, which takes more room and may have to
-- wait for a lock: one is, and is taken back.

SET ANSI_NULLS ON;
SET QUOTED_IDENTIFIER ON;
SET ANSI_PADDING ON;
SET ANSI_WARNINGS ON;
SET ARITHABORT ON;
SET CONCAT_NULL_YIELDS_NULL ON;
SET NUMERIC_ROUNDABORT OFF;
GO

CREATE OR ALTER PROCEDURE submission.submission_ping
    @trial bigint = 0
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;

    BEGIN TRANSACTION;

    UPDATE submission.submission_schema SET version = version + 1;
    UPDATE submission.submission_schema SET version = version - 1;

    COMMIT TRANSACTION;

    IF @trial <> 0
    BEGIN
        BEGIN TRANSACTION;

        INSERT INTO submission.submission_intents (
            lease_name, intent_id, submission_target, payload_hash, gateway_type,
            gateway_url, policy, terminal_outcomes, retry_delay_ms, retry_max_ms,
            retry_backoff_pct, retry_jitter_pct, status, attempt_count, created_at,
            last_modified_at, payload
        )
        SELECT '', N'ping ' + CAST(@@SPID AS nvarchar(20)), N'', '', '', N'', '', N'',
               0, 0, 0, 0, '', 0, submission.submission_now(),
               submission.submission_now(),
               CAST(REPLICATE('0123456789abcdef', 64) AS varbinary(max));

        ROLLBACK TRANSACTION;
    END;

    SELECT submission.submission_us(submission.submission_now()) AS now;
END
GO
