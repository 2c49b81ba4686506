-- The lengths of the payloads of the intents whose ids are in a document; "n" is
-- the place of the id in it.

CREATE OR REPLACE FUNCTION submission.submission_intents_length(
    p_lease_name text, p_doc text
)
RETURNS TABLE (o_n bigint, o_length bigint)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = submission, pg_temp
AS $$
BEGIN
    RETURN QUERY
    SELECT r.n - 1, i.bytes
    FROM jsonb_array_elements_text(p_doc::jsonb) WITH ORDINALITY AS r (id, n)
         CROSS JOIN LATERAL (
             SELECT octet_length(s.payload)::bigint AS bytes
             FROM submission_intents AS s
             WHERE s.lease_name = p_lease_name AND s.intent_id = r.id
             LIMIT 1
         ) AS i;
END
$$;
