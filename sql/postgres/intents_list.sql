-- A page of the list, newest first, strictly after (p_created_at, p_intent_id);
-- NULL is any status, any target, and from the newest on.  Each target and
-- status is a seek of its own, and so is the step from one target to the next:
-- a page costs the same however many intents there are.

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
SET enable_seqscan = off
SET enable_hashjoin = off
SET enable_mergejoin = off
SET enable_bitmapscan = off
SET enable_sort = off
SET enable_incremental_sort = off
SET jit = off
AS $$
DECLARE
    v_at  timestamptz;
    v_id  text;
BEGIN
    v_at := coalesce(submission_at(p_created_at), 'infinity');
    v_id := coalesce(p_intent_id, '');

    RETURN QUERY
    WITH RECURSIVE target (name) AS (
        SELECT coalesce(p_target, (
                   SELECT i.submission_target
                   FROM submission_intents AS i
                   WHERE i.lease_name = p_lease_name
                         AND i.attempt_count >= 0
                   ORDER BY i.submission_target
                   LIMIT 1
               ))::text COLLATE "C"
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
        WHERE t.name IS NOT NULL AND p_target IS NULL
    )
    SELECT 0::bigint, i.intent_id::text, i.submission_target::text, i.status::text,
           submission_us(i.created_at), i.attempt_count,
           submission_us(i.next_attempt_at), submission_us(i.completed_at),
           i.final_outcome_reason::text, i.exhausted_reason::text,
           i.payload_hash::text
    FROM target AS t
         CROSS JOIN (
             VALUES ('pending'), ('accepted'), ('rejected'), ('exhausted')
         ) AS s (status)
         CROSS JOIN LATERAL (
             SELECT p.*
             FROM submission_intents AS p
             WHERE p.lease_name = p_lease_name
                   AND p.submission_target = t.name
                   AND p.status = s.status
                   AND p.attempt_count >= 0
                   AND (p.created_at, p.intent_id) < (v_at, v_id)
             ORDER BY p.created_at DESC, p.intent_id DESC
             LIMIT p_limit
         ) AS i
    WHERE t.name IS NOT NULL AND (p_status IS NULL OR s.status = p_status)
    ORDER BY i.created_at DESC, i.intent_id DESC
    LIMIT p_limit;
END
$$;
