-- What a module of version 1 asks for, and wants to be 1: so it is while modules of
-- that version may use this schema.

CREATE OR REPLACE FUNCTION submission.submission_schema_version()
RETURNS TABLE (o_version bigint)
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = submission, pg_temp
AS $$
    SELECT CASE compatible_from WHEN 1 THEN 1 ELSE version END::bigint
    FROM submission_schema
$$;
