-- Removes an instance that ends.

SET ANSI_NULLS ON;
SET QUOTED_IDENTIFIER ON;
SET ANSI_PADDING ON;
SET ANSI_WARNINGS ON;
SET ARITHABORT ON;
SET CONCAT_NULL_YIELDS_NULL ON;
SET NUMERIC_ROUNDABORT OFF;
GO

CREATE OR ALTER PROCEDURE submission.submission_candidate_remove
    @lease_name varchar(64),
    @holder_id nvarchar(128)
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;

    DELETE FROM submission.submission_manager_candidates
    WHERE lease_name = @lease_name AND holder_id = @holder_id;

    DELETE FROM submission.submission_manager_target_names
    WHERE lease_name = @lease_name AND holder_id = @holder_id;

    SELECT submission.submission_us(submission.submission_now()) AS now;
END
GO
