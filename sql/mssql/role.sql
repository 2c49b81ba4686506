-- Makes the roles.  Run it as the owner, after everything else; it may run again.
--
-- submission_nginx may call the procedures that nginx calls, and nothing else.  It cannot
-- read or write a table, and cannot call what those procedures call, such as the one that
-- writes the audit; they can, because everything has one owner.  Let nginx's login have
-- the role:
--
--     CREATE LOGIN nginx WITH PASSWORD = '...';
--     CREATE USER nginx FOR LOGIN nginx;
--     ALTER ROLE submission_nginx ADD MEMBER nginx;

SET ANSI_NULLS ON;
SET QUOTED_IDENTIFIER ON;
SET ANSI_PADDING ON;
SET ANSI_WARNINGS ON;
SET ARITHABORT ON;
SET CONCAT_NULL_YIELDS_NULL ON;
SET NUMERIC_ROUNDABORT OFF;
GO

IF DATABASE_PRINCIPAL_ID(N'submission_nginx') IS NULL
    CREATE ROLE submission_nginx;
GO

GRANT EXECUTE ON OBJECT::submission.submission_schema_get TO submission_nginx;
GRANT EXECUTE ON OBJECT::submission.submission_ping TO submission_nginx;
GRANT EXECUTE ON OBJECT::submission.submission_intents_submit TO submission_nginx;
GRANT EXECUTE ON OBJECT::submission.submission_intents_get TO submission_nginx;
GRANT EXECUTE ON OBJECT::submission.submission_intent_history TO submission_nginx;
GRANT EXECUTE ON OBJECT::submission.submission_intent_events TO submission_nginx;
GRANT EXECUTE ON OBJECT::submission.submission_webhook_messages TO submission_nginx;
GRANT EXECUTE ON OBJECT::submission.submission_intents_list TO submission_nginx;
GRANT EXECUTE ON OBJECT::submission.submission_lease_acquire TO submission_nginx;
GRANT EXECUTE ON OBJECT::submission.submission_lease_renew TO submission_nginx;
GRANT EXECUTE ON OBJECT::submission.submission_lease_takeover TO submission_nginx;
GRANT EXECUTE ON OBJECT::submission.submission_lease_release TO submission_nginx;
GRANT EXECUTE ON OBJECT::submission.submission_lease_watch TO submission_nginx;
GRANT EXECUTE ON OBJECT::submission.submission_candidate_heartbeat TO submission_nginx;
GRANT EXECUTE ON OBJECT::submission.submission_candidate_remove TO submission_nginx;
GRANT EXECUTE ON OBJECT::submission.submission_cluster_get TO submission_nginx;
GRANT EXECUTE ON OBJECT::submission.submission_queue_page TO submission_nginx;
GRANT EXECUTE ON OBJECT::submission.submission_attempts_turn TO submission_nginx;
GRANT EXECUTE ON OBJECT::submission.submission_attempts_expire TO submission_nginx;
GRANT EXECUTE ON OBJECT::submission.submission_attempts_in_doubt TO submission_nginx;
GRANT EXECUTE ON OBJECT::submission.submission_intent_cancel TO submission_nginx;
GRANT EXECUTE ON OBJECT::submission.submission_intent_replay TO submission_nginx;
GRANT EXECUTE ON OBJECT::submission.submission_intent_payload TO submission_nginx;
GRANT EXECUTE ON OBJECT::submission.submission_intents_length TO submission_nginx;
GRANT EXECUTE ON OBJECT::submission.submission_audit_list TO submission_nginx;
GRANT EXECUTE ON OBJECT::submission.submission_intents_search TO submission_nginx;
GRANT EXECUTE ON OBJECT::submission.submission_intents_prefix TO submission_nginx;
GRANT EXECUTE ON OBJECT::submission.submission_failures_get TO submission_nginx;
GRANT EXECUTE ON OBJECT::submission.submission_inbox_page TO submission_nginx;
GRANT EXECUTE ON OBJECT::submission.submission_inbox_move TO submission_nginx;
GRANT EXECUTE ON OBJECT::submission.submission_retention TO submission_nginx;
GRANT EXECUTE ON OBJECT::submission.submission_stats_put TO submission_nginx;
GRANT EXECUTE ON OBJECT::submission.submission_stats_get TO submission_nginx;
GRANT EXECUTE ON OBJECT::submission.submission_backlog_get TO submission_nginx;
GRANT EXECUTE ON OBJECT::submission.submission_job_add TO submission_nginx;
GRANT EXECUTE ON OBJECT::submission.submission_job_stop TO submission_nginx;
GRANT EXECUTE ON OBJECT::submission.submission_jobs_list TO submission_nginx;
GRANT EXECUTE ON OBJECT::submission.submission_job_next TO submission_nginx;
GRANT EXECUTE ON OBJECT::submission.submission_job_apply TO submission_nginx;
GRANT EXECUTE ON OBJECT::submission.submission_target_set TO submission_nginx;
GRANT EXECUTE ON OBJECT::submission.submission_targets_paused TO submission_nginx;
GRANT EXECUTE ON OBJECT::submission.submission_schedules_get TO submission_nginx;
GRANT EXECUTE ON OBJECT::submission.submission_schedule_write TO submission_nginx;
GRANT EXECUTE ON OBJECT::submission.submission_schedules_due TO submission_nginx;
GRANT EXECUTE ON OBJECT::submission.submission_schedules_fire TO submission_nginx;
GO

-- submission_client, for applications, may submit intents, and nothing else:
--
--     ALTER ROLE submission_client ADD MEMBER shop;

IF DATABASE_PRINCIPAL_ID(N'submission_client') IS NULL
    CREATE ROLE submission_client;
GO

GRANT EXECUTE ON OBJECT::submission.submit TO submission_client;
GO
