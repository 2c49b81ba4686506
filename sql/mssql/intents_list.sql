-- Shows a page of the list, newest first, strictly after (@created_at, @intent_id), or
-- from the newest on if that is NULL.  @status and @target are NULL for any.

SET ANSI_NULLS ON;
SET QUOTED_IDENTIFIER ON;
SET ANSI_PADDING ON;
SET ANSI_WARNINGS ON;
SET ARITHABORT ON;
SET CONCAT_NULL_YIELDS_NULL ON;
SET NUMERIC_ROUNDABORT OFF;
GO

CREATE OR ALTER PROCEDURE submission.submission_intents_list
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

    DECLARE @at bigint, @id nvarchar(400);

    DECLARE @keys TABLE (
        at bigint NOT NULL,
        intent_id nvarchar(400) COLLATE Latin1_General_BIN2 NOT NULL
    );

    -- The list goes from 9999-12-31, if the caller names no time, down to 1970-01-01.

    SET @at = COALESCE(@created_at, 253402214400000000);
    SET @id = COALESCE(@intent_id, N'');

    INSERT INTO @keys (at, intent_id)
    EXECUTE submission.submission_intents_search
        @lease_name, 'created', @status, @target, NULL, 0, @at, @id,
        0, @limit, 1;

    SELECT i.*
    FROM @keys AS g
         CROSS APPLY submission.submission_intent_shown(@lease_name, g.intent_id,
                                                        0, NULL, NULL) AS i
    WHERE i.intent_id IS NOT NULL
    ORDER BY g.at DESC, g.intent_id DESC;
END
GO
