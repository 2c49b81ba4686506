-- Ends those of a batch whose deadline has passed, in one transaction, whatever
-- their next attempt is due.  The first row of the answer has the time alone, in the
-- others o_n is the place in the document.
--
-- p_ids: ["id"].  o_outcome is 3: past its deadline, and exhausted; 2: it is not, and
-- its next attempt is due at o_due_at; what is not in the answer has none to come.
-- One that another session has locked is not waited for: it is due in a second.
-- o_created_at is not_before where that is later: a deadline counts from it.

CREATE OR REPLACE FUNCTION submission.submission_attempts_expire(
    p_lease_name text, p_holder_id text, p_lease_epoch bigint, p_ids text
)
RETURNS TABLE (
    o_now bigint, o_n bigint, o_outcome bigint, o_due_at bigint,
    o_created_at bigint, o_number bigint, o_notify text
)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = submission, pg_temp
SET enable_seqscan = off
SET enable_hashjoin = off
SET enable_mergejoin = off
SET enable_bitmapscan = off
SET jit = off
AS $$
DECLARE
    v_now  timestamptz;
BEGIN
    v_now := submission_fence(p_lease_name, p_holder_id, p_lease_epoch);

    RETURN QUERY
    SELECT submission_us(v_now), NULL::bigint, NULL::bigint, NULL::bigint,
           NULL::bigint, NULL::bigint, NULL;

    RETURN QUERY
    WITH asked AS MATERIALIZED (
        SELECT r.id COLLATE "C" AS id, min(r.n) - 1 AS n
        FROM jsonb_array_elements_text(p_ids::jsonb)
             WITH ORDINALITY AS r (id, n)
        GROUP BY r.id COLLATE "C"
    ), found AS MATERIALIZED (
        SELECT r.n, i.ctid AS place,
               CASE WHEN i.expired THEN v_now + interval '1 second'
                    ELSE i.next_attempt_at END AS due_at,
               i.expired AND l.free IS NOT NULL AS ends
        FROM asked AS r
             CROSS JOIN LATERAL (
                 SELECT s.ctid, s.*, submission_expired(s, v_now) AS expired
                 FROM submission_intents AS s
                 WHERE s.lease_name = p_lease_name AND s.intent_id = r.id
                 LIMIT 1
             ) AS i
             LEFT JOIN LATERAL (
                 SELECT true AS free
                 FROM submission_intents AS s
                 WHERE s.ctid = i.ctid AND i.expired
                 FOR UPDATE SKIP LOCKED
             ) AS l
             ON true
        WHERE i.status = 'pending' AND i.next_attempt_at IS NOT NULL
              AND i.inflight_epoch IS NULL
    ), ended AS (
        UPDATE submission_intents AS i
        SET status = 'exhausted',
            exhausted_reason = 'deadline_exceeded',
            completed_at = v_now,
            next_attempt_at = NULL,
            last_modified_at = v_now
        FROM found AS f
        WHERE i.ctid = f.place AND f.ends

              -- not one that was canceled since it was found

              AND i.status = 'pending' AND i.inflight_epoch IS NULL
        RETURNING f.n, i.created_at, i.not_before, i.attempt_count, i.notify
    )
    SELECT NULL::bigint, e.n, 3::bigint, NULL::bigint,
           submission_us(greatest(e.created_at, e.not_before)),
           e.attempt_count + 1, e.notify::text
    FROM ended AS e
    UNION ALL
    SELECT NULL::bigint, f.n, 2::bigint, submission_us(f.due_at), NULL::bigint,
           NULL::bigint, NULL
    FROM found AS f
    WHERE NOT f.ends;
END
$$;
