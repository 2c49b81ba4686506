
#include "sm_leader.h"


#define DO(act)  SM_LEADER_BIT(SM_LEADER_ACT_##act)

#define CHANGE(st, ev, to, acts, level, again, log)                           \
    { SM_LEADER_ST_##st, SM_LEADER_EV_##ev, SM_LEADER_ROW_CHANGE,             \
      SM_LEADER_ST_##to, acts, SM_LEADER_LOG_##level, SM_LEADER_LOG_##again,  \
      log }

#define STAYS(st, ev, kind)                                                   \
    { SM_LEADER_ST_##st, SM_LEADER_EV_##ev, SM_LEADER_ROW_##kind,             \
      SM_LEADER_ST_##st, 0, SM_LEADER_LOG_NONE, SM_LEADER_LOG_NONE, NULL }

#define IGNORE(st, ev)  STAYS(st, ev, IGNORE)
#define NEVER(st, ev)   STAYS(st, ev, NEVER)


/* each event in each state, both in the order of their enumerations */

static const sm_leader_row_t  sm_leader_rows[] = {

    /* another worker of the instance is the executor worker, or none yet */

    CHANGE(STANDBY, LOCKED, FOLLOWER,
           DO(TICK),
           NONE, NONE, NULL),
    NEVER(STANDBY, GRANTED),
    NEVER(STANDBY, DENIED),
    NEVER(STANDBY, WATCHED),
    NEVER(STANDBY, RECOVERED),
    NEVER(STANDBY, RENEWED),
    NEVER(STANDBY, RENEW_FAILED),
    NEVER(STANDBY, NOT_HELD),
    NEVER(STANDBY, STARVED),
    NEVER(STANDBY, LOST),
    NEVER(STANDBY, LATE),
    NEVER(STANDBY, FLUSHED),
    CHANGE(STANDBY, EXIT, LEFT,
           DO(NO_TICK),
           NONE, NONE, NULL),
    NEVER(STANDBY, DRAINED),
    NEVER(STANDBY, GONE),
    IGNORE(STANDBY, END),

    /* the executor worker asks for the lease, or watches it */

    NEVER(FOLLOWER, LOCKED),
    CHANGE(FOLLOWER, GRANTED, RECOVERING,
           DO(TAKE) | DO(PUBLISH) | DO(DEADLINE) | DO(TICK),
           NONE, NONE, NULL),
    CHANGE(FOLLOWER, DENIED, FOLLOWER,
           DO(LOG) | DO(PUBLISH) | DO(TICK),
           INFO, INFO, "leader_acquire_failed"),
    CHANGE(FOLLOWER, WATCHED, FOLLOWER,
           DO(PUBLISH) | DO(TICK),
           NONE, NONE, NULL),
    NEVER(FOLLOWER, RECOVERED),
    NEVER(FOLLOWER, RENEWED),
    NEVER(FOLLOWER, RENEW_FAILED),
    NEVER(FOLLOWER, NOT_HELD),
    NEVER(FOLLOWER, STARVED),
    CHANGE(FOLLOWER, LOST, FOLLOWER,
           DO(LOG) | DO(FORGET) | DO(AIM) | DO(PUBLISH) | DO(TICK),
           ERR, INFO, "leader_acquire_failed"),
    CHANGE(FOLLOWER, LATE, FOLLOWER,
           DO(TICK),
           NONE, NONE, NULL),
    CHANGE(FOLLOWER, FLUSHED, FOLLOWER,
           DO(TICK),
           NONE, NONE, NULL),
    CHANGE(FOLLOWER, EXIT, DRAINING,
           DO(STAY) | DO(PUBLISH) | DO(TICK),
           NONE, NONE, NULL),
    NEVER(FOLLOWER, DRAINED),
    NEVER(FOLLOWER, GONE),
    NEVER(FOLLOWER, END),

    /* the lease is held, and attempts of earlier epochs may be in doubt */

    NEVER(RECOVERING, LOCKED),
    NEVER(RECOVERING, GRANTED),
    NEVER(RECOVERING, DENIED),
    NEVER(RECOVERING, WATCHED),
    CHANGE(RECOVERING, RECOVERED, LEADER,
           DO(LOG) | DO(PUBLISH) | DO(DEADLINE) | DO(TICK) | DO(START),
           NOTICE, NOTICE, "leader_acquired"),
    NEVER(RECOVERING, RENEWED),
    NEVER(RECOVERING, RENEW_FAILED),
    NEVER(RECOVERING, NOT_HELD),
    NEVER(RECOVERING, STARVED),
    CHANGE(RECOVERING, LOST, FOLLOWER,
           DO(LOG) | DO(FORGET) | DO(AIM) | DO(PUBLISH)
           | DO(NO_DEADLINE) | DO(TICK),
           ERR, INFO, "leader_acquire_failed"),
    NEVER(RECOVERING, LATE),
    IGNORE(RECOVERING, FLUSHED),
    CHANGE(RECOVERING, EXIT, DRAINING,
           DO(STAY) | DO(PUBLISH) | DO(NO_DEADLINE) | DO(TICK),
           NONE, NONE, NULL),
    NEVER(RECOVERING, DRAINED),
    NEVER(RECOVERING, GONE),
    NEVER(RECOVERING, END),

    /* every way out stops the executor before anything else can happen */

    NEVER(LEADER, LOCKED),
    NEVER(LEADER, GRANTED),
    NEVER(LEADER, DENIED),
    NEVER(LEADER, WATCHED),
    NEVER(LEADER, RECOVERED),
    CHANGE(LEADER, RENEWED, LEADER,
           DO(TAKE) | DO(LOG) | DO(WORKS) | DO(PUBLISH) | DO(DEADLINE)
           | DO(TICK),
           INFO, INFO, "leader_renewed"),
    CHANGE(LEADER, RENEW_FAILED, LEADER,
           DO(LOG),
           ERR, ERR, "leader_renew_failed"),
    CHANGE(LEADER, NOT_HELD, FOLLOWER,
           DO(LOG) | DO(FORGET) | DO(AIM) | DO(PUBLISH)
           | DO(NO_DEADLINE) | DO(TICK) | DO(DROP),
           ERR, ERR, "leader_lost"),
    CHANGE(LEADER, STARVED, FOLLOWER,
           DO(LOG) | DO(FORGET) | DO(AIM) | DO(YIELD) | DO(PUBLISH)
           | DO(NO_DEADLINE) | DO(TICK) | DO(DROP),
           ERR, ERR, "leader_lost"),
    CHANGE(LEADER, LOST, FOLLOWER,
           DO(LOG) | DO(FORGET) | DO(AIM) | DO(PUBLISH)
           | DO(NO_DEADLINE) | DO(TICK) | DO(DROP),
           ERR, ERR, "leader_lost"),
    NEVER(LEADER, LATE),
    IGNORE(LEADER, FLUSHED),
    CHANGE(LEADER, EXIT, DRAINING,
           DO(LOG) | DO(STAY) | DO(PUBLISH) | DO(NO_DEADLINE)
           | DO(TICK) | DO(DRAIN),
           NOTICE, NOTICE, "leader_lost"),
    NEVER(LEADER, DRAINED),
    NEVER(LEADER, GONE),
    NEVER(LEADER, END),

    /* the lease is kept for what is at gateways, or was lost before */

    NEVER(DRAINING, LOCKED),
    NEVER(DRAINING, GRANTED),
    NEVER(DRAINING, DENIED),
    NEVER(DRAINING, WATCHED),
    NEVER(DRAINING, RECOVERED),
    CHANGE(DRAINING, RENEWED, DRAINING,
           DO(TAKE),
           NONE, NONE, NULL),
    CHANGE(DRAINING, RENEW_FAILED, DRAINING,
           DO(LOG),
           ERR, NONE, "leader_renew_failed"),
    CHANGE(DRAINING, NOT_HELD, DRAINING,
           DO(FORGET) | DO(DROP),
           NONE, NONE, NULL),
    NEVER(DRAINING, STARVED),
    IGNORE(DRAINING, LOST),
    IGNORE(DRAINING, LATE),
    IGNORE(DRAINING, FLUSHED),
    IGNORE(DRAINING, EXIT),
    CHANGE(DRAINING, DRAINED, RELEASING,
           DO(FORGET) | DO(PUBLISH) | DO(DROP) | DO(RELEASE),
           NONE, NONE, NULL),
    NEVER(DRAINING, GONE),
    CHANGE(DRAINING, END, LEFT,
           DO(NO_TICK) | DO(DROP),
           NONE, NONE, NULL),

    /* whoever has the lock next publishes, too: the role is told before */

    NEVER(RELEASING, LOCKED),
    NEVER(RELEASING, GRANTED),
    NEVER(RELEASING, DENIED),
    NEVER(RELEASING, WATCHED),
    NEVER(RELEASING, RECOVERED),
    NEVER(RELEASING, RENEWED),
    NEVER(RELEASING, RENEW_FAILED),
    NEVER(RELEASING, NOT_HELD),
    NEVER(RELEASING, STARVED),
    IGNORE(RELEASING, LOST),
    IGNORE(RELEASING, LATE),
    IGNORE(RELEASING, FLUSHED),
    IGNORE(RELEASING, EXIT),
    CHANGE(RELEASING, DRAINED, RELEASING,
           DO(RELEASE),
           NONE, NONE, NULL),
    CHANGE(RELEASING, GONE, LEFT,
           DO(NO_TICK),
           NONE, NONE, NULL),
    CHANGE(RELEASING, END, LEFT,
           DO(NO_TICK),
           NONE, NONE, NULL),

    /* nothing is waited for */

    NEVER(LEFT, LOCKED),
    NEVER(LEFT, GRANTED),
    NEVER(LEFT, DENIED),
    NEVER(LEFT, WATCHED),
    NEVER(LEFT, RECOVERED),
    NEVER(LEFT, RENEWED),
    NEVER(LEFT, RENEW_FAILED),
    NEVER(LEFT, NOT_HELD),
    NEVER(LEFT, STARVED),
    IGNORE(LEFT, LOST),
    IGNORE(LEFT, LATE),
    IGNORE(LEFT, FLUSHED),
    IGNORE(LEFT, EXIT),
    NEVER(LEFT, DRAINED),
    NEVER(LEFT, GONE),
    IGNORE(LEFT, END)
};

_Static_assert(sm_nelts(sm_leader_rows)
               == SM_LEADER_ST_COUNT * SM_LEADER_EV_COUNT,
               "a row for each event in each state");

_Static_assert(SM_LEADER_ACT_COUNT <= 32, "actions are bits of an unsigned");


static const char *const  sm_leader_states[] = {
    [SM_LEADER_ST_STANDBY] = "standby",
    [SM_LEADER_ST_FOLLOWER] = "follower",
    [SM_LEADER_ST_RECOVERING] = "recovering",
    [SM_LEADER_ST_LEADER] = "leader",
    [SM_LEADER_ST_DRAINING] = "draining",
    [SM_LEADER_ST_RELEASING] = "releasing",
    [SM_LEADER_ST_LEFT] = "left"
};

_Static_assert(sm_nelts(sm_leader_states) == SM_LEADER_ST_COUNT,
               "a name for each state");


static const char *const  sm_leader_events[] = {
    [SM_LEADER_EV_LOCKED] = "locked",
    [SM_LEADER_EV_GRANTED] = "granted",
    [SM_LEADER_EV_DENIED] = "denied",
    [SM_LEADER_EV_WATCHED] = "watched",
    [SM_LEADER_EV_RECOVERED] = "recovered",
    [SM_LEADER_EV_RENEWED] = "renewed",
    [SM_LEADER_EV_RENEW_FAILED] = "renew_failed",
    [SM_LEADER_EV_NOT_HELD] = "not_held",
    [SM_LEADER_EV_STARVED] = "starved",
    [SM_LEADER_EV_LOST] = "lost",
    [SM_LEADER_EV_LATE] = "late",
    [SM_LEADER_EV_FLUSHED] = "flushed",
    [SM_LEADER_EV_EXIT] = "exit",
    [SM_LEADER_EV_DRAINED] = "drained",
    [SM_LEADER_EV_GONE] = "gone",
    [SM_LEADER_EV_END] = "end"
};

_Static_assert(sm_nelts(sm_leader_events) == SM_LEADER_EV_COUNT,
               "a name for each event");


const sm_leader_row_t *
sm_leader_row(sm_leader_state_e state, sm_leader_event_e event)
{
    return &sm_leader_rows[state * SM_LEADER_EV_COUNT + event];
}


const char *
sm_leader_state_name(sm_leader_state_e state)
{
    return sm_leader_states[state];
}


const char *
sm_leader_event_name(sm_leader_event_e event)
{
    return sm_leader_events[event];
}


int
sm_leader_sends(sm_leader_state_e state)
{
    return state == SM_LEADER_ST_LEADER || state == SM_LEADER_ST_DRAINING;
}


int
sm_leader_leaving(sm_leader_state_e state)
{
    return state == SM_LEADER_ST_DRAINING || state == SM_LEADER_ST_RELEASING;
}


int
sm_leader_elected(sm_leader_state_e state)
{
    return state != SM_LEADER_ST_STANDBY && state != SM_LEADER_ST_LEFT;
}
