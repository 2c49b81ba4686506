-- Everything that knows the columns of an intent: what is shown of one, how one is made
-- of a document, copied, compared with another, and told to webhooks.  A new column
-- goes into schema.sql and into this file.  sql/install.sh runs this file before the
-- procedures that use it.

SET ANSI_NULLS ON;
SET QUOTED_IDENTIFIER ON;
SET ANSI_PADDING ON;
SET ANSI_WARNINGS ON;
SET ARITHABORT ON;
SET CONCAT_NULL_YIELDS_NULL ON;
SET NUMERIC_ROUNDABORT OFF;
GO

-- Shows an intent by its id, with @n as n.  Where there is no such intent, the only row
-- has no id, and has @at as created_at and @reason as exhausted_reason.  The function
-- becomes part of the query that applies it.

CREATE OR ALTER FUNCTION submission.submission_intent_shown
    (@lease_name varchar(64), @intent_id nvarchar(400), @n bigint,
     @at bigint, @reason varchar(32))
RETURNS TABLE
AS
RETURN
    SELECT @n AS n, i.intent_id, i.submission_target, i.status,
           CASE WHEN i.intent_id IS NULL THEN @at
                ELSE submission.submission_us(i.created_at) END AS created_at,
           i.attempt_count,
           submission.submission_us(i.next_attempt_at) AS next_attempt_at,
           submission.submission_us(i.completed_at) AS completed_at,
           i.final_outcome_reason,
           CASE WHEN i.intent_id IS NULL
                THEN @reason COLLATE Latin1_General_BIN2
                ELSE i.exhausted_reason END AS exhausted_reason,
           i.payload_hash, submission.submission_us(i.not_before) AS not_before,
           CASE WHEN i.inflight_epoch IS NULL THEN 0 ELSE 1 END AS in_flight,
           i.last_error,
           CASE WHEN i.status = 'pending'
                THEN COALESCE(i.final_outcome_reason, i.final_outcome_status)
                END AS last_reason,
           i.replay_of, i.replayed_as, i.replay_count,
           CASE WHEN i.stripped_at IS NULL THEN 0 ELSE 1 END AS stripped,
           i.traceparent
    FROM (SELECT 1 AS one) AS o
         OUTER APPLY (
             SELECT TOP (1) *
             FROM submission.submission_intents AS s
                  WITH (FORCESEEK (submission_intents_pk
                                   (lease_name, intent_id)))
             WHERE s.lease_name = @lease_name
                   AND s.intent_id = @intent_id COLLATE Latin1_General_BIN2
         ) AS i;
GO

-- Compares the intent of an id with one that was submitted under the same id: "same" is
-- 1 if a client may not tell them apart, and else 0.  There is no row if no such intent
-- exists.

CREATE OR ALTER FUNCTION submission.submission_intent_compared
    (@lease_name varchar(64), @intent_id nvarchar(400), @hash varchar(64),
     @target nvarchar(256), @before bigint)
RETURNS TABLE
AS
RETURN
    SELECT TOP (1)
           CASE WHEN s.payload_hash = @hash COLLATE Latin1_General_BIN2
                     AND s.submission_target
                         = @target COLLATE Latin1_General_BIN2
                     AND COALESCE(submission.submission_us(s.not_before), 0)
                         = COALESCE(@before, 0)
                THEN 1 ELSE 0 END AS same
    FROM submission.submission_intents AS s
         WITH (FORCESEEK (submission_intents_pk (lease_name, intent_id)))
    WHERE s.lease_name = @lease_name
          AND s.intent_id = @intent_id COLLATE Latin1_General_BIN2;
GO

-- Makes the intents of a document: @doc and @bytes are those of
-- submission_intents_submit.  It leaves out the rows whose places are in @skip, such as
-- ",0,4,", and those whose not_before is later than @latest, which may be NULL.
-- @inserted is the number of intents that were made.
--
-- Ids go in in their order.  It fails if an id exists, or if the contract of a row is
-- not in the document: no row is left out in silence.

