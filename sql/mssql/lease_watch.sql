-- Shows the lease, and the URL at which its holder is woken.

SET ANSI_NULLS ON;
SET QUOTED_IDENTIFIER ON;
SET ANSI_PADDING ON;
SET ANSI_WARNINGS ON;
SET ARITHABORT ON;
SET CONCAT_NULL_YIELDS_NULL ON;
SET NUMERIC_ROUNDABORT OFF;
GO

CREATE OR ALTER PROCEDURE submission.submission_lease_watch
    @lease_name varchar(64)
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;

    DECLARE @now datetime2(6);

    SET @now = submission.submission_now();

    SELECT l.*, c.wake_url
    FROM submission.submission_lease_shown(@lease_name, @now) AS l
         LEFT JOIN submission.submission_manager_candidates AS c
         ON c.lease_name = @lease_name AND c.holder_id = l.holder_id;
END
GO
