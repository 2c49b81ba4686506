
/*
 * The leader's states, and what each event does in each of them: one matrix.
 *
 * An executor worker looks a row up, sets the state, and runs the row's actions
 * in the order of their enumeration.  Nothing else changes the state.  Attempts
 * leave only in LEADER and DRAINING. Every way out of LEADER stops the executor
 * in the same step, and the lease is given up only after the last outcome was
 * recorded.
 */

#ifndef SM_LEADER_H
#define SM_LEADER_H


#include "sm_str.h"


typedef enum {
    SM_LEADER_ST_STANDBY = 0,       /* another worker has the lock, or none */
    SM_LEADER_ST_FOLLOWER,          /* this is the executor worker */
    SM_LEADER_ST_RECOVERING,        /* the lease is held; some is in doubt */
    SM_LEADER_ST_LEADER,
    SM_LEADER_ST_DRAINING,          /* exiting: what was sent may end */
    SM_LEADER_ST_RELEASING,         /* exiting: the lease is given up */
    SM_LEADER_ST_LEFT,
    SM_LEADER_ST_COUNT
} sm_leader_state_e;


typedef enum {
    SM_LEADER_EV_LOCKED = 0,        /* this is the executor worker now */
    SM_LEADER_EV_GRANTED,           /* acquired, or taken over */
    SM_LEADER_EV_DENIED,            /* another one holds it */
    SM_LEADER_EV_WATCHED,           /* the row was looked at */
    SM_LEADER_EV_RECOVERED,         /* what was in doubt is settled */
    SM_LEADER_EV_RENEWED,
    SM_LEADER_EV_RENEW_FAILED,      /* by an error of the store */
    SM_LEADER_EV_NOT_HELD,          /* the row says that another holds it */
    SM_LEADER_EV_STARVED,           /* another may have connections left */
    SM_LEADER_EV_LOST,              /* an error, or the deadline */
    SM_LEADER_EV_LATE,              /* an answer of a state that has passed */
    SM_LEADER_EV_FLUSHED,           /* old outcomes have been recorded */
    SM_LEADER_EV_EXIT,              /* the worker shuts down */
    SM_LEADER_EV_DRAINED,           /* nothing is left to be recorded */
    SM_LEADER_EV_GONE,              /* lease and lock are handed over */
    SM_LEADER_EV_END,               /* the worker is being terminated */
    SM_LEADER_EV_COUNT
} sm_leader_event_e;


/* The actions of a row are run in this order. */

typedef enum {
    SM_LEADER_ACT_TAKE = 0,         /* the epoch and deadline of the grant */
    SM_LEADER_ACT_LOG,
    SM_LEADER_ACT_FORGET,           /* the epoch */
    SM_LEADER_ACT_AIM,              /* the next acquire is due at once */
    SM_LEADER_ACT_YIELD,            /* unless another one comes first */
    SM_LEADER_ACT_WORKS,            /* this epoch has not failed */
    SM_LEADER_ACT_STAY,             /* the worker exits after the last tick */
    SM_LEADER_ACT_PUBLISH,          /* the role, in shared memory */
    SM_LEADER_ACT_DEADLINE,         /* the lease ends by a timer */
    SM_LEADER_ACT_NO_DEADLINE,
    SM_LEADER_ACT_TICK,             /* the next call is made by a timer */
    SM_LEADER_ACT_NO_TICK,
    SM_LEADER_ACT_START,            /* the executor */
    SM_LEADER_ACT_DROP,             /* the executor, at once */
    SM_LEADER_ACT_DRAIN,            /* the executor begins nothing more */
    SM_LEADER_ACT_RELEASE,          /* the lease, and then the lock */
    SM_LEADER_ACT_COUNT
} sm_leader_act_e;

#define SM_LEADER_BIT(act)  (1u << (act))


typedef enum {
    SM_LEADER_ROW_NEVER = 0,        /* it cannot come: an alert */
    SM_LEADER_ROW_CHANGE,
    SM_LEADER_ROW_IGNORE,           /* it may come, and changes nothing */
    SM_LEADER_ROW_COUNT
} sm_leader_row_e;


typedef enum {
    SM_LEADER_LOG_NONE = 0,
    SM_LEADER_LOG_INFO,
    SM_LEADER_LOG_NOTICE,
    SM_LEADER_LOG_ERR,
    SM_LEADER_LOG_COUNT
} sm_leader_log_e;


typedef struct {
    sm_leader_state_e   state;
    sm_leader_event_e   event;

    sm_leader_row_e     kind;
    sm_leader_state_e   next;
    unsigned            actions;    /* bits */

    sm_leader_log_e     level;
    sm_leader_log_e     again;      /* while the store keeps on failing */
    const char         *log;
} sm_leader_row_t;


const sm_leader_row_t *sm_leader_row(sm_leader_state_e state,
    sm_leader_event_e event);

const char *sm_leader_state_name(sm_leader_state_e state);
const char *sm_leader_event_name(sm_leader_event_e event);

/* Returns whether attempts of the epoch may leave, as long as there is time. */
int sm_leader_sends(sm_leader_state_e state);

/* Returns whether the worker exits: the lease is kept, or being given up. */
int sm_leader_leaving(sm_leader_state_e state);

/* Returns whether this is the executor worker of the instance. */
int sm_leader_elected(sm_leader_state_e state);


#endif /* SM_LEADER_H */
