-- Removes jobs that ended long ago.  The index is by creation, and no job ends before
-- it was created.

DELETE FROM submission_jobs
WHERE lease_name = :lease_name
      AND (kind, job_id) IN (
          SELECT kind, job_id
          FROM submission_jobs INDEXED BY submission_jobs_list
          WHERE lease_name = :lease_name AND kind IN ('replay', 'cancel')
                AND created_at <= :before AND completed_at <= :before
          LIMIT :limit
      );
