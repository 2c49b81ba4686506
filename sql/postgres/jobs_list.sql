-- The job p_job_id or, if that is NULL, a page of the jobs of a kind, newest first,
-- strictly before (p_at, p_id), or from the newest on if p_at is NULL.

CREATE OR REPLACE FUNCTION submission.submission_jobs_list(
    p_lease_name text, p_kind text, p_job_id text, p_at bigint, p_id text,
    p_limit bigint
)
RETURNS SETOF submission.submission_row_job
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = submission, pg_temp
AS $$
BEGIN
    IF p_job_id IS NOT NULL THEN
        RETURN QUERY
        SELECT *
        FROM submission_job_by_id(p_lease_name, p_kind, p_job_id, 0);

        RETURN;
    END IF;

    RETURN QUERY
    SELECT s.*
    FROM submission_jobs AS j
         CROSS JOIN LATERAL submission_job_shown(j, 0) AS s
    WHERE j.lease_name = p_lease_name AND j.kind = p_kind
          AND (j.created_at, j.job_id)
              < (coalesce(submission_at(p_at), 'infinity'),
                 coalesce(p_id, ''))
    ORDER BY j.created_at DESC, j.job_id DESC
    LIMIT p_limit;
END
$$;
