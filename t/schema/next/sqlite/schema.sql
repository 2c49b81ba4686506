
CREATE INDEX IF NOT EXISTS submission_intents_label
    ON submission_intents (lease_name, label, completed_at)
    WHERE completed_at IS NOT NULL;
