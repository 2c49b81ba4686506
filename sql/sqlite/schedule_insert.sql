-- Inserts a schedule, unless a schedule with its id exists.

INSERT INTO submission_schedules (
    lease_name, schedule_id, submission_target, body, payload_hash, source,
    revision, next_run_at, actor, created_at, last_modified_at, payload
)
VALUES (
    :lease_name, :schedule_id, :submission_target, :body, :payload_hash,
    :source, :now, :next_run_at, :actor, :now, :now, :payload
)
ON CONFLICT (lease_name, schedule_id) DO NOTHING;
