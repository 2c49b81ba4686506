-- The job to work on: of the 100 oldest jobs that are running, the one that has
-- waited longest and that no other session has locked.  The first row of the answer
-- has only the time.

CREATE OR REPLACE FUNCTION submission.submission_job_next(
    p_lease_name text, p_holder_id text, p_lease_epoch bigint
)
RETURNS SETOF submission.submission_row_job_next
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = submission, pg_temp
AS $$
DECLARE
    v_row  submission_row_job_next;
BEGIN
    v_row.o_now := submission_us(submission_fence_read(p_lease_name,
                                     p_holder_id, p_lease_epoch));
    RETURN NEXT v_row;

    RETURN QUERY
    SELECT l.*
    FROM (
             SELECT o.*
             FROM (
                      SELECT *
                      FROM submission_jobs AS r
                      WHERE r.lease_name = p_lease_name
                            AND r.completed_at IS NULL
                            AND r.kind IN ('replay', 'cancel')
                      ORDER BY r.created_at, r.job_id
                      LIMIT 100
                  ) AS o
             ORDER BY o.last_modified_at, o.created_at, o.job_id
         ) AS j
         CROSS JOIN LATERAL (
             SELECT s.*
             FROM submission_jobs AS f
                  CROSS JOIN LATERAL submission_job_shown(f, NULL) AS s
             WHERE f.lease_name = p_lease_name AND f.kind = j.kind
                   AND f.job_id = j.job_id
             FOR UPDATE OF f SKIP LOCKED
         ) AS l
    LIMIT 1;
END
$$;
