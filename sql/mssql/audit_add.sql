-- Writes down who did what, in the transaction that does it.

SET ANSI_NULLS ON;
SET QUOTED_IDENTIFIER ON;
SET ANSI_PADDING ON;
SET ANSI_WARNINGS ON;
SET ARITHABORT ON;
SET CONCAT_NULL_YIELDS_NULL ON;
SET NUMERIC_ROUNDABORT OFF;
GO

CREATE OR ALTER PROCEDURE submission.submission_audit_add
    @lease_name varchar(64),
    @at datetime2(6),
    @actor nvarchar(max),
    @address nvarchar(max),
    @action varchar(32),
    @object nvarchar(400),
    @detail nvarchar(max)
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;

    INSERT INTO submission.submission_audit (
        lease_name, at, actor, address, action, object, detail
    )
    VALUES (
        @lease_name, @at, submission.submission_left(COALESCE(@actor, N''), 200),
        submission.submission_left(COALESCE(@address, N''), 64), @action, @object,
        submission.submission_left(@detail, 2000)
    );
END
GO
