-- Adds a job, unless a job with its id exists.

INSERT INTO submission_jobs (
    lease_name, kind, job_id, filter, max_intents, state, actor, created_at,
    last_modified_at
)
VALUES (:lease_name, :kind, :job_id, :filter, :max_intents, 'running', :actor,
        :now, :now)
ON CONFLICT (lease_name, kind, job_id) DO NOTHING;
