-- Adds the results of a batch to its job, in the batch's transaction.

UPDATE submission_jobs
SET done_count = done_count + :done,
    skipped_count = skipped_count + :skipped
WHERE lease_name = :lease_name AND kind = :kind AND job_id = :job_id;
