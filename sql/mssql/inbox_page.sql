-- Shows what is in the inbox, from seq @from on, no matter when it was committed.
-- One row, without a seq, has the time.  A payload of more than @max bytes is not read.
-- A row that begins after @bytes of payloads is left for the next page.  Nothing is
-- locked, and no open transaction is waited for.

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
    @from bigint,
    @limit bigint,
    @bytes bigint,
    @max bigint
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;

    DECLARE @now datetime2(6);

    -- Only keys are sorted; the payloads are read in their order.

    DECLARE @page TABLE (
        place    int NOT NULL PRIMARY KEY,
        seq      bigint NULL,
        size     bigint NULL
    );

    EXECUTE submission.submission_fence_read @lease_name, @holder_id,
                                             @lease_epoch, @now OUTPUT;

    INSERT INTO @page (place, seq, size)
    SELECT 0, NULL, NULL
    UNION ALL
    SELECT b.place, b.seq, b.size
    FROM (
             SELECT s.seq, s.size,
                    ROW_NUMBER() OVER (ORDER BY s.seq) AS place,
                    SUM(CASE WHEN s.size <= @max THEN s.size ELSE 0 END)
                        OVER (ORDER BY s.seq ROWS UNBOUNDED PRECEDING)
                    - CASE WHEN s.size <= @max THEN s.size ELSE 0 END AS began
             FROM (
                      SELECT TOP (@limit) i.seq,
                             CAST(DATALENGTH(i.payload) AS bigint) AS size
                      FROM submission.submission_inbox AS i
                           WITH (FORCESEEK (submission_inbox_next (lease_name)))
                      WHERE i.lease_name = @lease_name AND i.seq >= @from
                      ORDER BY i.seq
                  ) AS s
         ) AS b
    WHERE b.began < @bytes;

    SELECT CASE WHEN p.seq IS NULL THEN submission.submission_us(@now) END AS now,
           p.seq,
           CAST(submission.submission_left(b.intent_id, 1024)
                AS nvarchar(1024)) AS intent_id,
           CAST(submission.submission_left(b.submission_target, 1024)
                AS nvarchar(1024)) AS submission_target,
           submission.submission_us(b.not_before) AS not_before, p.size,
           CAST(submission.submission_left(b.traceparent, 1024)
                AS nvarchar(1024)) AS traceparent,
           CAST(submission.submission_left(b.tracestate, 1024)
                AS nvarchar(1024)) AS tracestate,
           CASE WHEN p.size <= @max THEN b.payload END AS payload
    FROM @page AS p
         OUTER APPLY (
             SELECT TOP (1) i.intent_id, i.submission_target, i.not_before,
                    i.traceparent, i.tracestate, i.payload
             FROM submission.submission_inbox AS i
                  WITH (FORCESEEK (submission_inbox_pk (seq)))
             WHERE i.seq = p.seq
         ) AS b
    WHERE p.seq IS NULL OR b.intent_id IS NOT NULL
    ORDER BY p.place;
END
GO
