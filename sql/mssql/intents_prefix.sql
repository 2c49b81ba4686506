-- Finds a page of ids from @low on, before @high, in their order: up (@up = 1) or down.
-- @skip is the last id of the page before, or empty.

SET ANSI_NULLS ON;
SET QUOTED_IDENTIFIER ON;
SET ANSI_PADDING ON;
SET ANSI_WARNINGS ON;
SET ARITHABORT ON;
SET CONCAT_NULL_YIELDS_NULL ON;
SET NUMERIC_ROUNDABORT OFF;
GO

CREATE OR ALTER PROCEDURE submission.submission_intents_prefix
    @lease_name varchar(64),
    @low nvarchar(400),
    @high nvarchar(400),
    @skip nvarchar(400),
    @up bigint,
    @limit bigint
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;

    IF @up = 1
        SELECT TOP (@limit) CAST(0 AS bigint) AS at, i.intent_id
        FROM submission.submission_intents AS i
             WITH (FORCESEEK (submission_intents_pk (lease_name, intent_id)))
        WHERE i.lease_name = @lease_name
              AND i.intent_id >= @low AND i.intent_id < @high
              AND i.intent_id <> @skip
        ORDER BY i.intent_id;
    ELSE
        SELECT TOP (@limit) CAST(0 AS bigint) AS at, i.intent_id
        FROM submission.submission_intents AS i
             WITH (FORCESEEK (submission_intents_pk (lease_name, intent_id)))
        WHERE i.lease_name = @lease_name
              AND i.intent_id >= @low AND i.intent_id < @high
        ORDER BY i.intent_id DESC;
END
GO
