-- Whoever ends intents tells their webhooks, in the same transaction: an event is an
-- intent of the webhook's own target, whose payload is what a body is made of.  Where
-- to, and how often, is what the configuration says when it is sent.
--
-- @doc: [{"id"}], among them those that have ended at @now.
-- submission_fact: ,"key":"value" of an object; nothing where that is NULL.

SET ANSI_NULLS ON;
SET QUOTED_IDENTIFIER ON;
SET ANSI_PADDING ON;
SET ANSI_WARNINGS ON;
SET ARITHABORT ON;
SET CONCAT_NULL_YIELDS_NULL ON;
SET NUMERIC_ROUNDABORT OFF;
GO

CREATE OR ALTER FUNCTION submission.submission_fact
    (@name nvarchar(16), @text nvarchar(max))
RETURNS nvarchar(max)
WITH SCHEMABINDING
AS
BEGIN
    RETURN CASE WHEN @text IS NULL THEN N''
                ELSE CONCAT(N',"', @name, N'":"',
                            STRING_ESCAPE(@text, 'json'), N'"') END;
END
GO

CREATE OR ALTER FUNCTION submission.submission_fact_int
    (@name nvarchar(16), @value bigint)
RETURNS nvarchar(max)
WITH SCHEMABINDING
AS
BEGIN
    RETURN CASE WHEN @value IS NULL THEN N''
                ELSE CONCAT(N',"', @name, N'":', @value) END;
END
GO

CREATE OR ALTER PROCEDURE submission.submission_intents_ended
    @lease_name varchar(64),
    @now datetime2(6),
    @doc nvarchar(max)
AS
BEGIN
    SET NOCOUNT ON;

    INSERT INTO submission.submission_intents (
        lease_name, intent_id, submission_target, payload_hash, gateway_type,
        gateway_url, policy, max_attempts, terminal_outcomes, retry_delay_ms,
        retry_max_ms, retry_backoff_pct, retry_jitter_pct, status,
        attempt_count, created_at, last_modified_at, next_attempt_at, event_of,
        traceparent, tracestate, payload
    )
    SELECT i.lease_name,
           CONCAT(N' ', w.name, N' ',
                  LOWER(REPLACE(CAST(NEWID() AS nvarchar(36)), N'-', N''))),
           CONCAT(N'webhook ', w.name), '', 'webhook', N'', 'max_attempts',
           1000000, N'', 5000, 0, 100, 0, 'pending', 0, @now, @now, @now,
           i.intent_id, i.traceparent, i.tracestate,
           submission.submission_utf8(
               CONCAT(N'{"attempts":', i.attempt_count,
                      submission.submission_fact(N'id', i.intent_id),
                      submission.submission_fact(N'target', i.submission_target),
                      submission.submission_fact(N'status', i.status),
                      submission.submission_fact_int(
                          N'created', submission.submission_us(i.created_at)),
                      submission.submission_fact_int(
                          N'completed', submission.submission_us(i.completed_at)),
                      submission.submission_fact(N'reason',
                                                 i.final_outcome_reason),
                      submission.submission_fact(N'exhausted',
                                                 i.exhausted_reason),
                      submission.submission_fact_int(
                          N'before', submission.submission_us(i.not_before)),
                      submission.submission_fact(N'error', i.last_error),
                      submission.submission_fact(N'replay', i.replay_of),
                      submission.submission_fact(N'trace', i.traceparent),
                      N'}'))
    FROM OPENJSON(@doc) WITH (
             id nvarchar(400) COLLATE Latin1_General_BIN2 '$.id'
         ) AS r
         CROSS APPLY (
             SELECT TOP (1) *
             FROM submission.submission_intents AS s
                  WITH (FORCESEEK (submission_intents_pk
                                   (lease_name, intent_id)))
             WHERE s.lease_name = @lease_name
                   AND s.intent_id = r.id COLLATE Latin1_General_BIN2
         ) AS i
         CROSS APPLY (
             SELECT SUBSTRING(t.word, LEN(i.status) + 2, 64) AS name
             FROM (
                      SELECT CAST(p.value AS nvarchar(100))
                             COLLATE Latin1_General_BIN2 AS word
                      FROM STRING_SPLIT(i.notify, N' ') AS p
                  ) AS t
             WHERE CHARINDEX(CAST(CONCAT(i.status, N':') AS nvarchar(32))
                             COLLATE Latin1_General_BIN2, t.word) = 1
         ) AS w
    WHERE i.notify IS NOT NULL AND i.status <> 'pending'
          AND i.completed_at = @now;
END
GO
