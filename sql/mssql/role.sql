-- A role that may call the procedures, and nothing else: it cannot read or
-- write a table.  The right is on the schema, so that a procedure which is made
-- anew keeps it.  Run as the owner, after everything else; may run again.  Then
-- let nginx's login have it:
--
--     CREATE LOGIN nginx WITH PASSWORD = '...';
--     CREATE USER nginx FOR LOGIN nginx;
--     ALTER ROLE submission_nginx ADD MEMBER nginx;

SET ANSI_NULLS ON;
SET QUOTED_IDENTIFIER ON;
SET ANSI_PADDING ON;
SET ANSI_WARNINGS ON;
SET ARITHABORT ON;
SET CONCAT_NULL_YIELDS_NULL ON;
SET NUMERIC_ROUNDABORT OFF;
GO

IF DATABASE_PRINCIPAL_ID(N'submission_nginx') IS NULL
    CREATE ROLE submission_nginx;
GO

GRANT EXECUTE ON SCHEMA::submission TO submission_nginx;
GO

-- And one for applications, which may submit, and nothing else:
--
--     ALTER ROLE submission_client ADD MEMBER shop;

IF DATABASE_PRINCIPAL_ID(N'submission_client') IS NULL
    CREATE ROLE submission_client;
GO

GRANT EXECUTE ON OBJECT::submission.submit TO submission_client;
GO
