-- Who may do what.  All databases of a server have the same roles, so the names of
-- these end with the name of this database: a login of another installation has no
-- right here.
--
-- submission_definer_<database> owns the functions, which run with its rights: it
-- may read and write the tables, and nothing else.  It cannot log in.
--
-- submission_nginx_<database> may call the functions that nginx calls, and may not
-- touch a table:
--
--     CREATE ROLE nginx LOGIN IN ROLE submission_nginx_submission;
--
-- submission_client_<database> is for applications, and may submit:
--
--     GRANT submission_client_submission TO shop;
--
-- This file runs as the owner, after all functions, and may run again.

SET search_path = submission, pg_temp;

DO $$
DECLARE
    v_role  text;
BEGIN
    FOREACH v_role IN ARRAY ARRAY[submission_role('definer'),
                                  submission_role('nginx'),
                                  submission_role('client')]
    LOOP
        IF NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = v_role) THEN
            EXECUTE format('CREATE ROLE %I NOLOGIN', v_role);
        END IF;

        IF EXISTS (SELECT 1 FROM pg_roles
                   WHERE rolname = v_role AND (rolcanlogin OR rolsuper))
        THEN
            RAISE EXCEPTION 'the role % can log in or is a superuser: it must '
                            'be neither', v_role;
        END IF;
    END LOOP;
EXCEPTION
    WHEN insufficient_privilege THEN
        RAISE EXCEPTION 'there is no role %, and % may not create roles: have '
                        'it created first, without LOGIN', v_role, current_user;
END
$$;

-- The functions and the tables that they need.  Somebody who is not a superuser can
-- only give a function to a role whose member he is, and which may create objects
-- in the schema.

DO $$
DECLARE
    v_definer   constant text := submission_role('definer');
    v_function  regprocedure;
    v_table     regclass;
BEGIN
    IF NOT pg_has_role(current_user, v_definer, 'USAGE') THEN
        EXECUTE format('GRANT %I TO %I', v_definer, current_user);
    END IF;

    EXECUTE format('GRANT USAGE, CREATE ON SCHEMA submission TO %I', v_definer);

    FOR v_function IN
        SELECT p.oid
        FROM pg_proc AS p
        WHERE p.pronamespace = 'submission'::regnamespace
              AND p.proowner <> (SELECT r.oid FROM pg_roles AS r
                                 WHERE r.rolname = v_definer)
    LOOP
        EXECUTE format('ALTER FUNCTION %s OWNER TO %I', v_function, v_definer);
    END LOOP;

    EXECUTE format('REVOKE CREATE ON SCHEMA submission FROM %I', v_definer);

    FOR v_table IN
        SELECT c.oid
        FROM pg_class AS c
        WHERE c.relnamespace = 'submission'::regnamespace AND c.relkind = 'r'
              AND NOT (has_table_privilege(v_definer, c.oid, 'SELECT')
                       AND has_table_privilege(v_definer, c.oid, 'INSERT')
                       AND has_table_privilege(v_definer, c.oid, 'UPDATE')
                       AND has_table_privilege(v_definer, c.oid, 'DELETE'))
    LOOP
        EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %s TO %I',
                       v_table, v_definer);
    END LOOP;
END
$$;

-- Nobody else has a right to a table, and these are all rights to functions.

DO $$
DECLARE
    v_nginx   constant text := submission_role('nginx');
    v_client  constant text := submission_role('client');
BEGIN
    IF EXISTS (SELECT 1
               FROM pg_class AS c
                    CROSS JOIN LATERAL aclexplode(c.relacl) AS a
               WHERE c.relnamespace = 'submission'::regnamespace
                     AND (a.grantee = 0
                          OR pg_get_userbyid(a.grantee) IN (v_nginx, v_client)))
    THEN
        EXECUTE format('REVOKE ALL ON ALL TABLES IN SCHEMA submission '
                       'FROM PUBLIC, %I, %I', v_nginx, v_client);
    END IF;

    REVOKE ALL ON SCHEMA submission FROM PUBLIC;

    EXECUTE format('REVOKE ALL ON ALL FUNCTIONS IN SCHEMA submission '
                   'FROM PUBLIC, %I, %I', v_nginx, v_client);
    EXECUTE format('GRANT USAGE ON SCHEMA submission TO %I, %I', v_nginx,
                   v_client);

    EXECUTE format($g$
        GRANT EXECUTE ON FUNCTION
            submission.submission_schema_get,
            submission.submission_ping,
            submission.submission_intents_submit,
            submission.submission_intents_get,
            submission.submission_intent_history,
            submission.submission_intents_list,
            submission.submission_lease_acquire,
            submission.submission_lease_renew,
            submission.submission_lease_takeover,
            submission.submission_lease_release,
            submission.submission_lease_watch,
            submission.submission_candidate_heartbeat,
            submission.submission_candidate_remove,
            submission.submission_cluster_get,
            submission.submission_queue_page,
            submission.submission_attempts_expire,
            submission.submission_attempts_turn,
            submission.submission_attempts_in_doubt,
            submission.submission_intent_events,
            submission.submission_webhook_messages,
            submission.submission_intent_cancel,
            submission.submission_intent_replay,
            submission.submission_intent_payload,
            submission.submission_intents_length,
            submission.submission_audit_list,
            submission.submission_intents_search,
            submission.submission_intents_prefix,
            submission.submission_failures_get,
            submission.submission_inbox_page,
            submission.submission_inbox_move,
            submission.submission_retention,
            submission.submission_stats_put,
            submission.submission_stats_get,
            submission.submission_backlog_get,
            submission.submission_job_add,
            submission.submission_job_stop,
            submission.submission_jobs_list,
            submission.submission_job_next,
            submission.submission_job_apply,
            submission.submission_target_set,
            submission.submission_targets_paused,
            submission.submission_schedules_get,
            submission.submission_schedule_write,
            submission.submission_schedules_due,
            submission.submission_schedules_fire
        TO %I
    $g$, v_nginx);

    EXECUTE format($g$
        GRANT EXECUTE ON FUNCTION
            submission.submit(text, text, text, timestamptz, text, text, text),
            submission.submit(text, text, jsonb, timestamptz, text, text, text)
        TO %I
    $g$, v_client);
END
$$;

-- A copy of a database also has the rights that the roles of its original have
-- there; they are revoked.  Roles that are named after a database that does not
-- exist keep their rights, as this database had that name once.

DO $$
DECLARE
    v_role  text;
BEGIN
    FOR v_role IN
        SELECT r.name
        FROM pg_namespace AS n
             CROSS JOIN LATERAL aclexplode(n.nspacl) AS a
             CROSS JOIN LATERAL CAST(pg_get_userbyid(a.grantee) AS text) AS r (name)
             JOIN pg_database AS d
             ON d.datname <> current_database()
                AND substring(r.name FROM '^submission_(?:definer|nginx|client)_(.*)')
                    IN (d.datname::text, md5(d.datname))
        WHERE n.nspname = 'submission'
    LOOP
        EXECUTE format('REVOKE ALL ON ALL FUNCTIONS IN SCHEMA submission FROM %I',
                       v_role);
        EXECUTE format('REVOKE ALL ON ALL TABLES IN SCHEMA submission FROM %I',
                       v_role);
        EXECUTE format('REVOKE ALL ON SCHEMA submission FROM %I', v_role);

        RAISE WARNING 'the role % is of another database, and has no rights in this '
                      'one any more', v_role;
    END LOOP;
END
$$;
