-- Shows a page of the attempts of one intent, newest first, before @before, or from the
-- newest on if that is NULL.  Each row has the intent, too.  If there is no attempt, one
-- row has the intent alone.

SET ANSI_NULLS ON;
SET QUOTED_IDENTIFIER ON;
SET ANSI_PADDING ON;
SET ANSI_WARNINGS ON;
SET ARITHABORT ON;
SET CONCAT_NULL_YIELDS_NULL ON;
SET NUMERIC_ROUNDABORT OFF;
GO

CREATE OR ALTER PROCEDURE submission.submission_intent_history
    @lease_name varchar(64),
    @intent_id nvarchar(400),
    @limit bigint = 500,
    @before bigint = NULL
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;

    SET @before = COALESCE(@before, 9223372036854775807);

    SELECT i.*,
           a.attempt_number,
           submission.submission_us(a.started_at) AS started_at,
           submission.submission_us(a.finished_at) AS finished_at,
           a.outcome_status, a.outcome_reason, a.error, a.http_status, a.answer,
           a.span_id, a.lease_epoch
    FROM submission.submission_intent_shown(@lease_name, @intent_id, 0, NULL,
                                            NULL) AS i
         OUTER APPLY (
             SELECT TOP (@limit) s.attempt_number, s.started_at, s.finished_at,
                    s.outcome_status, s.outcome_reason, s.error,
                    s.http_status, s.answer, s.span_id, s.lease_epoch
             FROM submission.submission_attempts AS s WITH (FORCESEEK)
             WHERE s.lease_name = @lease_name AND s.intent_id = @intent_id
                   AND s.attempt_number < @before
             ORDER BY s.attempt_number DESC
         ) AS a
    WHERE i.intent_id IS NOT NULL
    ORDER BY a.attempt_number DESC;
END
GO
