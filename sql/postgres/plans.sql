-- How the statements of the functions that nginx calls are planned, said once for
-- all of them.  sql/install.sh runs this file after the functions.
--
-- Each statement is made of seeks in indexes, and has to stay so whatever the
-- planner knows of the tables: without statistics it expects a few rows where there
-- are a million.  A plan that is right for a few rows would scan, sort or hash the
-- million.  Compiling a plan takes longer than any of these statements.
--
-- A function whose rows have to come in the order of an index also turns sorting
-- off, in its own text.

SET search_path = submission, pg_temp;

DO $$
DECLARE
    v_function  regprocedure;
BEGIN
    FOR v_function IN
        SELECT p.oid
        FROM pg_proc AS p
             JOIN pg_language AS l ON l.oid = p.prolang
        WHERE p.pronamespace = 'submission'::regnamespace AND p.prosecdef
              AND l.lanname = 'plpgsql' AND p.prorettype <> 'trigger'::regtype
    LOOP
        EXECUTE format('ALTER FUNCTION %s '
                       'SET enable_seqscan = off '
                       'SET enable_bitmapscan = off '
                       'SET enable_hashjoin = off '
                       'SET enable_mergejoin = off '
                       'SET jit = off', v_function);
    END LOOP;
END
$$;
