
DO $$
BEGIN
    IF to_regclass('submission_intents_label') IS NULL THEN
        CREATE INDEX submission_intents_label
            ON submission_intents (lease_name, label, completed_at)
            WHERE completed_at IS NOT NULL;
    END IF;
END
$$;
