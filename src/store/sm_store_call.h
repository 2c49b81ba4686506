
/* A call to the store: the memory it allocates, and how it ended. */

#ifndef SM_STORE_CALL_H
#define SM_STORE_CALL_H


#include "sm_arena.h"


typedef enum {
    SM_STORE_OK = 0,
    SM_STORE_TRANSIENT,         /* may work when tried again: locked, busy */
    SM_STORE_PERMANENT,         /* will not work until somebody fixes it */
    SM_STORE_SCHEMA,            /* the schema is of another version */
    SM_STORE_CONSTRAINT,        /* the store refused the data, not the call */
    SM_STORE_LEASE_LOST,        /* the fence of the call did not hold */
    SM_STORE_CLASSES
} sm_store_class_e;


#define SM_STORE_ERROR_SIZE  512

typedef struct {
    sm_arena_t             arena;
    sm_store_class_e       status;
    int                    code;        /* of the server; 0: our own */
    char                   error[SM_STORE_ERROR_SIZE];
    int64_t                now;         /* the store's time, if it was read */
    unsigned               asked;       /* it needed a connection */
    unsigned               unreached;   /* it got none, or lost it */
    unsigned               read_only;   /* the server takes no writes */
    unsigned               trial;       /* a ping tries to write an intent */
} sm_call_t;


/* Sets the call's status and error, and returns -1. */
int sm_call_fail(sm_call_t *call, sm_store_class_e status, int code,
    const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/* Fails a call that found no memory, and returns -1.  It may be tried again. */
int sm_call_no_memory(sm_call_t *call);

/* Leaves a warning in the error of a call that succeeds. */
void sm_call_warn(sm_call_t *call, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));


#endif /* SM_STORE_CALL_H */
