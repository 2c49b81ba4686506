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
    v_tries   integer;
    v_table   text;
    v_change  text;
BEGIN
    FOR v_table, v_change IN
        SELECT c.t, format('ALTER TABLE %I %s', c.t,
                           string_agg(format('ADD COLUMN %I %s', c.c, c.d), ', '
                                      ORDER BY c.n))
        FROM (VALUES
                 (1, 'submission_manager_candidates', 'wake_url',
                  'varchar(1024) COLLATE "C"'),
                 (2, 'submission_attempts', 'http_status', 'integer'),
                 (3, 'submission_attempts', 'answer',
                  'varchar(500) COLLATE "C"'),
                 (4, 'submission_attempts', 'span_id',
                  'varchar(16) COLLATE "C"'),
                 (5, 'submission_intents', 'not_before', 'timestamptz'),
                 (6, 'submission_intents', 'retry_schedule',
                  'varchar(500) COLLATE "C"'),
                 (7, 'submission_intents', 'notify',
                  'varchar(1000) COLLATE "C"'),
                 (8, 'submission_intents', 'contract_version', 'integer'),
                 (9, 'submission_intents', 'replay_of',
                  'varchar(200) COLLATE "C"'),
                 (10, 'submission_intents', 'job_id',
                  'varchar(200) COLLATE "C"'),
                 (11, 'submission_intents', 'event_of',
                  'varchar(200) COLLATE "C"'),
                 (12, 'submission_intents', 'traceparent',
                  'varchar(64) COLLATE "C"'),
                 (13, 'submission_intents', 'tracestate',
                  'varchar(512) COLLATE "C"'),
                 (14, 'submission_intents', 'last_error',
                  'varchar(1000) COLLATE "C"'),
                 (15, 'submission_intents', 'stripped_at', 'timestamptz'),
                 (16, 'submission_schema', 'compatible_from',
                  'integer NOT NULL DEFAULT 1')
             ) AS c (n, t, c, d)
        WHERE NOT EXISTS (
                  SELECT 1
                  FROM pg_attribute AS a
                  WHERE a.attrelid = c.t::regclass AND a.attname = c.c
                        AND NOT a.attisdropped
              )
        GROUP BY c.t
        ORDER BY min(c.n)
    LOOP
        v_tries := 0;

        LOOP
            BEGIN
                EXECUTE v_change;
                v_tries := 0;
            EXCEPTION
                WHEN lock_not_available OR deadlock_detected THEN
                    v_tries := v_tries + 1;

                    IF v_tries = 600 THEN
                        RAISE EXCEPTION '% is in use by a long transaction: '
                                        'end it, and run this again', v_table;
                    END IF;
            END;

            COMMIT;                     -- whoever waits for the table goes on

            EXIT WHEN v_tries = 0;

            PERFORM pg_sleep(0.3);
        END LOOP;
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

CREATE INDEX CONCURRENTLY IF NOT EXISTS submission_intents_delayed
    ON submission_intents (lease_name, next_attempt_at, intent_id)
    WHERE next_attempt_at IS NOT NULL AND not_before IS NOT NULL
          AND attempt_count = 0;

CREATE INDEX CONCURRENTLY IF NOT EXISTS submission_intents_completed
    ON submission_intents (lease_name, submission_target, status, completed_at,
                           intent_id)
    WHERE completed_at IS NOT NULL AND stripped_at IS NULL;

CREATE INDEX CONCURRENTLY IF NOT EXISTS submission_intents_stripped
    ON submission_intents (lease_name, submission_target, status, completed_at,
                           intent_id)
    WHERE stripped_at IS NOT NULL;

CREATE INDEX CONCURRENTLY IF NOT EXISTS submission_intents_rejected
    ON submission_intents (lease_name, submission_target, final_outcome_reason,
                           completed_at, intent_id)
    WHERE status = 'rejected';

CREATE INDEX CONCURRENTLY IF NOT EXISTS submission_intents_exhausted
    ON submission_intents (lease_name, submission_target, exhausted_reason,
                           completed_at, intent_id)
    WHERE status = 'exhausted';

CREATE INDEX CONCURRENTLY IF NOT EXISTS submission_intents_replays
    ON submission_intents (lease_name, replay_of, intent_id)
    WHERE replay_of IS NOT NULL;

CREATE INDEX CONCURRENTLY IF NOT EXISTS submission_intents_events
    ON submission_intents (lease_name, event_of, intent_id)
    WHERE event_of IS NOT NULL;
