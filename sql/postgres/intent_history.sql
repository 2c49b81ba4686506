-- A page of the attempts of one intent, newest first, before p_before, or from
-- the newest on where that is NULL.  Each comes with the intent; one row without
-- an attempt where there is none.

CREATE OR REPLACE FUNCTION submission.submission_intent_history(
    p_lease_name text, p_intent_id text, p_limit bigint, p_before bigint
)
RETURNS TABLE (
    o_n bigint, o_intent_id text, o_submission_target text, o_status text,
    o_created_at bigint, o_attempt_count bigint, o_next_attempt_at bigint,
    o_completed_at bigint, o_final_outcome_reason text,
    o_exhausted_reason text, o_payload_hash text,
    o_attempt_number bigint, o_started_at bigint, o_finished_at bigint,
    o_outcome_status text, o_outcome_reason text, o_error text
)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = submission, pg_temp
SET enable_seqscan = off
SET enable_hashjoin = off
SET enable_mergejoin = off
SET enable_bitmapscan = off
SET enable_sort = off
SET jit = off
AS $$
DECLARE
    v_before  bigint;
BEGIN
    v_before := coalesce(p_before, 9223372036854775807);

    RETURN QUERY
    SELECT 0::bigint, i.intent_id::text, i.submission_target::text, i.status::text,
           submission_us(i.created_at), i.attempt_count,
           submission_us(i.next_attempt_at), submission_us(i.completed_at),
           i.final_outcome_reason::text, i.exhausted_reason::text,
           i.payload_hash::text,
           a.attempt_number, submission_us(a.started_at),
           submission_us(a.finished_at), a.outcome_status::text,
           a.outcome_reason::text, a.error::text
    FROM submission_intents AS i
         LEFT JOIN LATERAL (
             SELECT *
             FROM submission_attempts AS s
             WHERE s.lease_name = p_lease_name AND s.intent_id = p_intent_id
                   AND s.attempt_number < v_before
             ORDER BY s.attempt_number DESC
             LIMIT p_limit
         ) AS a ON true
    WHERE i.lease_name = p_lease_name AND i.intent_id = p_intent_id
    ORDER BY a.attempt_number DESC;
END
$$;
