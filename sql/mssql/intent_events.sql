-- Shows the events of the webhooks of an intent.

SET ANSI_NULLS ON;
SET QUOTED_IDENTIFIER ON;
SET ANSI_PADDING ON;
SET ANSI_WARNINGS ON;
SET ARITHABORT ON;
SET CONCAT_NULL_YIELDS_NULL ON;
SET NUMERIC_ROUNDABORT OFF;
GO

CREATE OR ALTER PROCEDURE submission.submission_intent_events
    @lease_name varchar(64),
    @intent_id nvarchar(400),
    @limit bigint
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;

    SELECT TOP (@limit) i.intent_id, i.event_of, i.submission_target, i.status,
           submission.submission_us(i.created_at) AS created_at,
           i.attempt_count,
           submission.submission_us(i.next_attempt_at) AS next_attempt_at,
           submission.submission_us(i.completed_at) AS completed_at,
           i.last_error
    FROM submission.submission_intents AS i WITH (FORCESEEK)
    WHERE i.lease_name = @lease_name AND i.event_of = @intent_id
    ORDER BY i.intent_id;
END
GO
