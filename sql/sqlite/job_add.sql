-- Adds a job, unless there is one with its id.

INSERT INTO submission_jobs (
    lease_name, kind, job_id, filter, max_intents, state, actor, created_at,
    last_modified_at
)
VALUES (:lease_name, :kind, :job_id, :filter, :max_intents, 'running', :actor,
        :now, :now)
ON CONFLICT (lease_name, kind, job_id) DO NOTHING;
