-- Whether the deadline of an intent has passed.  It counts from created_at or
-- not_before, whichever is later.

CREATE OR REPLACE FUNCTION submission.submission_expired(
    i submission.submission_intents, at timestamptz
)
RETURNS boolean
LANGUAGE sql IMMUTABLE
AS $$
    SELECT coalesce(i.policy = 'deadline'
                    AND extract(epoch FROM at - greatest(i.created_at,
                                                         i.not_before))
                        >= i.max_acceptance_seconds, false)
$$;


-- A page of the queue: the intents with an attempt to come, strictly after
-- (p_after_at, p_after_id).  The first row has only the time.
--
-- If p_order is 0, they come in the order of modification; if it is 2, too, but
-- without those whose deadline has passed.  If it is 1, the page has only retries,
-- and intents with a not_before that were never tried, in the order in which they
-- are due.
--
-- o_created_at, o_seconds: the time from which a deadline counts, and how long it
-- is; NULL if the intent has none.

CREATE OR REPLACE FUNCTION submission.submission_queue_page(
    p_lease_name text, p_holder_id text, p_lease_epoch bigint, p_order bigint,
    p_after_at bigint, p_after_id text, p_limit bigint
)
RETURNS TABLE (
    o_now bigint, o_intent_id text, o_submission_target text, o_at bigint,
    o_due_at bigint, o_created_at bigint, o_seconds bigint
)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = submission, pg_temp
SET enable_sort = off
AS $$
DECLARE
    v_now  timestamptz;
BEGIN
    v_now := submission_fence_read(p_lease_name, p_holder_id, p_lease_epoch);

    o_now := submission_us(v_now);
    RETURN NEXT;

    IF p_order = 1 THEN
        RETURN QUERY
        SELECT NULL::bigint, i.intent_id::text, i.submission_target::text,
               submission_us(i.next_attempt_at),
               submission_us(i.next_attempt_at),
               CASE i.policy WHEN 'deadline'
               THEN submission_us(greatest(i.created_at, i.not_before)) END,
               CASE i.policy WHEN 'deadline' THEN i.max_acceptance_seconds END
        FROM (
                 (SELECT s.intent_id, s.submission_target, s.next_attempt_at,
                         s.policy, s.created_at, s.not_before,
                         s.max_acceptance_seconds
                  FROM submission_intents AS s
                  WHERE s.lease_name = p_lease_name
                        AND s.next_attempt_at IS NOT NULL
                        AND s.attempt_count > 0
                        AND (s.next_attempt_at, s.intent_id)
                            > (submission_at(p_after_at), p_after_id)
                  ORDER BY s.next_attempt_at, s.intent_id
                  LIMIT p_limit)
                 UNION ALL
                 (SELECT s.intent_id, s.submission_target, s.next_attempt_at,
                         s.policy, s.created_at, s.not_before,
                         s.max_acceptance_seconds
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
           submission_us(i.last_modified_at), submission_us(i.next_attempt_at),
           CASE i.policy WHEN 'deadline'
           THEN submission_us(greatest(i.created_at, i.not_before)) END,
           CASE i.policy WHEN 'deadline' THEN i.max_acceptance_seconds END
    FROM submission_intents AS i
    WHERE i.lease_name = p_lease_name AND i.next_attempt_at IS NOT NULL
          AND (i.last_modified_at, i.intent_id)
              > (submission_at(p_after_at), p_after_id)
          AND (p_order = 0 OR NOT submission_expired(i, v_now))
    ORDER BY i.last_modified_at, i.intent_id
    LIMIT p_limit;
END
$$;
