-- The targets that have an intent, found by one seek each.  Targets with a space in
-- their names are hidden, and left out.  The statement is planned with the settings
-- of the caller.

CREATE OR REPLACE FUNCTION submission.submission_targets_seen(p_lease_name text)
RETURNS text[]
LANGUAGE plpgsql STABLE
SET search_path = submission, pg_temp
AS $$
DECLARE
    v_targets  text[];
BEGIN
    WITH RECURSIVE target (name) AS (
        SELECT (
                   SELECT i.submission_target
                   FROM submission_intents AS i
                   WHERE i.lease_name = p_lease_name
                         AND i.attempt_count >= 0
                   ORDER BY i.submission_target
                   LIMIT 1
               )::text COLLATE "C"
        UNION ALL
        SELECT (
                   SELECT i.submission_target
                   FROM submission_intents AS i
                   WHERE i.lease_name = p_lease_name
                         AND i.attempt_count >= 0
                         AND i.submission_target > t.name
                   ORDER BY i.submission_target
                   LIMIT 1
               )::text COLLATE "C"
        FROM target AS t
        WHERE t.name IS NOT NULL
    )
    SELECT array_agg(t.name) INTO v_targets
    FROM target AS t
    WHERE t.name IS NOT NULL AND strpos(t.name, ' ') = 0;

    RETURN v_targets;
END
$$;
