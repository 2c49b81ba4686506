
IF NOT EXISTS (SELECT 1 FROM sys.indexes
               WHERE object_id = OBJECT_ID(N'submission.submission_intents')
                     AND name LIKE N'submission[_]intents[_]label%')
    CREATE INDEX submission_intents_label
        ON submission.submission_intents (lease_name, label, completed_at)
        WHERE completed_at IS NOT NULL;
GO