CREATE OR ALTER PROCEDURE submission.submission_intents_insert
    @lease_name varchar(64),
    @now datetime2(6),
    @doc nvarchar(max),
    @bytes varbinary(max),
    @skip nvarchar(max),
    @latest bigint,
    @inserted int OUTPUT
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;

    DECLARE @now_us bigint;

    SET @now_us = submission.submission_us(@now);

    INSERT INTO submission.submission_intents (
        lease_name, intent_id, payload_hash, payload, submission_target,
        gateway_type, gateway_url, policy, max_acceptance_seconds,
        max_attempts, terminal_outcomes, retry_delay_ms, retry_max_ms,
        retry_backoff_pct, retry_jitter_pct, retry_schedule, notify, status,
        attempt_count, created_at, last_modified_at, next_attempt_at,
        not_before, traceparent, tracestate
    )
    SELECT @lease_name, r.id, r.hash,
           CAST(SUBSTRING(@bytes, r.at + 1, r.len) AS varbinary(max)),
           c.target, c.type, c.url, c.policy, c.seconds, c.attempts, c.outcomes,
           c.delay, c.max, c.backoff, c.jitter, c.schedule, c.notify, 'pending',
           0, @now, @now,
           CASE WHEN r.before > @now_us THEN submission.submission_at(r.before)
                ELSE @now END,
           CASE WHEN r.before IS NOT NULL
                THEN submission.submission_at(r.before) END,
           r.trace, r.state
    FROM OPENJSON(@doc, '$.rows') WITH (
             n int '$.n',
             id nvarchar(400) COLLATE Latin1_General_BIN2 '$.id',
             c int '$.c',
             hash varchar(64) COLLATE Latin1_General_BIN2 '$.hash',
             at int '$.at',
             len int '$.len',
             before bigint '$.before',
             trace varchar(64) COLLATE Latin1_General_BIN2 '$.trace',
             state varchar(512) COLLATE Latin1_General_BIN2 '$.state'
         ) AS r
         LEFT JOIN OPENJSON(@doc, '$.contracts') WITH (
             c int '$.c',
             target nvarchar(256) COLLATE Latin1_General_BIN2 '$.target',
             type varchar(16) COLLATE Latin1_General_BIN2 '$.type',
             url nvarchar(1024) COLLATE Latin1_General_BIN2 '$.url',
             policy varchar(16) COLLATE Latin1_General_BIN2 '$.policy',
             seconds bigint '$.seconds',
             attempts bigint '$.attempts',
             outcomes nvarchar(1000) COLLATE Latin1_General_BIN2 '$.outcomes',
             delay bigint '$.delay',
             max bigint '$.max',
             backoff bigint '$.backoff',
             jitter bigint '$.jitter',
             schedule varchar(500) COLLATE Latin1_General_BIN2 '$.schedule',
             notify nvarchar(1000) COLLATE Latin1_General_BIN2 '$.notify'
         ) AS c
         ON c.c = r.c
    WHERE (r.before IS NULL OR @latest IS NULL OR r.before <= @latest)
          AND (@skip = N''
               OR CHARINDEX(CONCAT(N',', r.n, N','),
                            @skip COLLATE Latin1_General_BIN2) = 0)
    ORDER BY r.id;

    SET @inserted = @@ROWCOUNT;
END
GO

-- Copies intents that have ended, with their payloads, under other ids, and notes that in
-- the originals.  @doc is
-- {"again","contracts":[{"c","d":{...}}],"items":[{"id","new","c"}]}; an item without c
-- keeps its contract.  It leaves out an intent that is pending or whose payload is gone,
-- one that was copied before, unless "again" is there, and a new id that exists.  With
-- @traceparent, the copies belong to that trace.  @copied is the number of intents that
-- were made.
--
-- The originals are changed first, in the order of their ids, and are locked by that: of
-- two sessions that copy the same one, the second finds that it was copied.  Each is
-- changed by a statement of its own, because an UPDATE with a join does not look again,
-- on Babelfish, at a row that it had to wait for.  The insert fails if somebody else has
-- made one of the new ids meanwhile; then the transaction is rolled back, and the caller
-- begins again.

