-- A page of the list, newest first, strictly after (@created_at, @intent_id);
-- NULL is any status, any target, and from the newest on.  Each target and
-- status is a seek of its own, and so is the step from one target to the next:
-- a page costs the same however many intents there are.

SET ANSI_NULLS ON;
SET QUOTED_IDENTIFIER ON;
GO

DROP PROCEDURE IF EXISTS submission.submission_intents_list;
GO

CREATE PROCEDURE submission.submission_intents_list
    @lease_name varchar(64),
    @status varchar(16),
    @target nvarchar(256),
    @limit bigint,
    @created_at bigint,
    @intent_id nvarchar(400)
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;

    DECLARE @at datetime2(7), @id nvarchar(400), @name nvarchar(256);

    DECLARE @targets TABLE (
        name nvarchar(256) COLLATE Latin1_General_BIN2 NOT NULL PRIMARY KEY
    );

    SET @at = CASE WHEN @created_at IS NULL
                   THEN CAST('9999-12-31' AS datetime2(7))
                   ELSE submission.submission_at(@created_at) END;
    SET @id = COALESCE(@intent_id, N'');
    SET @name = @target;

    IF @name IS NULL
        SELECT @name = MIN(submission_target)
        FROM submission.submission_intents
        WHERE lease_name = @lease_name;

    WHILE @name IS NOT NULL
    BEGIN
        INSERT INTO @targets (name) VALUES (@name);

        IF @target IS NOT NULL
            BREAK;

        SET @name = (SELECT MIN(submission_target)
                     FROM submission.submission_intents
                     WHERE lease_name = @lease_name
                           AND submission_target > @name);
    END;

    SELECT TOP (@limit) CAST(0 AS bigint) AS n, i.intent_id, i.submission_target, i.status,
           submission.submission_us(i.created_at) AS created_at,
           i.attempt_count,
           submission.submission_us(i.next_attempt_at) AS next_attempt_at,
           submission.submission_us(i.completed_at) AS completed_at,
           i.final_outcome_reason, i.exhausted_reason, i.payload_hash
    FROM @targets AS t
         CROSS JOIN (SELECT 'pending' AS status UNION ALL SELECT 'accepted'
                     UNION ALL SELECT 'rejected' UNION ALL SELECT 'exhausted')
                    AS s
         CROSS APPLY (
             SELECT TOP (@limit) *
             FROM submission.submission_intents AS p
             WHERE p.lease_name = @lease_name
                   AND p.submission_target = t.name AND p.status = s.status
                   AND p.created_at <= @at
                   AND (p.created_at < @at OR p.intent_id < @id)
             ORDER BY p.created_at DESC, p.intent_id DESC
         ) AS i
    WHERE @status IS NULL OR s.status = @status
    ORDER BY i.created_at DESC, i.intent_id DESC;
END
GO
