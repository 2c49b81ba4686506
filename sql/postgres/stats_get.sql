-- The statistics of the leader.  The document is NULL if its time is p_seen: the
-- caller has it.

CREATE OR REPLACE FUNCTION submission.submission_stats_get(
    p_lease_name text, p_seen bigint
)
RETURNS TABLE (o_lease_epoch bigint, o_at bigint, o_stats bytea)
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = submission, pg_temp
AS $$
    SELECT s.lease_epoch, submission_us(s.at),
           CASE WHEN submission_us(s.at) <> p_seen
                THEN convert_to(s.stats, 'UTF8') END
    FROM submission_stats AS s
    WHERE s.lease_name = p_lease_name
$$;
