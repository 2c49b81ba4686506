-- For the unit tests on Babelfish, through its port of PostgreSQL: the tables as
-- SQLite has them.  As store_postgres.sql, of the types of T-SQL; "@" stands for
-- the database.  See store_odbc.h.

DROP SCHEMA IF EXISTS "t_@" CASCADE;
CREATE SCHEMA "t_@";

-- triggers write to the tests' own tables as the login that calls

GRANT USAGE ON SCHEMA "t_@" TO PUBLIC;
ALTER DEFAULT PRIVILEGES IN SCHEMA "t_@" GRANT ALL ON TABLES TO PUBLIC;
ALTER DEFAULT PRIVILEGES IN SCHEMA "t_@" GRANT ALL ON SEQUENCES TO PUBLIC;

DO $do$
DECLARE
    v_table    text;
    v_select   text;
    v_insert   text;
    v_columns  text;
    v_key      text;
BEGIN
    FOR v_table IN
        SELECT c.relname
        FROM pg_class AS c
        WHERE c.relnamespace = '"@_submission"'::regnamespace
              AND c.relkind = 'r' AND c.relname LIKE 'submission\_%'
    LOOP
        SELECT string_agg(CASE t.typname
                   WHEN 'datetime2'
                   THEN format('(extract(epoch FROM %1$s::timestamp) '
                               '* 1000000)::bigint AS %1$s', a.attname)
                   WHEN 'int4' THEN a.attname
                   WHEN 'int8' THEN a.attname
                   WHEN 'bbf_varbinary'
                   THEN format('encode(%1$s::bytea, ''escape'') AS %1$s',
                               a.attname)
                   WHEN 'varbinary'
                   THEN format('encode(%1$s::bytea, ''escape'') AS %1$s',
                               a.attname)
                   ELSE format('(%1$s::text) COLLATE "C" AS %1$s', a.attname)
                   END, ', ' ORDER BY a.attnum),
               string_agg(CASE t.typname
                   WHEN 'datetime2'
                   THEN format('(timestamp ''1970-01-01'' + NEW.%s * '
                               'interval ''1 microsecond'')::sys.datetime2',
                               a.attname)
                   WHEN 'bbf_varbinary'
                   THEN format('decode(NEW.%s, ''escape'')::sys.bbf_varbinary',
                               a.attname)
                   WHEN 'varbinary'
                   THEN format('decode(NEW.%s, ''escape'')::sys.bbf_varbinary',
                               a.attname)
                   ELSE 'NEW.' || a.attname END, ', ' ORDER BY a.attnum),
               string_agg(a.attname, ', ' ORDER BY a.attnum)
        INTO v_select, v_insert, v_columns
        FROM pg_attribute AS a
             JOIN pg_type AS t ON t.oid = a.atttypid
        WHERE a.attrelid = format('"@_submission".%I', v_table)::regclass
              AND a.attnum > 0 AND NOT a.attisdropped;

        SELECT string_agg(format('(%1$s::text) COLLATE "C" = OLD.%1$s::text',
                                 a.attname), ' AND ')
        INTO v_key
        FROM pg_index AS i
             JOIN pg_attribute AS a
             ON a.attrelid = i.indrelid AND a.attnum = ANY (i.indkey)
        WHERE i.indrelid = format('"@_submission".%I', v_table)::regclass
              AND i.indisprimary;

        EXECUTE format('CREATE VIEW "t_@".%1$I AS SELECT %2$s '
                       'FROM "@_submission".%1$I%3$s', v_table, v_select,
                       CASE v_table WHEN 'submission_manager_leases'
                       THEN ' WHERE lease_epoch > 0' ELSE '' END);

        EXECUTE format($f$
            CREATE FUNCTION "t_@".write_%1$s() RETURNS trigger
            LANGUAGE plpgsql SECURITY DEFINER AS $$
            BEGIN
                IF TG_OP = 'INSERT' THEN
                    INSERT INTO "@_submission".%1$I
                    OVERRIDING SYSTEM VALUE VALUES (%2$s);
                    RETURN NEW;
                ELSIF TG_OP = 'UPDATE' THEN
                    UPDATE "@_submission".%1$I SET (%4$s) = ROW(%2$s)
                    WHERE %3$s;
                    RETURN NEW;
                END IF;
                DELETE FROM "@_submission".%1$I WHERE %3$s;
                RETURN OLD;
            END $$ $f$, v_table, v_insert, coalesce(v_key, 'true'), v_columns);

        EXECUTE format('CREATE TRIGGER write INSTEAD OF INSERT OR UPDATE OR '
                       'DELETE ON "t_@".%1$I FOR EACH ROW EXECUTE FUNCTION '
                       '"t_@".write_%1$s()', v_table);
    END LOOP;
END
$do$;
