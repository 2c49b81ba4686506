-- The rows of the inbox, from seq p_from on, whenever they were committed.  The
-- first row has only the time.  A payload of more than p_max bytes is not read.
-- The page ends with the row by which it has p_bytes of payloads.  Rows that
-- another session has locked are left for a later page.

CREATE OR REPLACE FUNCTION submission.submission_inbox_page(
    p_lease_name text, p_holder_id text, p_lease_epoch bigint,
    p_from bigint, p_limit bigint, p_bytes bigint, p_max bigint
)
RETURNS TABLE (
    o_now bigint, o_seq bigint, o_intent_id text, o_submission_target text,
    o_not_before bigint, o_size bigint, o_traceparent text, o_tracestate text,
    o_payload bytea
)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = submission, pg_temp
AS $$
DECLARE
    v_now  timestamptz;
BEGIN
    v_now := submission_fence_read(p_lease_name, p_holder_id, p_lease_epoch);

    o_now := submission_us(v_now);
    RETURN NEXT;

    -- A time may be infinite, and an integer may not.

    RETURN QUERY
    SELECT NULL::bigint, b.seq, left(b.intent_id, 1024),
           left(b.submission_target, 1024),
           CASE WHEN b.not_before > timestamptz '9999-12-31 00:00:00+00'
                THEN 9223372036854775807
                WHEN b.not_before < timestamptz '0001-01-01 00:00:00+00'
                THEN 1
                ELSE submission_us(b.not_before) END,
           b.size, left(b.traceparent, 1024), left(b.tracestate, 1024),
           CASE WHEN b.size <= p_max THEN b.payload END
    FROM (
             SELECT s.*,
                    sum(CASE WHEN s.size <= p_max THEN s.size ELSE 0 END)
                        OVER (ORDER BY s.seq)
                    - CASE WHEN s.size <= p_max THEN s.size ELSE 0 END AS began
             FROM (
                      SELECT i.*, octet_length(i.payload)::bigint AS size
                      FROM submission_inbox AS i
                      WHERE i.lease_name = p_lease_name AND i.seq >= p_from
                      ORDER BY i.seq
                      LIMIT p_limit
                      FOR UPDATE SKIP LOCKED
                  ) AS s
         ) AS b
    WHERE b.began < p_bytes
    ORDER BY b.seq;
END
$$;
