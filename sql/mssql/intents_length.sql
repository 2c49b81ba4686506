-- Shows the lengths of the payloads of a document of ids; n is the place of an id in it.

SET ANSI_NULLS ON;
SET QUOTED_IDENTIFIER ON;
SET ANSI_PADDING ON;
SET ANSI_WARNINGS ON;
SET ARITHABORT ON;
SET CONCAT_NULL_YIELDS_NULL ON;
SET NUMERIC_ROUNDABORT OFF;
GO

CREATE OR ALTER PROCEDURE submission.submission_intents_length
    @lease_name varchar(64),
    @doc nvarchar(max)
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;

    SELECT CAST(r.[key] AS bigint) AS n, i.bytes
    FROM OPENJSON(@doc) AS r
         CROSS APPLY (
             SELECT TOP (1) CAST(DATALENGTH(s.payload) AS bigint) AS bytes
             FROM submission.submission_intents AS s
                  WITH (FORCESEEK (submission_intents_pk
                                   (lease_name, intent_id)))
             WHERE s.lease_name = @lease_name
                   AND s.intent_id = CAST(r.value AS nvarchar(400))
                                     COLLATE Latin1_General_BIN2
         ) AS i;
END
GO
