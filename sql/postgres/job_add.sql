-- Adds a job, unless there is one with its id.  o_outcome is 1 if it was added, and
-- 2 if it existed.

CREATE OR REPLACE FUNCTION submission.submission_job_add(
    p_lease_name text, p_kind text, p_job_id text, p_filter text,
    p_max bigint, p_actor text, p_address text, p_detail text
)
RETURNS SETOF submission.submission_row_job
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = submission, pg_temp
AS $$
DECLARE
    v_now  timestamptz;
    v_new  bigint;
BEGIN
    v_now := submission_now();

    INSERT INTO submission_jobs (
        lease_name, kind, job_id, filter, max_intents, state, actor,
        created_at, last_modified_at
    )
    VALUES (
        p_lease_name, p_kind, p_job_id, p_filter, p_max, 'running',
        left(coalesce(p_actor, ''), 200), v_now, v_now
    )
    ON CONFLICT (lease_name, kind, job_id) DO NOTHING;

    v_new := CASE WHEN FOUND THEN 1 ELSE 2 END;

    IF v_new = 1 THEN
        PERFORM submission_audit_add(p_lease_name, v_now, p_actor, p_address,
                                     p_kind || '_job', p_job_id, p_detail);
    END IF;

    RETURN QUERY
    SELECT *
    FROM submission_job_by_id(p_lease_name, p_kind, p_job_id, v_new);
END
$$;
