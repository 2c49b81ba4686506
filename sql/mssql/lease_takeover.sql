-- Lets another worker of the holder go on, with a new epoch.

SET ANSI_NULLS ON;
SET QUOTED_IDENTIFIER ON;
SET ANSI_PADDING ON;
SET ANSI_WARNINGS ON;
SET ARITHABORT ON;
SET CONCAT_NULL_YIELDS_NULL ON;
SET NUMERIC_ROUNDABORT OFF;
GO

CREATE OR ALTER PROCEDURE submission.submission_lease_takeover
    @lease_name varchar(64),
    @holder_id nvarchar(128),
    @lease_epoch bigint,
    @duration_ms bigint
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;

    EXECUTE submission.submission_lease_change @lease_name, 'takeover', @holder_id,
                                               @lease_epoch, @duration_ms;
END
GO
