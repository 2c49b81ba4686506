
/*
 * Between the store and its back ends: the table that a back end fills, its
 * connections, and what the files of the store have of each other.
 */

#ifndef SM_STORE_OPS_H
#define SM_STORE_OPS_H


#include "sm_store.h"


/* who serves a connection at the server: its pid, and the time it began */

typedef struct {
    int64_t                pid;         /* 0: not known */
    int64_t                began;
} sm_backend_t;


struct sm_left_s {
    sm_backend_t           backend;
    unsigned               at_work;
    sm_left_t             *next;
};


/* what all back ends' connections begin with */

struct sm_conn_s {
    sm_conn_t             *next;
    unsigned               lost;        /* the idle ones are, too */
    sm_backend_t           backend;
};


struct sm_store_ops_s {
    const char            *name;

    sm_conn_t           *(*open)(const sm_store_conf_t *conf, sm_call_t *call);
    void                 (*close)(sm_conn_t *conn);

    /* whether an idle connection still leads to the store */
    int                  (*usable)(sm_conn_t *conn);

    /* sets at_work of each: whether the server still carries its call out */
    int                  (*ask)(sm_conn_t *conn, sm_call_t *call,
                                sm_left_t *left);

#define SM_STORE_SLOT(kind, name, ...)                                        \
    int (*name)(sm_conn_t *conn, sm_call_t *call                              \
        SM_STORE_PARAMS(__VA_ARGS__));

    SM_STORE_OPS(SM_STORE_SLOT)
};

/* whether a module of version "own" may use a schema; "store" is its name */
int sm_store_schema_check(sm_call_t *call, const char *store, int own,
    int64_t version, int64_t compatible_from);

/*
 * sm_store.c: a connection for a call, or NULL and why in the call; what the
 * call came to, when it is given back
 */
sm_conn_t *sm_store_get_conn(sm_store_t *store, sm_call_t *call);
int sm_store_put_conn(sm_store_t *store, sm_call_t *call, sm_conn_t *conn);

/* sm_store.c: where nobody knows a backend, and so none is left */
int sm_store_ask_none(sm_conn_t *conn, sm_call_t *call, sm_left_t *left);

/*
 * sm_store_recover.c: reads a stored contract.  One that is not understood does
 * not fail the call: "refused" says why, as text that may be stored and shown.
 */
int sm_store_contract(sm_call_t *call, const sm_contract_row_t *row,
    sm_contract_t *c, sm_str_t *refused);

/* sm_store.c: fills in the hashes of payloads */
int sm_store_hash(sm_store_t *store, sm_call_t *call, sm_submit_row_t *rows,
    size_t n);

/*
 * sm_store_schedule.c: what is asked for of one schedule; the ids of a page,
 * both included; names of actions
 */
int sm_store_schedule(sm_store_t *store, sm_call_t *call,
    const sm_fence_t *fence, sm_schedule_row_t *row);
int sm_store_schedules_range(sm_call_t *call, const sm_schedule_page_t *page,
    sm_str_t *first, sm_str_t *last);
sm_str_t sm_store_schedule_action(sm_schedule_action_e action);
const char *sm_store_schedule_audit(sm_schedule_action_e action);


#endif /* SM_STORE_OPS_H */
