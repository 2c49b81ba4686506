-- A page of the list, newest first, strictly after (p_created_at, p_intent_id);
-- NULL is any status, any target, and from the newest on.  Keys are found first,
-- in the index alone, then the rows of one page.
--
-- Each target and status is a seek of its own, and so is the step from one
-- target to the next: a page costs the same however many intents there are.
-- With n targets and statuses, the newest "limit / sqrt(n)" of each are looked
-- at before.  If there are "limit" of these, none that is older than all of them
-- is on the page; and at most sqrt(n) targets and statuses can have more for it.
-- So no more than 2 * limit * sqrt(n) keys are read, not limit * n.  Targets with a
-- space in their name are hidden.

CREATE OR REPLACE FUNCTION submission.submission_intents_list(
    p_lease_name text, p_status text, p_target text, p_limit bigint,
    p_created_at bigint, p_intent_id text, p_version bigint
)
RETURNS TABLE (
    o_n bigint, o_intent_id text, o_submission_target text, o_status text,
    o_created_at bigint, o_attempt_count bigint, o_next_attempt_at bigint,
    o_completed_at bigint, o_final_outcome_reason text,
    o_exhausted_reason text, o_payload_hash text, o_not_before bigint,
    o_in_flight bigint, o_last_error text, o_replay_of text, o_stripped bigint,
    o_traceparent text
)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = submission, pg_temp
SET enable_seqscan = off
SET enable_hashjoin = off
SET enable_mergejoin = off
SET enable_bitmapscan = off
SET enable_sort = off
SET enable_incremental_sort = off
SET jit = off
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

        WITH RECURSIVE target (name) AS (
            SELECT (
                       SELECT i.submission_target
                       FROM submission_intents AS i
                       WHERE i.lease_name = p_lease_name
                             AND i.attempt_count >= 0
                       ORDER BY i.submission_target
                       LIMIT 1
                   )::text COLLATE "C"
            UNION ALL
            SELECT (
                       SELECT i.submission_target
                       FROM submission_intents AS i
                       WHERE i.lease_name = p_lease_name
                             AND i.attempt_count >= 0
                             AND i.submission_target > t.name
                       ORDER BY i.submission_target
                       LIMIT 1
                   )::text COLLATE "C"
            FROM target AS t
            WHERE t.name IS NOT NULL
        )
        SELECT array_agg(t.name)
        INTO v_targets
        FROM target AS t
        WHERE t.name IS NOT NULL AND strpos(t.name, ' ') = 0;

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
    SELECT 0::bigint, i.intent_id::text, i.submission_target::text, i.status::text,
           submission_us(i.created_at), i.attempt_count,
           submission_us(i.next_attempt_at), submission_us(i.completed_at),
           i.final_outcome_reason::text, i.exhausted_reason::text,
           i.payload_hash::text, submission_us(i.not_before),
           (i.inflight_epoch IS NOT NULL)::int::bigint, i.last_error::text,
           i.replay_of::text, (i.stripped_at IS NOT NULL)::int::bigint,
           i.traceparent::text
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
         CROSS JOIN LATERAL (
             SELECT *
             FROM submission_intents AS q
             WHERE q.lease_name = p_lease_name AND q.intent_id = g.intent_id
             LIMIT 1
         ) AS i
    ORDER BY g.created_at DESC, g.intent_id DESC;
END
$$;


-- As version 1 calls it.

CREATE OR REPLACE FUNCTION submission.submission_intents_list(
    p_lease_name text, p_status text, p_target text, p_limit bigint,
    p_created_at bigint, p_intent_id text
)
RETURNS TABLE (
    o_n bigint, o_intent_id text, o_submission_target text, o_status text,
    o_created_at bigint, o_attempt_count bigint, o_next_attempt_at bigint,
    o_completed_at bigint, o_final_outcome_reason text,
    o_exhausted_reason text, o_payload_hash text
)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = submission, pg_temp
AS $$
BEGIN
    RETURN QUERY
    SELECT i.o_n, i.o_intent_id, i.o_submission_target, i.o_status,
           i.o_created_at, i.o_attempt_count, i.o_next_attempt_at,
           i.o_completed_at, i.o_final_outcome_reason, i.o_exhausted_reason,
           i.o_payload_hash
    FROM submission_intents_list(p_lease_name, p_status, p_target, p_limit,
                                 p_created_at, p_intent_id, 2) AS i;
END
$$;
