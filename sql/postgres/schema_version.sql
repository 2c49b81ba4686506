-- The version of the schema.

CREATE OR REPLACE FUNCTION submission.submission_schema_version()
RETURNS TABLE (o_version bigint)
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = submission, pg_temp
AS $$
    SELECT version::bigint FROM submission_schema
$$;
