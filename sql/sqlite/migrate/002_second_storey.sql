-- From version 1 to 2: what is added to tables that are there.  New tables, all
-- indexes and the version are made by schema.sql after it, in the same transaction.

ALTER TABLE submission_schema
    ADD COLUMN compatible_from INTEGER NOT NULL DEFAULT 1;

ALTER TABLE submission_manager_candidates ADD COLUMN wake_url TEXT;

ALTER TABLE submission_intents ADD COLUMN not_before INTEGER;
ALTER TABLE submission_intents ADD COLUMN retry_schedule TEXT;
ALTER TABLE submission_intents ADD COLUMN notify TEXT;
ALTER TABLE submission_intents ADD COLUMN contract_version INTEGER;
ALTER TABLE submission_intents ADD COLUMN replay_of TEXT;
ALTER TABLE submission_intents ADD COLUMN job_id TEXT;
ALTER TABLE submission_intents ADD COLUMN event_of TEXT;
ALTER TABLE submission_intents ADD COLUMN traceparent TEXT;
ALTER TABLE submission_intents ADD COLUMN tracestate TEXT;
ALTER TABLE submission_intents ADD COLUMN last_error TEXT;
ALTER TABLE submission_intents ADD COLUMN stripped_at INTEGER;

ALTER TABLE submission_attempts ADD COLUMN http_status INTEGER;
ALTER TABLE submission_attempts ADD COLUMN answer TEXT;
ALTER TABLE submission_attempts ADD COLUMN span_id TEXT;
