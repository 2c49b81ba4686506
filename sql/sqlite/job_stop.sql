-- Stops a job that is running.

UPDATE submission_jobs
SET state = 'stopped',
    last_modified_at = :now,
    completed_at = :now
WHERE lease_name = :lease_name AND kind = :kind AND job_id = :job_id
      AND completed_at IS NULL;
