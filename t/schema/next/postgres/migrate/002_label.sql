-- From version 1 to 2: what is added to tables that are there, while they are in
-- use.  New tables, the functions and the version come after it, by schema.sql and
-- the other files.  For psql without a transaction: sql/install.sh does.  What was
-- interrupted goes on where it was when it is run again.
--
-- A column without a default is a change of the catalogue alone, yet it needs the
-- table for itself, and whoever comes after it waits with it: so it waits for a
-- short time, lets the others pass, and tries again.  A column that is there is not
-- added IF NOT EXISTS, which needs the table, too.

SET search_path = submission, pg_temp;
SET client_min_messages = warning;
SET lock_timeout = '200ms';

DO $$
DECLARE
    v_tries   integer := 0;
BEGIN
    WHILE NOT EXISTS (SELECT 1
                      FROM pg_attribute
                      WHERE attrelid = 'submission_intents'::regclass
                            AND attname = 'label' AND NOT attisdropped)
    LOOP
        BEGIN
            ALTER TABLE submission_intents
                ADD COLUMN label varchar(64) COLLATE "C";
        EXCEPTION
            WHEN lock_not_available OR deadlock_detected THEN
                v_tries := v_tries + 1;

                IF v_tries = 600 THEN
                    RAISE EXCEPTION 'submission_intents is in use by a long '
                                    'transaction: end it, and run this again';
                END IF;
        END;

        COMMIT;                         -- whoever waits for the table goes on

        PERFORM pg_sleep(0.3);
    END LOOP;
END
$$;

-- Indexes are made while others write, and wait for all transactions that were
-- there before.  What an interruption has left of one goes first.

RESET lock_timeout;

SELECT format('DROP INDEX CONCURRENTLY submission.%I', c.relname)
FROM pg_index AS i
     JOIN pg_class AS c ON c.oid = i.indexrelid
WHERE i.indrelid = 'submission_intents'::regclass AND NOT i.indisvalid
\gexec

CREATE INDEX CONCURRENTLY IF NOT EXISTS submission_intents_label
    ON submission_intents (lease_name, label, completed_at)
    WHERE completed_at IS NOT NULL;
