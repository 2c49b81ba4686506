-- refused: index

SET ANSI_NULLS ON;
SET QUOTED_IDENTIFIER ON;
SET ANSI_PADDING ON;
SET ANSI_WARNINGS ON;
SET ARITHABORT ON;
SET CONCAT_NULL_YIELDS_NULL ON;
SET NUMERIC_ROUNDABORT OFF;
GO

IF NOT EXISTS (SELECT 1 FROM sys.indexes
               WHERE object_id = OBJECT_ID(N'submission.t')
                     AND name LIKE N't[_]a%')
    CREATE INDEX t_a ON submission.t (a);
GO

IF NOT EXISTS (SELECT 1 FROM sys.indexes
               WHERE object_id = OBJECT_ID(N'submission.t')
                     AND name LIKE N't[_]a%')
    CREATE INDEX t_a ON submission.t (a) INCLUDE (b);
GO
