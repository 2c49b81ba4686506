-- A page of the attempts of one intent, newest first, before p_before, or from
-- the newest on where that is NULL.  Each comes with the intent; one row without
-- an attempt where there is none.

CREATE OR REPLACE FUNCTION submission.submission_intent_history(
    p_lease_name text, p_intent_id text, p_limit bigint, p_before bigint,
    p_version bigint
)
RETURNS TABLE (
    o_n bigint, o_intent_id text, o_submission_target text, o_status text,
    o_created_at bigint, o_attempt_count bigint, o_next_attempt_at bigint,
    o_completed_at bigint, o_final_outcome_reason text,
    o_exhausted_reason text, o_payload_hash text, o_not_before bigint,
    o_in_flight bigint, o_last_error text, o_replay_of text, o_stripped bigint,
    o_traceparent text, o_attempt_number bigint, o_started_at bigint, o_finished_at bigint,
    o_outcome_status text, o_outcome_reason text, o_error text,
    o_http_status bigint, o_answer text, o_span_id text,
    o_lease_epoch bigint
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
           i.payload_hash::text, submission_us(i.not_before),
           (i.inflight_epoch IS NOT NULL)::int::bigint, i.last_error::text,
           i.replay_of::text, (i.stripped_at IS NOT NULL)::int::bigint,
           i.traceparent::text,
           a.attempt_number, submission_us(a.started_at),
           submission_us(a.finished_at), a.outcome_status::text,
           a.outcome_reason::text, a.error::text, a.http_status::bigint,
           a.answer::text, a.span_id::text, a.lease_epoch::bigint
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


-- As version 1 calls it.

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
AS $$
BEGIN
    RETURN QUERY
    SELECT i.o_n, i.o_intent_id, i.o_submission_target, i.o_status,
           i.o_created_at, i.o_attempt_count, i.o_next_attempt_at,
           i.o_completed_at, i.o_final_outcome_reason, i.o_exhausted_reason,
           i.o_payload_hash, i.o_attempt_number, i.o_started_at,
           i.o_finished_at, i.o_outcome_status, i.o_outcome_reason, i.o_error
    FROM submission_intent_history(p_lease_name, p_intent_id, p_limit, p_before, 2) AS i;
END
$$;
