-- Reads the job to work on: among the oldest jobs that are running, the one that has
-- waited longest.

SELECT :now AS now, kind, job_id, filter, max_intents, state, position,
       seen_count, done_count, skipped_count, last_error, actor, created_at,
       last_modified_at, completed_at
FROM (
         SELECT *
         FROM submission_jobs
         WHERE lease_name = :lease_name AND completed_at IS NULL
               AND kind IN ('replay', 'cancel')
         ORDER BY created_at, job_id
         LIMIT 100
     )
ORDER BY last_modified_at, created_at, job_id
LIMIT 1;
