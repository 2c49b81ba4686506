-- The version of the schema, and the first one whose modules may use it.

CREATE OR REPLACE FUNCTION submission.submission_schema_get()
RETURNS TABLE (o_version bigint, o_compatible_from bigint)
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = submission, pg_temp
AS $$
    SELECT version::bigint, compatible_from::bigint
    FROM submission_schema
$$;
