-- The job to work on: of the oldest that are running, the one that has waited
-- longest, and that no other session has locked.  The first row of the answer has
-- the time alone.

CREATE OR REPLACE FUNCTION submission.submission_job_next(
    p_lease_name text, p_holder_id text, p_lease_epoch bigint
)
RETURNS TABLE (
    o_now bigint, o_kind text, o_job_id text, o_filter text, o_max bigint,
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
BEGIN
    RETURN QUERY
    SELECT submission_us(submission_fence_read(p_lease_name, p_holder_id,
                                               p_lease_epoch)),
           NULL, NULL, NULL, NULL::bigint, NULL, NULL, NULL::bigint,
           NULL::bigint, NULL::bigint, NULL, NULL, NULL::bigint,
           NULL::bigint, NULL::bigint;

    RETURN QUERY
    SELECT NULL::bigint, j.kind::text, j.job_id::text, j.filter::text,
           j.max_intents, j.state::text, j.position::text, j.seen_count,
           j.done_count, j.skipped_count, j.last_error::text, j.actor::text,
           submission_us(j.created_at), submission_us(j.last_modified_at),
           submission_us(j.completed_at)
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
             SELECT 1
             FROM submission_jobs AS f
             WHERE f.lease_name = p_lease_name AND f.kind = j.kind
                   AND f.job_id = j.job_id
             FOR UPDATE SKIP LOCKED
         ) AS l
    LIMIT 1;
END
$$;
