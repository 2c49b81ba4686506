-- The lease as it is, and where its holder is told.

CREATE OR REPLACE FUNCTION submission.submission_lease_watch(p_lease_name text)
RETURNS TABLE (
    o_now bigint, o_held bigint, o_holder_id text, o_lease_epoch bigint,
    o_acquired_at bigint, o_renewed_at bigint, o_expires_at bigint,
    o_wake_url text
)
LANGUAGE sql VOLATILE SECURITY DEFINER
SET search_path = submission, pg_temp
AS $$
    SELECT l.*, c.wake_url::text
    FROM submission_lease_row(p_lease_name, submission_now(), false) AS l
         LEFT JOIN submission_manager_candidates AS c
         ON c.lease_name = p_lease_name AND c.holder_id = l.o_holder_id
$$;
