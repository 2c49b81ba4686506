-- Shows a page of the audit, newest first, strictly before (@at, @seq), or from the newest
-- on if that is NULL, and back to @from.  @actor and @action are NULL for any.
--
-- Each of the three queries reads in the order of an index.  The kinds of action of an
-- actor are found one by one, a page of each is read, and these are merged: there are
-- few kinds.

SET ANSI_NULLS ON;
SET QUOTED_IDENTIFIER ON;
SET ANSI_PADDING ON;
SET ANSI_WARNINGS ON;
SET ARITHABORT ON;
SET CONCAT_NULL_YIELDS_NULL ON;
SET NUMERIC_ROUNDABORT OFF;
GO

CREATE OR ALTER PROCEDURE submission.submission_audit_list
    @lease_name varchar(64),
    @actor nvarchar(200),
    @action varchar(32),
    @from bigint,
    @at bigint,
    @seq bigint,
    @limit bigint
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;

    DECLARE @from_at datetime2(6), @before datetime2(6), @name varchar(32);

    DECLARE @actions TABLE (
        name varchar(32) COLLATE Latin1_General_BIN2 NOT NULL PRIMARY KEY
    );

    SET @from_at = CASE WHEN @from IS NULL
                        THEN CAST('0001-01-01' AS datetime2(6))
                        ELSE submission.submission_at(@from) END;
    SET @before = CASE WHEN @at IS NULL
                       THEN CAST('9999-12-31' AS datetime2(6))
                       ELSE submission.submission_at(@at) END;
    SET @seq = COALESCE(@seq, 0);

    IF @actor IS NULL AND @action IS NULL
    BEGIN
        SELECT TOP (@limit) a.seq, submission.submission_us(a.at) AS at,
               a.actor, a.address, a.action, a.object, a.detail
        FROM submission.submission_audit AS a
        WHERE a.lease_name = @lease_name AND a.at >= @from_at
              AND (a.at < @before OR (a.at = @before AND a.seq < @seq))
              AND a.at <= @before
        ORDER BY a.at DESC, a.seq DESC;

        RETURN;
    END;

    IF @actor IS NULL
    BEGIN
        SELECT TOP (@limit) a.seq, submission.submission_us(a.at) AS at,
               a.actor, a.address, a.action, a.object, a.detail
        FROM submission.submission_audit AS a
        WHERE a.lease_name = @lease_name AND a.action = @action
              AND a.at >= @from_at
              AND (a.at < @before OR (a.at = @before AND a.seq < @seq))
              AND a.at <= @before
        ORDER BY a.at DESC, a.seq DESC;

        RETURN;
    END;

    SET @name = @action;

    IF @name IS NULL
        SELECT @name = MIN(action)
        FROM submission.submission_audit
        WHERE lease_name = @lease_name AND actor = @actor;

    WHILE @name IS NOT NULL
    BEGIN
        INSERT INTO @actions (name) VALUES (@name);

        IF @action IS NOT NULL
            BREAK;

        SET @name = (SELECT MIN(action)
                     FROM submission.submission_audit
                     WHERE lease_name = @lease_name AND actor = @actor
                           AND action > @name);
    END;

    SELECT TOP (@limit) g.seq, submission.submission_us(g.at) AS at,
           g.actor, g.address, g.action, g.object, g.detail
    FROM @actions AS k
         CROSS APPLY (
             SELECT TOP (@limit) a.seq, a.at, a.actor, a.address, a.action,
                    a.object, a.detail
             FROM submission.submission_audit AS a
             WHERE a.lease_name = @lease_name AND a.actor = @actor
                   AND a.action = k.name AND a.at >= @from_at
                   AND (a.at < @before OR (a.at = @before AND a.seq < @seq))
                   AND a.at <= @before
             ORDER BY a.at DESC, a.seq DESC
         ) AS g
    ORDER BY g.at DESC, g.seq DESC;
END
GO
