-- The intents of a document of ids; "n" is an id's place in it.  p_version is that
-- of the module that asks, here and elsewhere: 2.

CREATE OR REPLACE FUNCTION submission.submission_intents_get(
    p_lease_name text, p_doc text, p_version bigint
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
SET jit = off
AS $$
BEGIN
    RETURN QUERY
    SELECT r.n - 1, i.intent_id::text, i.submission_target::text, i.status::text,
           submission_us(i.created_at), i.attempt_count,
           submission_us(i.next_attempt_at), submission_us(i.completed_at),
           i.final_outcome_reason::text, i.exhausted_reason::text,
           i.payload_hash::text, submission_us(i.not_before),
           (i.inflight_epoch IS NOT NULL)::int::bigint, i.last_error::text,
           i.replay_of::text, (i.stripped_at IS NOT NULL)::int::bigint,
           i.traceparent::text
    FROM jsonb_array_elements_text(p_doc::jsonb) WITH ORDINALITY AS r (id, n)
         CROSS JOIN LATERAL (
             SELECT *
             FROM submission_intents AS s
             WHERE s.lease_name = p_lease_name AND s.intent_id = r.id
             LIMIT 1
         ) AS i;
END
$$;


-- As version 1 calls it.

CREATE OR REPLACE FUNCTION submission.submission_intents_get(
    p_lease_name text, p_doc text
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
    FROM submission_intents_get(p_lease_name, p_doc, 2) AS i;
END
$$;
