-- A job that is running ends here.  o_outcome is 1: it was stopped now, 2: it had
-- ended before.  No row: there is no such job.

CREATE OR REPLACE FUNCTION submission.submission_job_stop(
    p_lease_name text, p_kind text, p_job_id text, p_actor text,
    p_address text
)
RETURNS TABLE (
    o_outcome bigint, o_kind text, o_job_id text, o_filter text, o_max bigint,
    o_state text, o_position text, o_seen bigint, o_done bigint,
    o_skipped bigint, o_error text, o_actor text, o_created_at bigint,
    o_modified_at bigint, o_completed_at bigint
)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = submission, pg_temp
SET enable_seqscan = off
SET enable_bitmapscan = off
SET jit = off
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
    SELECT v_stopped, j.kind::text, j.job_id::text, j.filter::text,
           j.max_intents, j.state::text, j.position::text, j.seen_count,
           j.done_count, j.skipped_count, j.last_error::text, j.actor::text,
           submission_us(j.created_at), submission_us(j.last_modified_at),
           submission_us(j.completed_at)
    FROM submission_jobs AS j
    WHERE j.lease_name = p_lease_name AND j.kind = p_kind
          AND j.job_id = p_job_id;
END
$$;
