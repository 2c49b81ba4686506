
/*
 * Between the store and its back ends: the table of operations that a back end
 * fills, the head of its connections, and functions that the files of the
 * store share.
 */

#ifndef SM_STORE_OPS_H
#define SM_STORE_OPS_H


#include "sm_store.h"


/* Identifies the server process behind a connection. */

typedef struct {
    int64_t                pid;         /* 0: it is not known */
    int64_t                began;
} sm_backend_t;


struct sm_left_s {
    sm_backend_t           backend;
    unsigned               at_work;
    sm_left_t             *next;
};


/* The head of every back end's connection. */

struct sm_conn_s {
    sm_conn_t             *next;
    unsigned               lost;        /* so are the idle connections */
    sm_backend_t           backend;
};


struct sm_store_ops_s {
    const char            *name;

    sm_conn_t           *(*open)(const sm_store_conf_t *conf, sm_call_t *call);
    void                 (*close)(sm_conn_t *conn);

    /* Returns whether an idle connection still leads to the store. */
    int                  (*usable)(sm_conn_t *conn);

    /*
     * Sets at_work in each: whether the server is still carrying out its call.
     */
    int                  (*ask)(sm_conn_t *conn, sm_call_t *call,
                                sm_left_t *left);

#define SM_STORE_SLOT(kind, name, ...)                                        \
    int (*name)(sm_conn_t *conn, sm_call_t *call                              \
        SM_STORE_PARAMS(__VA_ARGS__));

    SM_STORE_OPS(SM_STORE_SLOT)
};

/*
 * Checks whether a module of version "own" may use a schema.  "store" is the
 * name for messages.
 */
int sm_store_schema_check(sm_call_t *call, const char *store, int own,
    int64_t version, int64_t compatible_from);

/*
 * sm_store.c: _get_conn() returns a connection for a call, or NULL with the
 * call's error set.  _put_conn() gives it back, and returns the outcome of the
 * call.
 */
sm_conn_t *sm_store_get_conn(sm_store_t *store, sm_call_t *call);
int sm_store_put_conn(sm_store_t *store, sm_call_t *call, sm_conn_t *conn);

/*
 * sm_store.c: the ask() of back ends that do not know their server processes.
 */
int sm_store_ask_none(sm_conn_t *conn, sm_call_t *call, sm_left_t *left);

/*
 * sm_store_recover.c: reads a stored contract.  A contract that is not
 * understood does not fail the call; "refused" says why, in text that may be
 * stored and shown.
 */
int sm_store_contract(sm_call_t *call, const sm_contract_row_t *row,
    sm_contract_t *c, sm_str_t *refused);

/* sm_store.c: computes the hashes of payloads. */
int sm_store_hash(sm_store_t *store, sm_call_t *call, sm_submit_row_t *rows,
    size_t n);

/*
 * sm_store_schedule.c: carries out a request about one schedule; gives the
 * range of ids of a page, both ends included; names an action for the API and
 * for the audit.
 */
int sm_store_schedule(sm_store_t *store, sm_call_t *call,
    const sm_fence_t *fence, sm_schedule_row_t *row);
int sm_store_schedules_range(sm_call_t *call, const sm_schedule_page_t *page,
    sm_str_t *first, sm_str_t *last);
sm_str_t sm_store_schedule_action(sm_schedule_action_e action);
const char *sm_store_schedule_audit(sm_schedule_action_e action);


#endif /* SM_STORE_OPS_H */
