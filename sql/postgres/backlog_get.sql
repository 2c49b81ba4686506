-- The intents with an attempt to come, counted by target.  Of all of them, only the
-- p_bound that were modified first are counted.  o_seen is how many were read,
-- which is p_bound + 1 if there are more.

CREATE OR REPLACE FUNCTION submission.submission_backlog_get(
    p_lease_name text, p_bound bigint, p_groups bigint
)
RETURNS TABLE (
    o_now bigint, o_seen bigint, o_target text, o_due bigint,
    o_waiting bigint, o_oldest bigint
)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = submission, pg_temp
SET enable_sort = off
AS $$
DECLARE
    v_now  timestamptz;
BEGIN
    v_now := submission_now();

    RETURN QUERY
    WITH pending AS MATERIALIZED (
        SELECT i.submission_target::text AS target, i.next_attempt_at AS due_at
        FROM submission_intents AS i
        WHERE i.lease_name = p_lease_name AND i.next_attempt_at IS NOT NULL
        ORDER BY i.last_modified_at, i.intent_id
        LIMIT p_bound + 1
    )
    SELECT submission_us(v_now), n.seen, g.target, g.due, g.waiting,
           submission_us(g.oldest)
    FROM (SELECT count(*) AS seen FROM pending) AS n
         LEFT JOIN (
             SELECT s.target, count(*) FILTER (WHERE s.due_at <= v_now) AS due,
                    count(*) FILTER (WHERE s.due_at > v_now) AS waiting,
                    min(s.due_at) AS oldest
             FROM pending AS s
             GROUP BY s.target
             ORDER BY s.target
             LIMIT p_groups
         ) AS g ON true;
END
$$;
