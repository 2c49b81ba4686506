-- Shows a page of the events of a webhook with a status, newest first, strictly after
-- (@created_at, @intent_id), or from the newest on if that is NULL.

SET ANSI_NULLS ON;
SET QUOTED_IDENTIFIER ON;
SET ANSI_PADDING ON;
SET ANSI_WARNINGS ON;
SET ARITHABORT ON;
SET CONCAT_NULL_YIELDS_NULL ON;
SET NUMERIC_ROUNDABORT OFF;
GO

CREATE OR ALTER PROCEDURE submission.submission_webhook_messages
    @lease_name varchar(64),
    @target nvarchar(256),
    @status varchar(16),
    @created_at bigint,
    @intent_id nvarchar(400),
    @limit bigint
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;

    DECLARE @at datetime2(6), @id nvarchar(400);

    -- The list goes from 9999-12-31, if the caller names no time.

    SET @at = submission.submission_at(COALESCE(@created_at, 253402214400000000));
    SET @id = COALESCE(@intent_id, N'');

    SELECT TOP (@limit) i.intent_id, i.event_of, i.submission_target, i.status,
           submission.submission_us(i.created_at) AS created_at,
           i.attempt_count,
           submission.submission_us(i.next_attempt_at) AS next_attempt_at,
           submission.submission_us(i.completed_at) AS completed_at,
           i.last_error
    FROM submission.submission_intents AS i WITH (FORCESEEK)
    WHERE i.lease_name = @lease_name AND i.submission_target = @target
          AND i.status = @status AND i.created_at <= @at
          AND (i.created_at < @at OR i.intent_id < @id)
    ORDER BY i.created_at DESC, i.intent_id DESC;
END
GO
