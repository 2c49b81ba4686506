-- Ends those intents of a batch whose deadline has passed, in one transaction,
-- whether or not their next attempt is due.  The first row of the answer has only
-- the time; in the others, o_n is the place in the document.
--
-- p_ids: ["id"].
--
-- o_outcome is 3 if the deadline has passed, and the intent is exhausted now; 2 if
-- it has not passed, and the next attempt is due at o_due_at; and 0 if the contract
-- is of a later version than p_version: then the intent is left to a newer module,
-- last_error says so from now on, and o_error says so in this answer alone.  An
-- intent that is not in the answer has no attempt to come.
--
-- An intent that another session has locked is not waited for: the answer is that
-- it is due in a second.  o_created_at is the time from which the deadline counts,
-- which is not_before if that is later than created_at.

CREATE OR REPLACE FUNCTION submission.submission_attempts_expire(
    p_lease_name text, p_holder_id text, p_lease_epoch bigint, p_ids text,
    p_version bigint
)
RETURNS TABLE (
    o_now bigint, o_n bigint, o_outcome bigint, o_due_at bigint,
    o_created_at bigint, o_number bigint, o_notify text, o_error text
)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = submission, pg_temp
AS $$
DECLARE
    v_now  timestamptz;
BEGIN
    v_now := submission_fence(p_lease_name, p_holder_id, p_lease_epoch);

    o_now := submission_us(v_now);
    RETURN NEXT;

    RETURN QUERY
    WITH found AS MATERIALIZED (
        SELECT r.n, i.ctid AS place,
               CASE WHEN i.expired THEN v_now + interval '1 second'
                    ELSE i.next_attempt_at END AS due_at,
               CASE WHEN l.free IS NULL THEN 2
                    WHEN i.contract_version > p_version THEN 0
                    WHEN i.expired THEN 3
                    ELSE 2 END AS outcome
        FROM submission_asked(p_ids) AS r
             CROSS JOIN LATERAL (
                 SELECT s.ctid, s.*, submission_expired(s, v_now) AS expired
                 FROM submission_intents AS s
                 WHERE s.lease_name = p_lease_name AND s.intent_id = r.id
                 LIMIT 1
             ) AS i
             LEFT JOIN LATERAL (
                 SELECT true AS free
                 FROM submission_intents AS s
                 WHERE s.ctid = i.ctid
                       AND (i.expired OR i.contract_version > p_version)
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
        WHERE i.ctid = f.place AND f.outcome = 3

              -- The intent may have been canceled since it was found.

              AND i.status = 'pending' AND i.inflight_epoch IS NULL
        RETURNING f.n, i.created_at, i.not_before, i.attempt_count, i.notify
    ), noted AS (
        UPDATE submission_intents AS i
        SET last_error = submission_newer(i.contract_version),
            final_outcome_reason = 'unsent'
        FROM found AS f
        WHERE i.ctid = f.place AND f.outcome = 0 AND i.status = 'pending'
              AND i.last_error IS DISTINCT FROM submission_newer(
                                                    i.contract_version)
        RETURNING f.n, i.last_error
    )
    SELECT NULL::bigint, e.n, 3::bigint, NULL::bigint,
           submission_us(greatest(e.created_at, e.not_before)),
           e.attempt_count + 1, e.notify::text, NULL
    FROM ended AS e
    UNION ALL
    SELECT NULL::bigint, f.n, f.outcome::bigint, submission_us(f.due_at),
           NULL::bigint, NULL::bigint, NULL, w.last_error::text
    FROM found AS f
         LEFT JOIN noted AS w ON w.n = f.n
    WHERE f.outcome <> 3;
END
$$;
