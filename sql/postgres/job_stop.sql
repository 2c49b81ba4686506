-- Stops a job that is running.  o_outcome is 1 if it was stopped now, and 2 if it
-- had ended before.  There is no row if there is no such job.

CREATE OR REPLACE FUNCTION submission.submission_job_stop(
    p_lease_name text, p_kind text, p_job_id text, p_actor text,
    p_address text
)
RETURNS SETOF submission.submission_row_job
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = submission, pg_temp
AS $$
DECLARE
    v_now      timestamptz;
    v_stopped  bigint;
BEGIN
    UPDATE submission_jobs AS j
    SET state = 'stopped',
        last_modified_at = submission_now(),
        completed_at = submission_now()
    WHERE j.lease_name = p_lease_name AND j.kind = p_kind
          AND j.job_id = p_job_id AND j.completed_at IS NULL
    RETURNING j.completed_at INTO v_now;

    v_stopped := CASE WHEN FOUND THEN 1 ELSE 2 END;

    IF v_stopped = 1 THEN
        PERFORM submission_audit_add(p_lease_name, v_now, p_actor, p_address,
                                     p_kind || '_job_stop', p_job_id, NULL);
    END IF;

    RETURN QUERY
    SELECT *
    FROM submission_job_by_id(p_lease_name, p_kind, p_job_id, v_stopped);
END
$$;
