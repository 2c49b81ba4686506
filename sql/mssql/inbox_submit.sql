-- Submits an intent in a transaction of an application, which has the role
-- submission_client.  It becomes an intent when that transaction has committed and the
-- leader has read the inbox.  What POST would refuse ends in submission_inbox_refused.
--
--     EXECUTE submission.submit N'order-4711', N'sms.realtime', N'{"to":"+15550100"}';
--
-- @payload: JSON, or empty; it is kept as UTF-8.
-- @payload_utf8: the bytes, in place of @payload.
-- @not_before: in UTC; the first attempt is not made before that.
-- @lease_name: that of the manager, if it is not the default.
-- @traceparent, @tracestate: the context of a trace; an invalid one is dropped.

SET ANSI_NULLS ON;
SET QUOTED_IDENTIFIER ON;
SET ANSI_PADDING ON;
SET ANSI_WARNINGS ON;
SET ARITHABORT ON;
SET CONCAT_NULL_YIELDS_NULL ON;
SET NUMERIC_ROUNDABORT OFF;
GO

CREATE OR ALTER FUNCTION submission.submission_utf8 (@text nvarchar(max))
RETURNS varbinary(max)
WITH SCHEMABINDING
AS
BEGIN
    RETURN CAST(CAST(@text COLLATE Latin1_General_100_BIN2_UTF8 AS varchar(max))
                AS varbinary(max));
END
GO

CREATE OR ALTER PROCEDURE submission.submit
    @id nvarchar(4000),
    @target nvarchar(4000),
    @payload nvarchar(max) = NULL,
    @not_before datetime2(6) = NULL,
    @lease_name varchar(64) = 'submission-manager-executor',
    @payload_utf8 varbinary(max) = NULL,
    @traceparent nvarchar(4000) = NULL,
    @tracestate nvarchar(4000) = NULL
AS
BEGIN
    SET NOCOUNT ON;

    INSERT INTO submission.submission_inbox (
        lease_name, intent_id, submission_target, payload, not_before, created_at,
        traceparent, tracestate
    )
    VALUES (
        @lease_name, @id, @target,
        COALESCE(@payload_utf8, submission.submission_utf8(@payload),
                 CAST('' AS varbinary(max))),
        @not_before, submission.submission_now(), @traceparent, @tracestate
    );
END
GO