CREATE OR ALTER PROCEDURE submission.submission_intents_copy
    @lease_name varchar(64),
    @now datetime2(6),
    @doc nvarchar(max),
    @traceparent varchar(64),
    @tracestate varchar(512),
    @copied int OUTPUT
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;

    DECLARE @again int, @id nvarchar(400), @new nvarchar(400);

    DECLARE @items TABLE (
        id   nvarchar(400) COLLATE Latin1_General_BIN2 NOT NULL PRIMARY KEY,
        new  nvarchar(400) COLLATE Latin1_General_BIN2 NOT NULL,
        c    int NULL
    );

    SET @again = CASE WHEN JSON_VALUE(@doc, '$.again') IS NULL THEN 0
                      ELSE 1 END;

    INSERT INTO @items (id, new, c)
    SELECT r.id, r.new, r.c
    FROM OPENJSON(@doc, '$.items') WITH (
             id nvarchar(400) COLLATE Latin1_General_BIN2 '$.id',
             new nvarchar(400) COLLATE Latin1_General_BIN2 '$.new',
             c int '$.c'
         ) AS r
         OUTER APPLY (
             SELECT TOP (1) 1 AS there
             FROM submission.submission_intents AS s
                  WITH (FORCESEEK (submission_intents_pk
                                   (lease_name, intent_id)))
             WHERE s.lease_name = @lease_name
                   AND s.intent_id = r.new COLLATE Latin1_General_BIN2
         ) AS e
    WHERE e.there IS NULL;

    SET @id = N'';

    WHILE 1 = 1
    BEGIN
        SELECT TOP (1) @id = m.id, @new = m.new
        FROM @items AS m
        WHERE m.id > @id
        ORDER BY m.id;

        IF @@ROWCOUNT = 0
            BREAK;

        UPDATE submission.submission_intents
        SET replay_count = COALESCE(replay_count, 0) + 1,
            replayed_as = submission.submission_left(
                              CONCAT(@new, NCHAR(10), replayed_as), 500)
                          COLLATE Latin1_General_BIN2
        WHERE lease_name = @lease_name AND intent_id = @id
              AND status <> 'pending' AND stripped_at IS NULL
              AND (@again = 1 OR replay_count IS NULL);

        IF @@ROWCOUNT = 0
            DELETE FROM @items WHERE id = @id;
    END;

    INSERT INTO submission.submission_intents (
        lease_name, intent_id, payload_hash, payload, submission_target,
        gateway_type, gateway_url, policy, max_acceptance_seconds,
        max_attempts, terminal_outcomes, retry_delay_ms, retry_max_ms,
        retry_backoff_pct, retry_jitter_pct, retry_schedule, notify,
        contract_version, status, attempt_count, created_at, last_modified_at,
        next_attempt_at, replay_of, event_of, traceparent, tracestate
    )
    SELECT i.lease_name, m.new, i.payload_hash, i.payload, i.submission_target,
           CASE WHEN m.c IS NULL THEN i.gateway_type ELSE c.type END,
           CASE WHEN m.c IS NULL THEN i.gateway_url ELSE c.url END,
           CASE WHEN m.c IS NULL THEN i.policy ELSE c.policy END,
           CASE WHEN m.c IS NULL THEN i.max_acceptance_seconds
                ELSE c.seconds END,
           CASE WHEN m.c IS NULL THEN i.max_attempts ELSE c.attempts END,
           CASE WHEN m.c IS NULL THEN i.terminal_outcomes ELSE c.outcomes END,
           CASE WHEN m.c IS NULL THEN i.retry_delay_ms ELSE c.delay END,
           CASE WHEN m.c IS NULL THEN i.retry_max_ms ELSE c.max END,
           CASE WHEN m.c IS NULL THEN i.retry_backoff_pct ELSE c.backoff END,
           CASE WHEN m.c IS NULL THEN i.retry_jitter_pct ELSE c.jitter END,
           CASE WHEN m.c IS NULL THEN i.retry_schedule ELSE c.schedule END,
           CASE WHEN m.c IS NULL THEN i.notify ELSE c.notify END,
           CASE WHEN m.c IS NULL THEN i.contract_version END,
           'pending', 0, @now, @now, @now, i.intent_id, i.event_of,
           CASE WHEN @traceparent IS NULL THEN i.traceparent
                ELSE @traceparent COLLATE Latin1_General_BIN2 END,
           CASE WHEN @traceparent IS NULL THEN i.tracestate
                ELSE @tracestate COLLATE Latin1_General_BIN2 END
    FROM @items AS m
         CROSS APPLY (
             SELECT TOP (1) *
             FROM submission.submission_intents AS s
                  WITH (FORCESEEK (submission_intents_pk
                                   (lease_name, intent_id)))
             WHERE s.lease_name = @lease_name AND s.intent_id = m.id
         ) AS i
         LEFT JOIN OPENJSON(@doc, '$.contracts') WITH (
             c int '$.c',
             type varchar(16) COLLATE Latin1_General_BIN2 '$.d.type',
             url nvarchar(1024) COLLATE Latin1_General_BIN2 '$.d.url',
             policy varchar(16) COLLATE Latin1_General_BIN2 '$.d.policy',
             seconds bigint '$.d.seconds',
             attempts bigint '$.d.attempts',
             outcomes nvarchar(1000) COLLATE Latin1_General_BIN2 '$.d.outcomes',
             delay bigint '$.d.delay',
             max bigint '$.d.max',
             backoff bigint '$.d.backoff',
             jitter bigint '$.d.jitter',
             schedule varchar(500) COLLATE Latin1_General_BIN2 '$.d.schedule',
             notify nvarchar(1000) COLLATE Latin1_General_BIN2 '$.d.notify'
         ) AS c
         ON c.c = m.c
    ORDER BY m.new;

    SET @copied = @@ROWCOUNT;
END
GO

-- ,"name":"text" as a part of a JSON object, or nothing if the text is NULL.

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

-- ,"name":number as a part of a JSON object, or nothing if the number is NULL.

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

-- Tells the webhooks of intents that have ended, in the transaction that ends them.  An
-- event is an intent of the webhook's own target; its payload has what the module makes
-- the body of the message from.  The configuration says where it is sent, and how often,
-- at the time of sending.
--
-- @doc: [{"id"}].  Those of them that have ended at @now are told of.

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
