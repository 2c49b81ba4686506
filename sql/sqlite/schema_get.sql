-- Reads the version of the schema, and the oldest version of a module that may use it.
-- There is no row if there is no schema yet.

SELECT version, compatible_from
FROM submission_schema;
