-- The newest p_bound intents that were rejected or exhausted since p_since and not
-- replayed, those of the newest p_bound that were, and the newest p_bound rows that
-- the inbox refused, in groups with the same target, status, reason and last error.
-- The answer has the newest p_groups groups, and for each minute of a group its
-- three newest failures, so that one answer also serves requests with a later
-- p_since.  The first row of a minute has the number of its failures in o_failures.
-- All failures after o_seen were counted; it is -1 if that is all of them.
--
-- What was replayed is counted apart, in minutes of its own with 1 in o_replayed.  It
-- comes last in its group, and groups that have nothing else come last.

CREATE OR REPLACE FUNCTION submission.submission_failures_get(
    p_lease_name text, p_target text, p_since bigint, p_bound bigint,
    p_groups bigint
)
RETURNS TABLE (
    o_number bigint, o_intent_id text, o_seen bigint, o_target text,
    o_status text, o_reason text, o_last_error text, o_failures bigint,
    o_replayed bigint, o_newest_at bigint
)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = submission, pg_temp
AS $$
BEGIN
    RETURN QUERY
    WITH keys AS MATERIALIZED (
        SELECT 0 AS replayed, k.o_at AS at, k.o_intent_id AS id
        FROM submission_intents_search(p_lease_name, 'failed', 'failed',
                                       p_target, NULL, 0, 253402214400000000,
                                       '', p_since, p_bound + 1) AS k
        UNION ALL
        SELECT 1, k.o_at, k.o_intent_id
        FROM submission_intents_search(p_lease_name, 'completed', 'failed',
                                       p_target, NULL, 0, 253402214400000000,
                                       '', p_since, p_bound + 1) AS k
    ),
    failed AS MATERIALIZED (
        SELECT i.submission_target::text AS target, i.status::text AS status,
               CASE i.status WHEN 'rejected' THEN i.final_outcome_reason
                             ELSE i.exhausted_reason END::text AS reason,
               i.last_error::text AS last_error, k.at, k.id,
               k.replayed::bigint AS replayed
        FROM keys AS k
             CROSS JOIN LATERAL (
                 SELECT *
                 FROM submission_intents AS s
                 WHERE s.lease_name = p_lease_name
                       AND s.intent_id = k.id COLLATE "C"
                 LIMIT 1
             ) AS i
        WHERE (k.replayed = 1) = (i.replay_count IS NOT NULL)
    ),
    refused AS MATERIALIZED (
        SELECT left(i.submission_target, 200)::text AS target,
               'refused'::text AS status, i.reason::text AS reason,
               i.detail::text AS last_error, submission_us(i.refused_at) AS at,
               left(i.intent_id, 200)::text AS id, 0::bigint AS replayed
        FROM submission_inbox_refused AS i
        WHERE i.lease_name = p_lease_name
              AND i.refused_at >= submission_at(p_since)
        ORDER BY i.lease_name DESC, i.refused_at DESC, i.seq DESC
        LIMIT p_bound + 1
    ),
    looked AS (
        SELECT * FROM failed
        UNION ALL
        SELECT * FROM refused
        WHERE p_target IS NULL OR refused.target = p_target
    ),
    ranked AS (
        SELECT l.*,
               row_number() OVER (
                   PARTITION BY l.target, l.status, l.reason, l.last_error,
                                l.replayed, l.at / 60000000
                   ORDER BY l.at DESC, l.id COLLATE "C" DESC
               ) AS nth,
               count(*) OVER (
                   PARTITION BY l.target, l.status, l.reason, l.last_error,
                                l.replayed, l.at / 60000000
               ) AS failures,
               max(CASE l.replayed WHEN 0 THEN l.at END) OVER (
                   PARTITION BY l.target, l.status, l.reason, l.last_error
               ) AS open_at,
               max(l.at) OVER (
                   PARTITION BY l.target, l.status, l.reason, l.last_error
               ) AS newest_at
        FROM looked AS l
    ),
    grouped AS (
        SELECT r.*,
               dense_rank() OVER (
                   ORDER BY coalesce(r.open_at, -1) DESC, r.newest_at DESC,
                            r.target COLLATE "C", r.status COLLATE "C", r.reason COLLATE "C",
                            r.last_error COLLATE "C"
               ) AS number
        FROM ranked AS r
        WHERE r.nth <= 3
    )
    SELECT g.number, g.id,
           greatest((SELECT min(k.at) FROM keys AS k WHERE k.replayed = 0
                     HAVING count(*) > p_bound),
                    (SELECT min(k.at) FROM keys AS k WHERE k.replayed = 1
                     HAVING count(*) > p_bound),
                    (SELECT min(r.at) FROM refused AS r
                     HAVING count(*) > p_bound), -1),
           g.target, g.status, g.reason, g.last_error,
           CASE g.nth WHEN 1 THEN g.failures ELSE 0 END, g.replayed, g.at
    FROM grouped AS g
    WHERE g.number <= p_groups + 1
    ORDER BY g.number, g.replayed, g.at DESC, g.id COLLATE "C" DESC;
END
$$;
