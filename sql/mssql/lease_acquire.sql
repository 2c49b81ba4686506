-- Takes the lease if nobody holds it or if it has expired.  If there is no row, one of
-- epoch 0 is made before the transaction; it is never shown, and anyone may take it.

SET ANSI_NULLS ON;
SET QUOTED_IDENTIFIER ON;
SET ANSI_PADDING ON;
SET ANSI_WARNINGS ON;
SET ARITHABORT ON;
SET CONCAT_NULL_YIELDS_NULL ON;
SET NUMERIC_ROUNDABORT OFF;
GO

CREATE OR ALTER PROCEDURE submission.submission_lease_acquire
    @lease_name varchar(64),
    @holder_id nvarchar(128),
    @duration_ms bigint
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;

    DECLARE @zero datetime2(6);

    IF NOT EXISTS (SELECT 1 FROM submission.submission_manager_leases
                   WHERE lease_name = @lease_name)
    BEGIN TRY
        SET @zero = submission.submission_at(0);

        INSERT INTO submission.submission_manager_leases (
            lease_name, holder_id, lease_epoch, acquired_at, renewed_at,
            expires_at
        )
        VALUES (@lease_name, N'', 0, @zero, @zero, @zero);
    END TRY
    BEGIN CATCH
        IF ERROR_NUMBER() NOT IN (2627, 2601)
            THROW;
    END CATCH;

    EXECUTE submission.submission_lease_change @lease_name, 'acquire', @holder_id,
                                               NULL, @duration_ms;
END
GO
