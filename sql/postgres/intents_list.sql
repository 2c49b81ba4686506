-- A page of the list, newest first, strictly after (p_created_at, p_intent_id), or
-- from the newest on if these are NULL.  NULL is any status and any target.  The
-- keys of the page are found first, in an index alone, then its rows.
--
-- Each target and status is a seek of its own, and so is the step from one target to
-- the next: a page costs the same however many intents there are.  With n pairs of
-- target and status, the newest limit / sqrt(n) keys of each pair are read first.  If
-- these are "limit" keys, no key that is older than all of them is on the page; and at
-- most sqrt(n) pairs can have more keys for it.  So a page takes at most
-- 2 * limit * sqrt(n) keys, not limit * n.  Targets with a space in their names are
-- hidden.

CREATE OR REPLACE FUNCTION submission.submission_intents_list(
    p_lease_name text, p_status text, p_target text, p_limit bigint,
    p_created_at bigint, p_intent_id text
)
RETURNS SETOF submission.submission_row_intent
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = submission, pg_temp
SET enable_sort = off
SET enable_incremental_sort = off
AS $$
DECLARE
    v_at        timestamptz;
    v_id        text;
    v_from      timestamptz;
    v_from_id   text;
    v_targets   text[];
    v_statuses  text[];
    v_part      bigint;
BEGIN
    v_at := coalesce(submission_at(p_created_at), 'infinity');
    v_id := coalesce(p_intent_id, '');
    v_targets := ARRAY[p_target];
    v_statuses := CASE WHEN p_status IS NULL
                       THEN ARRAY['pending', 'accepted', 'rejected',
                                  'exhausted', 'canceled']
                       ELSE ARRAY[p_status] END;

    IF p_target IS NULL THEN
        v_targets := submission_targets_seen(p_lease_name);
        v_part := ceil(p_limit / sqrt(greatest(1, cardinality(v_targets)
                                                * cardinality(v_statuses))));

        SELECT k.created_at, k.intent_id
        INTO v_from, v_from_id
        FROM unnest(v_targets) AS t (name)
             CROSS JOIN unnest(v_statuses) AS s (status)
             CROSS JOIN LATERAL (
                 SELECT p.created_at, p.intent_id
                 FROM submission_intents AS p
                 WHERE p.lease_name = p_lease_name
                       AND p.submission_target = t.name COLLATE "C"
                       AND p.status = s.status COLLATE "C"
                       AND p.attempt_count >= 0
                       AND (p.created_at, p.intent_id) < (v_at, v_id)
                 ORDER BY p.created_at DESC, p.intent_id DESC
                 LIMIT v_part
             ) AS k
        ORDER BY k.created_at DESC, k.intent_id DESC
        OFFSET p_limit - 1
        LIMIT 1;
    END IF;

    v_from := coalesce(v_from, '-infinity');
    v_from_id := coalesce(v_from_id, '');

    RETURN QUERY
    SELECT i.*
    FROM (
             SELECT k.created_at, k.intent_id
             FROM unnest(v_targets) AS t (name)
                  CROSS JOIN unnest(v_statuses) AS s (status)
                  CROSS JOIN LATERAL (
                      SELECT p.created_at, p.intent_id
                      FROM submission_intents AS p
                      WHERE p.lease_name = p_lease_name
                            AND p.submission_target = t.name COLLATE "C"
                            AND p.status = s.status COLLATE "C"
                            AND p.attempt_count >= 0
                            AND (p.created_at, p.intent_id) < (v_at, v_id)
                            AND (p.created_at, p.intent_id)
                                >= (v_from, v_from_id)
                      ORDER BY p.created_at DESC, p.intent_id DESC
                      LIMIT p_limit
                  ) AS k
             ORDER BY k.created_at DESC, k.intent_id DESC
             LIMIT p_limit
         ) AS g
         CROSS JOIN LATERAL submission_intent_shown(p_lease_name, g.intent_id,
                                                    0) AS i
    ORDER BY g.created_at DESC, g.intent_id DESC;
END
$$;
