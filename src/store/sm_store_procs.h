
/*
 * The SQL calls, which are the same for every store: each is a procedure of a
 * database server or a statement of SQLite.  A row of SM_SQL_PROCS gives its
 * name, its parameters and its columns.
 */

#ifndef SM_STORE_PROCS_H
#define SM_STORE_PROCS_H


#include "sm_field.h"


#define SM_SQL_PARAMS    16
#define SM_SQL_COLUMNS   32


/*
 * Types are letters; t: text, d: a document, b: bytes, i: a 64-bit integer.  A
 * row has, in this order: the suffix of its SM_PROC_ constant; its name; the
 * types of its parameters; the names of these in the statement of SQLite, if
 * there is one; the types of the columns that are not an entity's, which come
 * first in the answer; and up to two tables of entities, whose columns are
 * found by name.
 */

#define SM_SQL_PROCS(X)                                                       \
    X(SCHEMA_GET, "schema_get", "", NULL, "ii")                               \
    X(PING, "ping", "i", NULL, "i")                                           \
    X(INTENTS_SUBMIT, "intents_submit", "tdbi", NULL, "i", sm_intent_fields)  \
    X(INTENTS_GET, "intents_get", "td", "lease_name doc", "i",                \
      sm_intent_fields)                                                       \
    X(INTENT_HISTORY, "intent_history", "ttii",                               \
      "lease_name intent_id limit before", "i", sm_intent_fields,             \
      sm_attempt_fields)                                                      \
    X(INTENT_EVENTS, "intent_events", "tti", "lease_name intent_id limit", "",\
      sm_event_fields)                                                        \
    X(WEBHOOK_MESSAGES, "webhook_messages", "tttiti",                         \
      "lease_name target status created_at intent_id limit", "",              \
      sm_event_fields)                                                        \
    X(INTENTS_LIST, "intents_list", "tttiit",                                 \
      "lease_name status target limit created_at intent_id", "i",             \
      sm_intent_fields)                                                       \
    X(LEASE_ACQUIRE, "lease_acquire", "tti", NULL, "ii", sm_lease_fields)     \
    X(LEASE_RENEW, "lease_renew", "ttii", NULL, "ii", sm_lease_fields)        \
    X(LEASE_TAKEOVER, "lease_takeover", "ttii", NULL, "ii", sm_lease_fields)  \
    X(LEASE_RELEASE, "lease_release", "tti", NULL, "ii", sm_lease_fields)     \
    X(LEASE_WATCH, "lease_watch", "t", "lease_name", "ii", sm_lease_fields,   \
      sm_watch_fields)                                                        \
    X(CANDIDATE_HEARTBEAT, "candidate_heartbeat", "ttittitttdit", NULL, "iii")\
    X(CANDIDATE_REMOVE, "candidate_remove", "tt", NULL, "i")                  \
    X(CLUSTER_GET, "cluster_get", "tt", "lease_name names_hash", "ii",        \
      sm_lease_fields, sm_candidate_fields)                                   \
    X(QUEUE_PAGE, "queue_page", "ttiiiti",                                    \
      "lease_name holder_id lease_epoch order after_at after_id limit",       \
      "ittiiii")                                                              \
    X(ATTEMPTS_TURN, "attempts_turn", "ttiddi", NULL,                         \
      "iiiiii", sm_contract_fields, sm_begin_fields)                          \
    X(ATTEMPTS_EXPIRE, "attempts_expire", "ttidi", NULL, "iiiiiitt")          \
    X(ATTEMPTS_IN_DOUBT, "attempts_in_doubt", "ttiiti",                       \
      "lease_name holder_id lease_epoch after_at after_id limit", "i",        \
      sm_doubt_fields, sm_contract_fields)                                    \
    X(INTENT_CANCEL, "intent_cancel", "tttt", NULL, "i")                      \
    X(INTENT_REPLAY, "intent_replay", "tttdtttttti", NULL, "i")               \
    X(INTENT_PAYLOAD, "intent_payload", "tti", "lease_name intent_id bare",   \
      "", sm_payload_fields)                                                  \
    X(INTENTS_LENGTH, "intents_length", "td", "lease_name doc", "ii")         \
    X(AUDIT_LIST, "audit_list", "tttiiii",                                    \
      "lease_name actor action from at seq limit", "", sm_audit_fields)       \
    X(INTENTS_SEARCH, "intents_search", "tttttiitii",                         \
      "lease_name by status target reason up at id end limit", "it")          \
    X(INTENTS_PREFIX, "intents_prefix", "ttttii",                             \
      "lease_name low high skip up limit", "it")                              \
    X(FAILURES_GET, "failures_get", "ttiii",                                  \
      "lease_name target since bound groups", "iti", sm_failure_fields,       \
      sm_failure_count_fields)                                                \
    X(INBOX_PAGE, "inbox_page", "ttiiiii",                                    \
      "lease_name holder_id lease_epoch from limit bytes max_payload", "i",   \
      sm_inbox_fields)                                                        \
    X(INBOX_MOVE, "inbox_move", "ttidbdi", NULL, "iii")                       \
    X(RETENTION, "retention", "ttitidiiiti", NULL, "iiiiiiitt")               \
    X(STATS_PUT, "stats_put", "ttib", NULL, "i")                              \
    X(STATS_GET, "stats_get", "ti", "lease_name seen", "iib")                 \
    X(BACKLOG_GET, "backlog_get", "tii", "lease_name bound groups", "iitiii") \
    X(JOB_ADD, "job_add", "ttttittt", NULL, "i", sm_job_fields)               \
    X(JOB_STOP, "job_stop", "ttttt", NULL, "i", sm_job_fields)                \
    X(JOBS_LIST, "jobs_list", "tttiti", "lease_name kind job_id at id limit", \
      "i", sm_job_fields)                                                     \
    X(JOB_NEXT, "job_next", "tti", "lease_name", "i", sm_job_fields)          \
    X(JOB_APPLY, "job_apply", "ttittiiitttd", NULL, "iii")                    \
    X(TARGET_SET, "target_set", "ttttttti", NULL, "it", sm_pause_fields)      \
    X(TARGETS_PAUSED, "targets_paused", "tti", "lease_name", "i",             \
      sm_pause_fields)                                                        \
    X(SCHEDULES_GET, "schedules_get", "tttiii",                               \
      "lease_name first last limit special payload", "i", sm_schedule_fields) \
    X(SCHEDULE_WRITE, "schedule_write", "ttittittttibtttt", NULL, "ii")       \
    X(SCHEDULES_DUE, "schedules_due", "ttiii",                                \
      "lease_name holder_id lease_epoch limit bytes", "i",                    \
      sm_schedule_fields)                                                     \
    X(SCHEDULES_FIRE, "schedules_fire", "ttidbdttt", NULL, "iiitti")


#define SM_SQL_ENUM(op, ...)  SM_PROC_##op,

enum {
    SM_SQL_PROCS(SM_SQL_ENUM)
    SM_PROCS
};


/* How many columns of its own each procedure has. */

#define SM_SQL_OWN(op, name, params, names, own, ...)                         \
    SM_PROC_OWN_##op = sizeof(own) - 1,

enum { SM_SQL_PROCS(SM_SQL_OWN) };


typedef struct {
    const char               *name;
    const char               *params;
    const char               *names;
    const char               *own;
    const sm_field_t         *fields[2];
} sm_proc_t;

extern const sm_proc_t  sm_procs[];


#endif /* SM_STORE_PROCS_H */
