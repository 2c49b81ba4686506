-- Shows the payload of an intent and what goes with it; without the payload if @bare is
-- not 0.  There is no row if there is no such intent.

SET ANSI_NULLS ON;
SET QUOTED_IDENTIFIER ON;
SET ANSI_PADDING ON;
SET ANSI_WARNINGS ON;
SET ARITHABORT ON;
SET CONCAT_NULL_YIELDS_NULL ON;
SET NUMERIC_ROUNDABORT OFF;
GO

CREATE OR ALTER PROCEDURE submission.submission_intent_payload
    @lease_name varchar(64),
    @intent_id nvarchar(400),
    @bare bigint
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;

    SELECT CAST(CASE WHEN i.stripped_at IS NULL THEN 0 ELSE 1 END AS bigint)
           AS stripped,
           i.status, i.submission_target, i.replay_of,
           i.replay_count,
           CASE WHEN @bare = 0 THEN i.payload END AS payload
    FROM submission.submission_intents AS i
         WITH (FORCESEEK (submission_intents_pk (lease_name, intent_id)))
    WHERE i.lease_name = @lease_name AND i.intent_id = @intent_id;
END
GO
