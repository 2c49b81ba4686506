-- What has an attempt to come, in the order of modification, strictly after
-- (p_after_at, p_after_id); with p_due = 1 the retries, and what has a not_before
-- and was never tried, in the order of due time.  The first row has the time alone.

CREATE OR REPLACE FUNCTION submission.submission_schedule_page(
    p_lease_name text, p_holder_id text, p_lease_epoch bigint, p_due bigint,
    p_after_at bigint, p_after_id text, p_limit bigint
)
RETURNS TABLE (
    o_now bigint, o_intent_id text, o_submission_target text, o_at bigint,
    o_due_at bigint
)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = submission, pg_temp
SET enable_seqscan = off
SET enable_bitmapscan = off
SET enable_sort = off
SET jit = off
AS $$
BEGIN
    RETURN QUERY
    SELECT submission_us(submission_fence_read(p_lease_name, p_holder_id,
                                               p_lease_epoch)),
           NULL, NULL, NULL::bigint, NULL::bigint;

    IF p_due = 1 THEN
        RETURN QUERY
        SELECT NULL::bigint, i.intent_id::text, i.submission_target::text,
               submission_us(i.next_attempt_at),
               submission_us(i.next_attempt_at)
        FROM (
                 (SELECT s.intent_id, s.submission_target, s.next_attempt_at
                  FROM submission_intents AS s
                  WHERE s.lease_name = p_lease_name
                        AND s.next_attempt_at IS NOT NULL
                        AND s.attempt_count > 0
                        AND (s.next_attempt_at, s.intent_id)
                            > (submission_at(p_after_at), p_after_id)
                  ORDER BY s.next_attempt_at, s.intent_id
                  LIMIT p_limit)
                 UNION ALL
                 (SELECT s.intent_id, s.submission_target, s.next_attempt_at
                  FROM submission_intents AS s
                  WHERE s.lease_name = p_lease_name
                        AND s.next_attempt_at IS NOT NULL
                        AND s.not_before IS NOT NULL AND s.attempt_count = 0
                        AND (s.next_attempt_at, s.intent_id)
                            > (submission_at(p_after_at), p_after_id)
                  ORDER BY s.next_attempt_at, s.intent_id
                  LIMIT p_limit)
             ) AS i
        ORDER BY i.next_attempt_at, i.intent_id
        LIMIT p_limit;

        RETURN;
    END IF;

    RETURN QUERY
    SELECT NULL::bigint, i.intent_id::text, i.submission_target::text,
           submission_us(i.last_modified_at), submission_us(i.next_attempt_at)
    FROM submission_intents AS i
    WHERE i.lease_name = p_lease_name AND i.next_attempt_at IS NOT NULL
          AND (i.last_modified_at, i.intent_id)
              > (submission_at(p_after_at), p_after_id)
    ORDER BY i.last_modified_at, i.intent_id
    LIMIT p_limit;
END
$$;
