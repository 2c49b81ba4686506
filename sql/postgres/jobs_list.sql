-- A page of jobs of a kind, newest first, strictly before (p_at, p_id), or from the
-- newest on where p_at is NULL; or the one that is p_job_id.

CREATE OR REPLACE FUNCTION submission.submission_jobs_list(
    p_lease_name text, p_kind text, p_job_id text, p_at bigint, p_id text,
    p_limit bigint
)
RETURNS TABLE (
    o_outcome bigint, o_kind text, o_job_id text, o_filter text, o_max bigint,
    o_state text, o_position text, o_seen bigint, o_done bigint,
    o_skipped bigint, o_error text, o_actor text, o_created_at bigint,
    o_modified_at bigint, o_completed_at bigint
)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = submission, pg_temp
SET enable_seqscan = off
SET enable_bitmapscan = off
SET jit = off
AS $$
BEGIN
    IF p_job_id IS NOT NULL THEN
        RETURN QUERY
        SELECT 0::bigint, j.kind::text, j.job_id::text, j.filter::text,
               j.max_intents, j.state::text, j.position::text, j.seen_count,
               j.done_count, j.skipped_count, j.last_error::text,
               j.actor::text, submission_us(j.created_at),
               submission_us(j.last_modified_at),
               submission_us(j.completed_at)
        FROM submission_jobs AS j
        WHERE j.lease_name = p_lease_name AND j.kind = p_kind
              AND j.job_id = p_job_id;

        RETURN;
    END IF;

    RETURN QUERY
    SELECT 0::bigint, j.kind::text, j.job_id::text, j.filter::text,
           j.max_intents, j.state::text, j.position::text, j.seen_count,
           j.done_count, j.skipped_count, j.last_error::text, j.actor::text,
           submission_us(j.created_at), submission_us(j.last_modified_at),
           submission_us(j.completed_at)
    FROM submission_jobs AS j
    WHERE j.lease_name = p_lease_name AND j.kind = p_kind
          AND (j.created_at, j.job_id)
              < (coalesce(submission_at(p_at), 'infinity'),
                 coalesce(p_id, ''))
    ORDER BY j.created_at DESC, j.job_id DESC
    LIMIT p_limit;
END
$$;
