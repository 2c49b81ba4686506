-- For tests: the tables as SQLite has them, times as microseconds and
-- payloads as text, to be read and written; and SQLite's functions, as far as
-- the tests use them.  See store_odbc.h, and SubmissionStore::Postgres.

CREATE SCHEMA t;

DO $do$
DECLARE
    v_table   text;
    v_select  text;
    v_insert  text;
    v_update  text;
    v_key     text;
BEGIN
    FOR v_table IN
        SELECT table_name
        FROM information_schema.tables
        WHERE table_schema = 'submission'
    LOOP
        SELECT string_agg(CASE
                   WHEN data_type = 'timestamp with time zone'
                   THEN format('submission.submission_us(%1$s) AS %1$s',
                               column_name)
                   WHEN data_type = 'bytea'
                   THEN format('encode(%1$s, ''escape'') AS %1$s', column_name)
                   WHEN data_type = 'character varying'
                   THEN format('%1$s::text AS %1$s', column_name)
                   ELSE column_name END, ', ' ORDER BY ordinal_position),
               string_agg(CASE
                   WHEN data_type = 'timestamp with time zone'
                   THEN format('submission.submission_at(NEW.%s)', column_name)
                   WHEN data_type = 'bytea'
                   THEN format('decode(NEW.%s, ''escape'')', column_name)
                   ELSE 'NEW.' || column_name END, ', '
                   ORDER BY ordinal_position)
        INTO v_select, v_insert
        FROM information_schema.columns
        WHERE table_schema = 'submission' AND table_name = v_table;

        -- what is not changed stays as it is: another may change it meanwhile

        SELECT string_agg(format('%1$s = CASE WHEN NEW.%1$s IS DISTINCT FROM '
                                 'OLD.%1$s THEN %2$s ELSE b.%1$s END',
                   column_name,
                   CASE
                   WHEN data_type = 'timestamp with time zone'
                   THEN format('submission.submission_at(NEW.%s)', column_name)
                   WHEN data_type = 'bytea'
                   THEN format('decode(NEW.%s, ''escape'')', column_name)
                   ELSE 'NEW.' || column_name END), ', ')
        INTO v_update
        FROM information_schema.columns
        WHERE table_schema = 'submission' AND table_name = v_table;

        SELECT string_agg(format('%1$s = OLD.%1$s', column_name), ' AND ')
        INTO v_key
        FROM information_schema.key_column_usage
        WHERE table_schema = 'submission' AND table_name = v_table;

        EXECUTE format('CREATE VIEW t.%1$I AS SELECT %2$s FROM submission.%1$I',
                       v_table, v_select);

        EXECUTE format($f$
            CREATE FUNCTION t.write_%1$s() RETURNS trigger
            LANGUAGE plpgsql SECURITY DEFINER AS $$
            BEGIN
                IF TG_OP = 'INSERT' THEN
                    INSERT INTO submission.%1$I VALUES (%2$s);
                    RETURN NEW;
                ELSIF TG_OP = 'UPDATE' THEN
                    UPDATE submission.%1$I AS b SET %4$s WHERE %3$s;
                    RETURN NEW;
                END IF;
                DELETE FROM submission.%1$I WHERE %3$s;
                RETURN OLD;
            END $$ $f$, v_table, v_insert, coalesce(v_key, 'true'), v_update);

        EXECUTE format('CREATE TRIGGER write INSTEAD OF INSERT OR UPDATE OR '
                       'DELETE ON t.%1$I FOR EACH ROW EXECUTE FUNCTION '
                       't.write_%1$s()', v_table);
    END LOOP;
END
$do$;


-- the clock that the test sets, from t.set_clock() on

CREATE TABLE t.clock (us bigint);
INSERT INTO t.clock VALUES (0);

CREATE FUNCTION t.set_clock() RETURNS void
LANGUAGE sql AS $set$
    CREATE OR REPLACE FUNCTION submission.submission_now()
    RETURNS timestamptz LANGUAGE sql VOLATILE
    AS $$ SELECT submission.submission_at(us) FROM t.clock $$;
$set$;


-- What the tests' own triggers and clock do, they do as the owner of the functions.

GRANT USAGE ON SCHEMA t TO PUBLIC;
GRANT ALL ON t.clock TO PUBLIC;
ALTER DEFAULT PRIVILEGES IN SCHEMA t GRANT ALL ON TABLES TO PUBLIC;
