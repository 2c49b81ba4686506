-- For tests on a server: SQLite's functions, as far as they are used.  The schema
-- is named by store_odbc.h and SubmissionStore::Postgres.

CREATE FUNCTION "@".concat_ws_(a jsonb) RETURNS text LANGUAGE sql AS $$
    SELECT string_agg(coalesce(v, '-'), ' ' ORDER BY n)
    FROM jsonb_array_elements_text(a) WITH ORDINALITY AS e (v, n)
$$;

CREATE FUNCTION "@".group_concat_next(s text, v text, d text) RETURNS text
LANGUAGE sql AS $$
    SELECT CASE WHEN v IS NULL THEN s WHEN s IS NULL THEN v
                ELSE s || d || v END
$$;

CREATE FUNCTION "@".group_concat_next(s text, v text) RETURNS text
LANGUAGE sql AS $$
    SELECT "@".group_concat_next(s, v, ',')
$$;

CREATE AGGREGATE "@".group_concat(text, text) (
    SFUNC = "@".group_concat_next, STYPE = text
);

CREATE AGGREGATE "@".group_concat(text) (
    SFUNC = "@".group_concat_next, STYPE = text
);

CREATE FUNCTION "@".group_concat_next(s text, v bigint, d text) RETURNS text
LANGUAGE sql AS $$
    SELECT "@".group_concat_next(s, v::text, d)
$$;

CREATE AGGREGATE "@".group_concat(bigint, text) (
    SFUNC = "@".group_concat_next, STYPE = text
);

CREATE FUNCTION "@".instr(v text, part text) RETURNS integer LANGUAGE sql AS $$
    SELECT strpos(v, part)
$$;

CREATE FUNCTION "@".hex(v text) RETURNS text LANGUAGE sql AS $$
    SELECT upper(encode(decode(v, 'escape'), 'hex'))
$$;

CREATE FUNCTION "@".typeof(v text) RETURNS text LANGUAGE sql AS $$
    SELECT 'blob'
$$;

CREATE FUNCTION "@".typeof(v bigint) RETURNS text LANGUAGE sql AS $$
    SELECT 'integer'
$$;

CREATE FUNCTION "@".ifnull(v bigint, d text) RETURNS text LANGUAGE sql AS $$
    SELECT coalesce(v::text, d)
$$;

CREATE FUNCTION "@".iif(c boolean, a integer, b integer) RETURNS integer
LANGUAGE sql AS $$
    SELECT CASE WHEN c THEN a ELSE b END
$$;

CREATE FUNCTION "@".printf(f text, v integer) RETURNS text LANGUAGE sql AS $$
    SELECT lpad(v::text, 5, '0')            -- '%05d'
$$;

CREATE FUNCTION "@".json_extract(v text, path text) RETURNS text
LANGUAGE sql AS $$
    SELECT jsonb_path_query_first(v::jsonb, path::jsonpath) #>> '{}'
$$;
