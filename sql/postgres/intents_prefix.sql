-- The ids from p_low on and before p_high, in ascending order if p_up is 1, else in
-- descending order.  p_skip is the last id of the page before, and is left out.

CREATE OR REPLACE FUNCTION submission.submission_intents_prefix(
    p_lease_name text, p_low text, p_high text, p_skip text, p_up bigint,
    p_limit bigint
)
RETURNS TABLE (o_at bigint, o_intent_id text)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = submission, pg_temp
SET enable_sort = off
SET enable_incremental_sort = off
AS $$
BEGIN
    IF p_up = 1 THEN
        RETURN QUERY
        SELECT 0::bigint, i.intent_id::text
        FROM submission_intents AS i
        WHERE i.lease_name = p_lease_name
              AND i.intent_id >= p_low AND i.intent_id < p_high
              AND i.intent_id <> p_skip
        ORDER BY i.lease_name, i.intent_id
        LIMIT p_limit;

    ELSE
        RETURN QUERY
        SELECT 0::bigint, i.intent_id::text
        FROM submission_intents AS i
        WHERE i.lease_name = p_lease_name
              AND i.intent_id >= p_low AND i.intent_id < p_high
        ORDER BY i.lease_name DESC, i.intent_id DESC
        LIMIT p_limit;
    END IF;
END
$$;
