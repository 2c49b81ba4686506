
#include "sm_leader.h"


#define DO(act)  SM_LEADER_BIT(SM_LEADER_ACT_##act)

#define CHANGE(st, ev, to, acts, level, again, log)                           \
    [SM_LEADER_ST_##st][SM_LEADER_EV_##ev] = {                                \
        SM_LEADER_ST_##st, SM_LEADER_EV_##ev, SM_LEADER_ROW_CHANGE,           \
        SM_LEADER_ST_##to, acts,                                              \
        SM_LEADER_LOG_##level, SM_LEADER_LOG_##again, log }

#define SILENT(st, ev, to, acts)                                              \
    CHANGE(st, ev, to, acts, NONE, NONE, NULL)

#define IGNORE(st, ev)                                                        \
    [SM_LEADER_ST_##st][SM_LEADER_EV_##ev] = {                                \
        SM_LEADER_ST_##st, SM_LEADER_EV_##ev, SM_LEADER_ROW_IGNORE,           \
        SM_LEADER_ST_##st, 0, SM_LEADER_LOG_NONE, SM_LEADER_LOG_NONE, NULL }


/* An event that is not in the matrix, and so is all zero, never happens. */

static const sm_leader_row_t
    sm_leader_rows[SM_LEADER_ST_COUNT][SM_LEADER_EV_COUNT] =
{

    /*
     * STANDBY: another worker of the instance is its executor worker, or none
     * is yet.
     */

    SILENT(STANDBY, LOCKED, FOLLOWER, DO(TICK)),
    SILENT(STANDBY, EXIT, LEFT, DO(NO_TICK)),
    IGNORE(STANDBY, END),

    /* FOLLOWER: the executor worker asks for the lease, or watches it. */

    SILENT(FOLLOWER, GRANTED, RECOVERING,
           DO(TAKE) | DO(PUBLISH) | DO(DEADLINE) | DO(TICK)),
    CHANGE(FOLLOWER, DENIED, FOLLOWER,
           DO(LOG) | DO(PUBLISH) | DO(TICK),
           INFO, INFO, "leader_acquire_failed"),
    SILENT(FOLLOWER, WATCHED, FOLLOWER, DO(PUBLISH) | DO(TICK)),
    CHANGE(FOLLOWER, LOST, FOLLOWER,
           DO(LOG) | DO(FORGET) | DO(AIM) | DO(PUBLISH) | DO(TICK),
           ERR, INFO, "leader_acquire_failed"),
    SILENT(FOLLOWER, LATE, FOLLOWER, DO(TICK)),
    SILENT(FOLLOWER, FLUSHED, FOLLOWER, DO(TICK)),
    SILENT(FOLLOWER, EXIT, DRAINING, DO(STAY) | DO(PUBLISH) | DO(TICK)),

    /*
     * RECOVERING: the lease is held, and attempts of earlier epochs may be in
     * doubt.
     */

    CHANGE(RECOVERING, RECOVERED, LEADER,
           DO(LOG) | DO(PUBLISH) | DO(DEADLINE) | DO(TICK) | DO(START),
           NOTICE, NOTICE, "leader_acquired"),
    CHANGE(RECOVERING, LOST, FOLLOWER,
           DO(LOG) | DO(FORGET) | DO(AIM) | DO(PUBLISH)
           | DO(NO_DEADLINE) | DO(TICK),
           ERR, INFO, "leader_acquire_failed"),
    IGNORE(RECOVERING, FLUSHED),
    SILENT(RECOVERING, EXIT, DRAINING,
           DO(STAY) | DO(PUBLISH) | DO(NO_DEADLINE) | DO(TICK)),

    /*
     * LEADER: every way out stops the executor before anything else can
     * happen.
     */

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
    IGNORE(LEADER, FLUSHED),
    CHANGE(LEADER, EXIT, DRAINING,
           DO(LOG) | DO(STAY) | DO(PUBLISH) | DO(NO_DEADLINE)
           | DO(TICK) | DO(DRAIN),
           NOTICE, NOTICE, "leader_lost"),

    /*
     * DRAINING: the lease is kept for attempts that are at gateways, unless it
     * was lost before.
     */

    SILENT(DRAINING, RENEWED, DRAINING, DO(TAKE)),
    CHANGE(DRAINING, RENEW_FAILED, DRAINING,
           DO(LOG),
           ERR, NONE, "leader_renew_failed"),
    SILENT(DRAINING, NOT_HELD, DRAINING, DO(FORGET) | DO(DROP)),
    IGNORE(DRAINING, LOST),
    IGNORE(DRAINING, LATE),
    IGNORE(DRAINING, FLUSHED),
    IGNORE(DRAINING, EXIT),
    SILENT(DRAINING, DRAINED, RELEASING,
           DO(FORGET) | DO(PUBLISH) | DO(DROP) | DO(RELEASE)),
    SILENT(DRAINING, END, LEFT, DO(NO_TICK) | DO(DROP)),

    /*
     * RELEASING: the next worker with the lock publishes its role, too, so the
     * role was published before.
     */

    IGNORE(RELEASING, LOST),
    IGNORE(RELEASING, LATE),
    IGNORE(RELEASING, FLUSHED),
    IGNORE(RELEASING, EXIT),
    SILENT(RELEASING, DRAINED, RELEASING, DO(RELEASE)),
    SILENT(RELEASING, GONE, LEFT, DO(NO_TICK)),
    SILENT(RELEASING, END, LEFT, DO(NO_TICK)),

    /* LEFT: nothing more is expected. */

    IGNORE(LEFT, LOST),
    IGNORE(LEFT, LATE),
    IGNORE(LEFT, FLUSHED),
    IGNORE(LEFT, EXIT),
    IGNORE(LEFT, END)
};

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
    return &sm_leader_rows[state][event];
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
