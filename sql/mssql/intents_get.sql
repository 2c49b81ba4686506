-- Shows the intents of a document of ids; n is the place of an id in it.

SET ANSI_NULLS ON;
SET QUOTED_IDENTIFIER ON;
SET ANSI_PADDING ON;
SET ANSI_WARNINGS ON;
SET ARITHABORT ON;
SET CONCAT_NULL_YIELDS_NULL ON;
SET NUMERIC_ROUNDABORT OFF;
GO

CREATE OR ALTER PROCEDURE submission.submission_intents_get
    @lease_name varchar(64),
    @doc nvarchar(max)
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;

    SELECT i.*
    FROM OPENJSON(@doc) AS r
         CROSS APPLY submission.submission_intent_shown(
             @lease_name, CAST(r.value AS nvarchar(400)),
             CAST(r.[key] AS bigint), NULL, NULL) AS i
    WHERE i.intent_id IS NOT NULL;
END
GO
