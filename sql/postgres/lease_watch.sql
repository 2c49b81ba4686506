-- The lease as it is, and the URL that wakes its holder.

CREATE OR REPLACE FUNCTION submission.submission_lease_watch(p_lease_name text)
RETURNS SETOF submission.submission_row_watch
LANGUAGE sql VOLATILE SECURITY DEFINER
SET search_path = submission, pg_temp
AS $$
    SELECT l.*, c.wake_url::text
    FROM submission_lease_shown(p_lease_name, submission_now(), false) AS l
         LEFT JOIN submission_manager_candidates AS c
         ON c.lease_name = p_lease_name AND c.holder_id = l.o_holder_id
$$;
