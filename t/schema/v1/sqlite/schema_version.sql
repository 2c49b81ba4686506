-- The version of the schema, or no row where there is no schema yet.

SELECT version FROM submission_schema;
