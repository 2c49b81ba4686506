-- What is in the inbox, from the lowest seq on, no matter when it was committed.
-- One row, without a seq, has the time.  A payload of more than @max bytes is not
-- read; a row that begins after @bytes of payloads is left for the next page.
-- Nothing is locked, and no transaction that has not ended is waited for.

SET ANSI_NULLS ON;
SET QUOTED_IDENTIFIER ON;
SET ANSI_PADDING ON;
SET ANSI_WARNINGS ON;
SET ARITHABORT ON;
SET CONCAT_NULL_YIELDS_NULL ON;
SET NUMERIC_ROUNDABORT OFF;
GO

CREATE OR ALTER PROCEDURE submission.submission_inbox_page
    @lease_name varchar(64),
    @holder_id nvarchar(128),
    @lease_epoch bigint,
    @limit bigint,
    @bytes bigint,
    @max bigint
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;

    DECLARE @now datetime2(6);

    EXECUTE submission.submission_fence_read @lease_name, @holder_id,
                                             @lease_epoch, @now OUTPUT;

    SELECT submission.submission_us(@now) AS now, NULL AS seq,
           NULL AS intent_id, NULL AS submission_target, NULL AS not_before,
           NULL AS size, NULL AS traceparent, NULL AS tracestate,
           NULL AS payload
    UNION ALL
    SELECT NULL, b.seq, LEFT(b.intent_id, 1024), LEFT(b.submission_target, 1024),
           submission.submission_us(b.not_before), b.size,
           LEFT(b.traceparent, 1024), LEFT(b.tracestate, 1024),
           CASE WHEN b.size <= @max THEN b.payload END
    FROM (
             SELECT s.seq, s.intent_id, s.submission_target, s.not_before,
                    s.size, s.traceparent, s.tracestate, s.payload,
                    SUM(CASE WHEN s.size <= @max THEN s.size ELSE 0 END)
                        OVER (ORDER BY s.seq ROWS UNBOUNDED PRECEDING)
                    - CASE WHEN s.size <= @max THEN s.size ELSE 0 END AS began
             FROM (
                      SELECT TOP (@limit) i.seq, i.intent_id,
                             i.submission_target, i.not_before,
                             CAST(DATALENGTH(i.payload) AS bigint) AS size,
                             i.traceparent, i.tracestate, i.payload
                      FROM submission.submission_inbox AS i
                           WITH (FORCESEEK (submission_inbox_next (lease_name)))
                      WHERE i.lease_name = @lease_name
                      ORDER BY i.seq
                  ) AS s
         ) AS b
    WHERE b.began < @bytes
    ORDER BY seq;
END
GO
