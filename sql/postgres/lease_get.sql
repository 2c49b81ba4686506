-- The lease as it is; p_held is passed on by those who know better.

CREATE OR REPLACE FUNCTION submission.submission_lease_row(
    p_lease_name text, p_now timestamptz, p_held boolean
)
RETURNS TABLE (
    o_now bigint, o_held bigint, o_holder_id text, o_lease_epoch bigint,
    o_acquired_at bigint, o_renewed_at bigint, o_expires_at bigint
)
LANGUAGE sql VOLATILE
SET search_path = submission, pg_temp
AS $$
    SELECT submission_us(p_now), p_held::integer::bigint, l.holder_id,
           l.lease_epoch, submission_us(l.acquired_at),
           submission_us(l.renewed_at), submission_us(l.expires_at)
    FROM (VALUES (1)) AS one
         LEFT JOIN submission_manager_leases AS l
         ON l.lease_name = p_lease_name
$$;


-- for modules of version 1: see lease_watch.sql

CREATE OR REPLACE FUNCTION submission.submission_lease_get(p_lease_name text)
RETURNS TABLE (
    o_now bigint, o_held bigint, o_holder_id text, o_lease_epoch bigint,
    o_acquired_at bigint, o_renewed_at bigint, o_expires_at bigint
)
LANGUAGE sql VOLATILE SECURITY DEFINER
SET search_path = submission, pg_temp
AS $$
    SELECT * FROM submission_lease_row(p_lease_name, submission_now(), false)
$$;
