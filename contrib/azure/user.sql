-- The user of a managed identity in the database: contained, without a login and
-- without a password, and with no right but those of the role.  By sqlcmd or
-- Invoke-Sqlcmd, with the variables "identity", its name, and "object_id", that of
-- its principal; as the Entra administrator; may run again.

SET ANSI_NULLS ON;
SET QUOTED_IDENTIFIER ON;
GO

IF DATABASE_PRINCIPAL_ID(N'submission_nginx') IS NULL
    THROW 57010, N'there is no role submission_nginx: sql/install.sh comes first', 1;
GO

IF DATABASE_PRINCIPAL_ID(N'$(identity)') IS NULL
    CREATE USER [$(identity)] FROM EXTERNAL PROVIDER
        WITH OBJECT_ID = '$(object_id)';
GO

ALTER ROLE submission_nginx ADD MEMBER [$(identity)];
GO
