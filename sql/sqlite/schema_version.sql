-- The version of the schema, and the first one whose modules may use it; no row
-- where there is no schema yet.

SELECT version, compatible_from
FROM submission_schema
ORDER BY version DESC
LIMIT 1;
