-- Makes intents or refusals of rows of the inbox, and removes these rows, in one
-- transaction.  The first row of the answer has only the time; in the others, o_n
-- is the place in p_moves, and o_outcome is 1 if the intent was created, 2 if the
-- same intent existed, and 3 if the row was refused.  A row that is not in the
-- answer is still in the inbox.
--
-- p_doc, p_bytes: as for submission_intents_submit; NULL if no row is valid.
-- p_moves: [{"n","seq","k","hash","target","before"}], where k is the place in
-- p_doc, or {"n","seq","reason","detail"} for a row that is refused.
-- p_max: a refusal keeps that many bytes of a payload.
--
-- If a row is gone, or another session has locked it, nothing is changed: the next
-- page shows what is there then.

CREATE OR REPLACE FUNCTION submission.submission_inbox_move(
    p_lease_name text, p_holder_id text, p_lease_epoch bigint,
    p_doc text, p_bytes bytea, p_moves text, p_max bigint
)
RETURNS TABLE (o_now bigint, o_n bigint, o_outcome bigint)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = submission, pg_temp
AS $$
DECLARE
    v_now    timestamptz;
    v_moves  jsonb;
    v_seqs   bigint[];
    v_found  jsonb;
BEGIN
    v_now := submission_fence(p_lease_name, p_holder_id, p_lease_epoch);
    v_moves := p_moves::jsonb;
    v_found := '{}';

    o_now := submission_us(v_now);
    RETURN NEXT;

    SELECT array_agg(b.seq) INTO v_seqs
    FROM (
             SELECT i.seq
             FROM jsonb_to_recordset(v_moves) AS r (seq bigint)
                  CROSS JOIN LATERAL (
                      SELECT s.seq
                      FROM submission_inbox AS s
                      WHERE s.seq = r.seq AND s.lease_name = p_lease_name
                      FOR UPDATE SKIP LOCKED
                  ) AS i
         ) AS b;

    IF coalesce(cardinality(v_seqs), 0) <> jsonb_array_length(v_moves) THEN
        RETURN;
    END IF;

    -- {"k": [hash, target, not before, why]} of the intents that existed, or were
    -- refused

    IF p_doc IS NOT NULL THEN
        SELECT coalesce(jsonb_object_agg(i.o_n::text,
                                         jsonb_build_array(
                                             i.o_payload_hash,
                                             i.o_submission_target,
                                             i.o_not_before,
                                             CASE WHEN i.o_intent_id IS NULL
                                                  THEN i.o_exhausted_reason
                                                  END)), '{}')
        INTO v_found
        FROM submission_intents_submit(p_lease_name, p_doc, p_bytes) AS i
        WHERE i.o_n IS NOT NULL;
    END IF;

    RETURN QUERY
    WITH moved AS MATERIALIZED (
        SELECT r.n, r.seq,
               CASE WHEN r.reason IS NOT NULL
                    THEN 3
                    WHEN NOT v_found ? r.k::text
                    THEN 1
                    WHEN v_found->(r.k::text)->>0 = r.hash
                         AND v_found->(r.k::text)->>1 = r.target
                         AND (v_found->(r.k::text)->>2)::bigint
                             IS NOT DISTINCT FROM r.before
                    THEN 2
                    ELSE 3 END AS outcome,
               coalesce(r.reason, v_found->(r.k::text)->>3,
                        'idempotency_conflict') AS reason,
               CASE WHEN r.reason IS NOT NULL
                    THEN r.detail
                    WHEN v_found->(r.k::text)->>3 IS NOT NULL
                    THEN 'the id belongs to a schedule'
                    ELSE 'the id belongs to another intent' END AS detail
        FROM jsonb_to_recordset(v_moves) AS r (
                 n bigint, seq bigint, k integer, hash text, target text,
                 before bigint, reason text, detail text
             )
    ), refused AS (
        INSERT INTO submission_inbox_refused (
            lease_name, refused_at, seq, intent_id, submission_target, payload,
            not_before, traceparent, tracestate, created_at, reason, detail
        )
        SELECT b.lease_name, v_now, b.seq, b.intent_id, b.submission_target,
               substring(b.payload, 1, p_max::integer), b.not_before,
               b.traceparent, b.tracestate, b.created_at, left(m.reason, 64),
               left(m.detail, 1000)
        FROM moved AS m
             CROSS JOIN LATERAL (
                 SELECT *
                 FROM submission_inbox AS s
                 WHERE s.seq = m.seq
                 LIMIT 1
             ) AS b
        WHERE m.outcome = 3
    ), removed AS (
        DELETE FROM submission_inbox AS b
        USING moved AS m
        WHERE b.seq = m.seq
        RETURNING m.n, m.outcome
    )
    SELECT NULL::bigint, m.n, m.outcome::bigint
    FROM removed AS m;
END
$$;
