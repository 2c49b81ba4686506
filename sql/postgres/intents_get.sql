-- The intents whose ids are in a document; "n" is the place of the id in it.

CREATE OR REPLACE FUNCTION submission.submission_intents_get(
    p_lease_name text, p_doc text
)
RETURNS SETOF submission.submission_row_intent
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = submission, pg_temp
AS $$
BEGIN
    RETURN QUERY
    SELECT i.*
    FROM jsonb_array_elements_text(p_doc::jsonb) WITH ORDINALITY AS r (id, n)
         CROSS JOIN LATERAL submission_intent_shown(p_lease_name, r.id,
                                                    r.n - 1) AS i;
END
$$;
