-- A role that may call the procedures, and nothing else: it cannot read or
-- write a table.  Run as the owner, after everything else; may run again.  Then
-- let nginx's login have it:
--
--     CREATE ROLE nginx LOGIN PASSWORD '...' IN ROLE submission_nginx;

DO $$
BEGIN
    IF NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'submission_nginx')
    THEN
        CREATE ROLE submission_nginx NOLOGIN;
    END IF;
EXCEPTION
    WHEN duplicate_object OR unique_violation THEN
        NULL;                           -- roles are of all databases
END
$$;

REVOKE ALL ON SCHEMA submission FROM PUBLIC;
REVOKE ALL ON ALL TABLES IN SCHEMA submission FROM PUBLIC, submission_nginx;
REVOKE ALL ON ALL FUNCTIONS IN SCHEMA submission FROM PUBLIC, submission_nginx;

GRANT USAGE ON SCHEMA submission TO submission_nginx;

GRANT EXECUTE ON FUNCTION
    submission.submission_schema_version,
    submission.submission_schema_get,
    submission.submission_ping,
    submission.submission_intents_submit(text, text, bytea),
    submission.submission_intents_submit(text, text, bytea, bigint, bigint),
    submission.submission_intents_get(text, text),
    submission.submission_intents_get(text, text, bigint),
    submission.submission_intent_history(text, text, bigint, bigint),
    submission.submission_intent_history(text, text, bigint, bigint, bigint),
    submission.submission_intents_list(text, text, text, bigint, bigint, text),
    submission.submission_intents_list(
        text, text, text, bigint, bigint, text, bigint
    ),
    submission.submission_lease_acquire,
    submission.submission_lease_renew,
    submission.submission_lease_takeover,
    submission.submission_lease_release,
    submission.submission_lease_get,
    submission.submission_lease_watch,
    submission.submission_candidate_heartbeat,
    submission.submission_candidate_remove,
    submission.submission_cluster_get,
    submission.submission_schedule_page,
    submission.submission_attempts_turn(text, text, bigint, text, text),
    submission.submission_attempts_turn(
        text, text, bigint, text, text, bigint
    ),
    submission.submission_attempts_in_doubt(
        text, text, bigint, bigint, text, bigint
    ),
    submission.submission_attempts_in_doubt(
        text, text, bigint, bigint, text, bigint, bigint
    ),
    submission.submission_intent_events,
    submission.submission_intent_cancel,
    submission.submission_intent_replay,
    submission.submission_intent_payload,
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
TO submission_nginx;


-- And one for applications, which may submit, and nothing else:
--
--     GRANT submission_client TO shop;

DO $$
BEGIN
    IF NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'submission_client')
    THEN
        CREATE ROLE submission_client NOLOGIN;
    END IF;
EXCEPTION
    WHEN duplicate_object OR unique_violation THEN
        NULL;
END
$$;

REVOKE ALL ON ALL TABLES IN SCHEMA submission FROM submission_client;
REVOKE ALL ON ALL FUNCTIONS IN SCHEMA submission FROM submission_client;

GRANT USAGE ON SCHEMA submission TO submission_client;

GRANT EXECUTE ON FUNCTION
    submission.submit(text, text, text, timestamptz, text, text, text),
    submission.submit(text, text, jsonb, timestamptz, text, text, text)
TO submission_client;
