-- From version 1 to 2: what is added to tables that are there, while they are in
-- use.  New tables, the functions and the version come after it, by schema.sql and
-- the other files.  For psql without a transaction: sql/install.sh does.  What was
-- interrupted goes on where it was when it is run again.
--
-- A column without a default is a change of the catalogue alone, yet it needs the
-- table for itself, and whoever comes after it waits with it: so it waits for a
-- short time, lets the others pass, and tries again.

SET search_path = submission, pg_temp;
SET client_min_messages = warning;      -- not of each column that is there
SET lock_timeout = '200ms';

DO $$
DECLARE
    v_tries   integer;
    v_change  text;
BEGIN
    FOREACH v_change IN ARRAY ARRAY[
        'ALTER TABLE submission_manager_candidates
             ADD COLUMN IF NOT EXISTS wake_url varchar(1024) COLLATE "C"',
        'ALTER TABLE submission_attempts
             ADD COLUMN IF NOT EXISTS http_status integer,
             ADD COLUMN IF NOT EXISTS answer varchar(500) COLLATE "C",
             ADD COLUMN IF NOT EXISTS span_id varchar(16) COLLATE "C"',
        'ALTER TABLE submission_intents
             ADD COLUMN IF NOT EXISTS not_before timestamptz,
             ADD COLUMN IF NOT EXISTS retry_schedule varchar(500) COLLATE "C",
             ADD COLUMN IF NOT EXISTS notify varchar(1000) COLLATE "C",
             ADD COLUMN IF NOT EXISTS replay_of varchar(200) COLLATE "C",
             ADD COLUMN IF NOT EXISTS job_id varchar(200) COLLATE "C",
             ADD COLUMN IF NOT EXISTS event_of varchar(200) COLLATE "C",
             ADD COLUMN IF NOT EXISTS traceparent varchar(64) COLLATE "C",
             ADD COLUMN IF NOT EXISTS tracestate varchar(512) COLLATE "C",
             ADD COLUMN IF NOT EXISTS last_error varchar(1000) COLLATE "C",
             ADD COLUMN IF NOT EXISTS stripped_at timestamptz',
        'ALTER TABLE submission_schema
             ADD COLUMN IF NOT EXISTS compatible_from integer
                 NOT NULL DEFAULT 1'
    ]
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
                                        'end it, and run this again',
                                        split_part(v_change, ' ', 3);
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
