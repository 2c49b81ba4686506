-- A page of the audit, newest first, strictly before (p_at, p_seq).  NULL means any
-- actor, any action, no oldest entry (p_from), and a page that begins with the
-- newest.
--
-- Each of the three statements reads in the order of an index.  For an actor, the
-- kinds of action are found one by one, a page of each is read, and these are
-- merged: there are few kinds.

CREATE OR REPLACE FUNCTION submission.submission_audit_list(
    p_lease_name text, p_actor text, p_action text, p_from bigint,
    p_at bigint, p_seq bigint, p_limit bigint
)
RETURNS TABLE (
    o_seq bigint, o_at bigint, o_actor text, o_address text, o_action text,
    o_object text, o_detail text
)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = submission, pg_temp
AS $$
DECLARE
    v_from     timestamptz;
    v_at       timestamptz;
    v_seq      bigint;
    v_actions  text[];
BEGIN
    v_from := coalesce(submission_at(p_from), '-infinity');
    v_at := coalesce(submission_at(p_at), 'infinity');
    v_seq := coalesce(p_seq, 0);

    IF p_actor IS NULL AND p_action IS NULL THEN
        RETURN QUERY
        SELECT a.seq, submission_us(a.at), a.actor::text, a.address::text,
               a.action::text, a.object::text, a.detail::text
        FROM submission_audit AS a
        WHERE a.lease_name = p_lease_name AND a.at >= v_from
              AND (a.at, a.seq) < (v_at, v_seq)
        ORDER BY a.at DESC, a.seq DESC
        LIMIT p_limit;

        RETURN;
    END IF;

    IF p_actor IS NULL THEN
        RETURN QUERY
        SELECT a.seq, submission_us(a.at), a.actor::text, a.address::text,
               a.action::text, a.object::text, a.detail::text
        FROM submission_audit AS a
        WHERE a.lease_name = p_lease_name AND a.action = p_action
              AND a.at >= v_from
              AND (a.at, a.seq) < (v_at, v_seq)
        ORDER BY a.at DESC, a.seq DESC
        LIMIT p_limit;

        RETURN;
    END IF;

    v_actions := ARRAY[p_action];

    IF p_action IS NULL THEN

        WITH RECURSIVE kind (name) AS (
            SELECT (
                       SELECT a.action
                       FROM submission_audit AS a
                       WHERE a.lease_name = p_lease_name AND a.actor = p_actor
                       ORDER BY a.action
                       LIMIT 1
                   )::text COLLATE "C"
            UNION ALL
            SELECT (
                       SELECT a.action
                       FROM submission_audit AS a
                       WHERE a.lease_name = p_lease_name AND a.actor = p_actor
                             AND a.action > k.name
                       ORDER BY a.action
                       LIMIT 1
                   )::text COLLATE "C"
            FROM kind AS k
            WHERE k.name IS NOT NULL
        )
        SELECT array_agg(k.name)
        INTO v_actions
        FROM kind AS k
        WHERE k.name IS NOT NULL;
    END IF;

    RETURN QUERY
    SELECT g.seq, submission_us(g.at), g.actor::text, g.address::text,
           g.action::text, g.object::text, g.detail::text
    FROM unnest(v_actions) AS k (name)
         CROSS JOIN LATERAL (
             SELECT *
             FROM submission_audit AS a
             WHERE a.lease_name = p_lease_name AND a.actor = p_actor
                   AND a.action = k.name COLLATE "C"
                   AND a.at >= v_from
                   AND (a.at, a.seq) < (v_at, v_seq)
             ORDER BY a.at DESC, a.seq DESC
             LIMIT p_limit
         ) AS g
    ORDER BY g.at DESC, g.seq DESC
    LIMIT p_limit;
END
$$;
