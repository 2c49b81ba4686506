-- The intents of a document of ids; "n" is an id's place in it.
--
-- @version is that of the module that asks: one of version 1 knows fewer columns.

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
    @doc nvarchar(max),
    @version bigint = 1
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;

    IF @version = 1
        SELECT CAST(r.[key] AS bigint) AS n, i.intent_id, i.submission_target, i.status,
               submission.submission_us(i.created_at) AS created_at,
               i.attempt_count,
               submission.submission_us(i.next_attempt_at) AS next_attempt_at,
               submission.submission_us(i.completed_at) AS completed_at,
               i.final_outcome_reason, i.exhausted_reason, i.payload_hash
        FROM OPENJSON(@doc) AS r
             CROSS APPLY (
                 SELECT TOP (1) *
                 FROM submission.submission_intents AS s
                      WITH (FORCESEEK (submission_intents_pk
                                       (lease_name, intent_id)))
                 WHERE s.lease_name = @lease_name
                       AND s.intent_id = CAST(r.value AS nvarchar(400))
                                         COLLATE Latin1_General_BIN2
             ) AS i;
    ELSE
        SELECT CAST(r.[key] AS bigint) AS n, i.intent_id, i.submission_target, i.status,
               submission.submission_us(i.created_at) AS created_at,
               i.attempt_count,
               submission.submission_us(i.next_attempt_at) AS next_attempt_at,
               submission.submission_us(i.completed_at) AS completed_at,
               i.final_outcome_reason, i.exhausted_reason, i.payload_hash,
               submission.submission_us(i.not_before) AS not_before,
               CASE WHEN i.inflight_epoch IS NULL THEN 0 ELSE 1 END AS in_flight,
               i.last_error, i.replay_of,
               CASE WHEN i.stripped_at IS NULL THEN 0 ELSE 1 END AS stripped,
               i.traceparent
        FROM OPENJSON(@doc) AS r
             CROSS APPLY (
                 SELECT TOP (1) *
                 FROM submission.submission_intents AS s
                      WITH (FORCESEEK (submission_intents_pk
                                       (lease_name, intent_id)))
                 WHERE s.lease_name = @lease_name
                       AND s.intent_id = CAST(r.value AS nvarchar(400))
                                         COLLATE Latin1_General_BIN2
             ) AS i;
END
GO
