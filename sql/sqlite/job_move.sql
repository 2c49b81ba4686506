-- Advances a job, in the transaction of its batch, unless the job was stopped or its
-- position differs from :seen.

UPDATE submission_jobs
SET state = :state,
    position = coalesce(:position, position),
    seen_count = :seen_after,
    last_error = coalesce(:error, last_error),
    started_at = coalesce(started_at, :now),
    last_modified_at = :now,
    completed_at = iif(:state = 'running', NULL, :now)
WHERE lease_name = :lease_name AND kind = :kind AND job_id = :job_id
      AND completed_at IS NULL AND seen_count = :seen;
