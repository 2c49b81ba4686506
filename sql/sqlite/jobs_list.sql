-- Reads a page of jobs of a kind, newest first, strictly before (:at, :id), or the
-- job :job_id.

SELECT *
FROM (
         SELECT 0 AS outcome, kind, job_id, filter, max_intents, state, position,
                seen_count, done_count, skipped_count, last_error, actor, created_at,
                last_modified_at, completed_at
         FROM submission_jobs
         WHERE :job_id IS NULL AND lease_name = :lease_name AND kind = :kind
               AND (created_at, job_id) < (coalesce(:at, 9223372036854775807), :id)
         ORDER BY created_at DESC, job_id DESC
         LIMIT :limit
     )
UNION ALL
SELECT 0, kind, job_id, filter, max_intents, state, position, seen_count,
       done_count, skipped_count, last_error, actor, created_at,
       last_modified_at, completed_at
FROM submission_jobs
WHERE lease_name = :lease_name AND kind = :kind AND job_id = :job_id;
