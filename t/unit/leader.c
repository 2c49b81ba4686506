
/*
 * The leader's table.  First every pair, against a second copy that is written
 * in another way; then what has to hold whatever the rows say, as in
 * t/model/lease.pml.  Broken by: a row that is absent, out of order, or leads
 * elsewhere; a way out of the lead that leaves the executor running; a way to
 * lead without a grant and a recovery; an exit that keeps the lease.
 */

#include "sm_leader.h"
#include "tap.h"


#define ST(x)   SM_LEADER_ST_##x
#define EV(x)   SM_LEADER_EV_##x
#define ACT(x)  SM_LEADER_BIT(SM_LEADER_ACT_##x)


/*
 * The next state by its letter: standBy, Follower, Recovering, leAder,
 * Draining, reLeasing, leftX; "." is ignored, "!" never comes.
 */

static const char  test_letters[] = "BFRADLX";

static const char *const  test_pairs[] = {

    /* LOCKED GRANTED DENIED WATCHED RECOVERED RENEWED RENEW_FAILED NOT_HELD
     * STARVED LOST LATE FLUSHED EXIT DRAINED GONE END */

    "F!!!!!!!" "!!!!X!!.",      /* standby */
    "!RFF!!!!" "!FFFD!!!",      /* follower */
    "!!!!A!!!" "!F!.D!!!",      /* recovering */
    "!!!!!AAF" "FF!.D!!!",      /* leader */
    "!!!!!DDD" "!....L!X",      /* draining */
    "!!!!!!!!" "!....LXX",      /* releasing */
    "!!!!!!!!" "!....!!.",      /* left */
};

_Static_assert(sizeof(test_pairs) / sizeof(test_pairs[0])
               == SM_LEADER_ST_COUNT, "each state");


typedef struct {
    sm_leader_state_e   state;
    sm_leader_event_e   event;
    unsigned            actions;
    sm_leader_log_e     level;
    sm_leader_log_e     again;
    const char         *log;
} test_row_t;


#define LINE(level, again, log)                                               \
    SM_LEADER_LOG_##level, SM_LEADER_LOG_##again, log

#define LOSS  (ACT(FORGET) | ACT(AIM) | ACT(PUBLISH) | ACT(TICK))
#define OUT   (LOSS | ACT(LOG) | ACT(NO_DEADLINE) | ACT(DROP))

static const test_row_t  test_rows[] = {
    { ST(STANDBY), EV(LOCKED), ACT(TICK), LINE(NONE, NONE, NULL) },
    { ST(STANDBY), EV(EXIT), ACT(NO_TICK), LINE(NONE, NONE, NULL) },

    { ST(FOLLOWER), EV(GRANTED),
      ACT(TAKE) | ACT(PUBLISH) | ACT(DEADLINE) | ACT(TICK),
      LINE(NONE, NONE, NULL) },
    { ST(FOLLOWER), EV(DENIED), ACT(LOG) | ACT(PUBLISH) | ACT(TICK),
      LINE(INFO, INFO, "leader_acquire_failed") },
    { ST(FOLLOWER), EV(WATCHED), ACT(PUBLISH) | ACT(TICK),
      LINE(NONE, NONE, NULL) },
    { ST(FOLLOWER), EV(LOST), LOSS | ACT(LOG),
      LINE(ERR, INFO, "leader_acquire_failed") },
    { ST(FOLLOWER), EV(LATE), ACT(TICK), LINE(NONE, NONE, NULL) },
    { ST(FOLLOWER), EV(FLUSHED), ACT(TICK), LINE(NONE, NONE, NULL) },
    { ST(FOLLOWER), EV(EXIT), ACT(STAY) | ACT(PUBLISH) | ACT(TICK),
      LINE(NONE, NONE, NULL) },

    { ST(RECOVERING), EV(RECOVERED),
      ACT(LOG) | ACT(PUBLISH) | ACT(DEADLINE) | ACT(TICK) | ACT(START),
      LINE(NOTICE, NOTICE, "leader_acquired") },
    { ST(RECOVERING), EV(LOST), LOSS | ACT(LOG) | ACT(NO_DEADLINE),
      LINE(ERR, INFO, "leader_acquire_failed") },
    { ST(RECOVERING), EV(EXIT),
      ACT(STAY) | ACT(PUBLISH) | ACT(NO_DEADLINE) | ACT(TICK),
      LINE(NONE, NONE, NULL) },

    { ST(LEADER), EV(RENEWED),
      ACT(TAKE) | ACT(LOG) | ACT(WORKS) | ACT(PUBLISH) | ACT(DEADLINE)
      | ACT(TICK),
      LINE(INFO, INFO, "leader_renewed") },
    { ST(LEADER), EV(RENEW_FAILED), ACT(LOG),
      LINE(ERR, ERR, "leader_renew_failed") },
    { ST(LEADER), EV(NOT_HELD), OUT, LINE(ERR, ERR, "leader_lost") },
    { ST(LEADER), EV(STARVED), OUT | ACT(YIELD),
      LINE(ERR, ERR, "leader_lost") },
    { ST(LEADER), EV(LOST), OUT, LINE(ERR, ERR, "leader_lost") },
    { ST(LEADER), EV(EXIT),
      ACT(LOG) | ACT(STAY) | ACT(PUBLISH) | ACT(NO_DEADLINE) | ACT(TICK)
      | ACT(DRAIN),
      LINE(NOTICE, NOTICE, "leader_lost") },

    { ST(DRAINING), EV(RENEWED), ACT(TAKE), LINE(NONE, NONE, NULL) },
    { ST(DRAINING), EV(RENEW_FAILED), ACT(LOG),
      LINE(ERR, NONE, "leader_renew_failed") },
    { ST(DRAINING), EV(NOT_HELD), ACT(FORGET) | ACT(DROP),
      LINE(NONE, NONE, NULL) },
    { ST(DRAINING), EV(DRAINED),
      ACT(FORGET) | ACT(PUBLISH) | ACT(DROP) | ACT(RELEASE),
      LINE(NONE, NONE, NULL) },
    { ST(DRAINING), EV(END), ACT(NO_TICK) | ACT(DROP),
      LINE(NONE, NONE, NULL) },

    { ST(RELEASING), EV(DRAINED), ACT(RELEASE), LINE(NONE, NONE, NULL) },
    { ST(RELEASING), EV(GONE), ACT(NO_TICK), LINE(NONE, NONE, NULL) },
    { ST(RELEASING), EV(END), ACT(NO_TICK), LINE(NONE, NONE, NULL) },
};

#define NROWS  (sizeof(test_rows) / sizeof(test_rows[0]))


static void
test_pair(sm_leader_state_e s, sm_leader_event_e e)
{
    size_t                  i;
    char                    letter;
    const sm_leader_row_t  *row;

    static const sm_leader_row_t  none;

    row = sm_leader_row(s, e);
    letter = test_pairs[s][e];

    diag("%s, %s", sm_leader_state_name(s), sm_leader_event_name(e));

    if (letter == '!') {
        is_int(row->kind, SM_LEADER_ROW_NEVER, "its kind");
        ok(memcmp(row, &none, sizeof(sm_leader_row_t)) == 0,
           "it is not in the matrix");
        return;
    }

    ok(row->state == s && row->event == e, "the row is where it belongs");

    if (letter == '.') {
        is_int(row->kind, SM_LEADER_ROW_IGNORE, "its kind");
        ok(row->next == s && row->actions == 0 && row->log == NULL
           && row->level == SM_LEADER_LOG_NONE, "it does nothing");
        return;
    }

    is_int(row->kind, SM_LEADER_ROW_CHANGE, "its kind");
    is_int(test_letters[row->next], letter, "the next state");

    for (i = 0; i < NROWS; i++) {
        if (test_rows[i].state == s && test_rows[i].event == e) {
            break;
        }
    }

    if (!ok(i < NROWS, "it was expected to change something")) {
        return;
    }

    is_int(row->actions, test_rows[i].actions, "its actions");
    is_int(row->level, test_rows[i].level, "its level");
    is_int(row->again, test_rows[i].again, "its level when repeated");
    is_str(row->log, test_rows[i].log, "its line");
}


static void
test_every_pair(void)
{
    unsigned  s, e, n;

    for (s = 0, n = 0; s < SM_LEADER_ST_COUNT; s++) {
        is_int(strlen(test_pairs[s]), SM_LEADER_EV_COUNT, "each event");

        for (e = 0; e < SM_LEADER_EV_COUNT; e++) {
            test_pair(s, e);
            n += sm_leader_row(s, e)->kind == SM_LEADER_ROW_CHANGE;
        }
    }

    is_int(n, NROWS, "the rows that change something");
}


/* whether any row that changes something breaks a rule */

static unsigned
test_broken(int (*breaks)(const sm_leader_row_t *row))
{
    unsigned                s, e, n;
    const sm_leader_row_t  *row;

    n = 0;

    for (s = 0; s < SM_LEADER_ST_COUNT; s++) {
        for (e = 0; e < SM_LEADER_EV_COUNT; e++) {
            row = sm_leader_row(s, e);

            if (row->kind == SM_LEADER_ROW_CHANGE && breaks(row)) {
                n++;
                diag("by %s, %s", sm_leader_state_name(s),
                     sm_leader_event_name(e));
            }
        }
    }

    return n;
}


static int
enters(const sm_leader_row_t *row, sm_leader_state_e state)
{
    return row->next == state && row->state != state;
}


static int
leaves(const sm_leader_row_t *row, sm_leader_state_e state)
{
    return row->state == state && row->next != state;
}


static int
does(const sm_leader_row_t *row, unsigned actions)
{
    return (row->actions & actions) == actions;
}


static int
leads_otherwise(const sm_leader_row_t *row)
{
    return (enters(row, ST(LEADER))
            && !(row->state == ST(RECOVERING) && row->event == EV(RECOVERED)
                 && does(row, ACT(START) | ACT(PUBLISH))))
           || (enters(row, ST(RECOVERING))
               && !(row->state == ST(FOLLOWER) && row->event == EV(GRANTED)
                    && does(row, ACT(TAKE))));
}


static int
starts_otherwise(const sm_leader_row_t *row)
{
    return does(row, ACT(START)) && row->next != ST(LEADER);
}


static int
executes_on(const sm_leader_row_t *row)
{
    return leaves(row, ST(LEADER))
           && !does(row, row->next == ST(DRAINING) ? ACT(DRAIN) : ACT(DROP));
}


static int
drains_on(const sm_leader_row_t *row)
{
    return leaves(row, ST(DRAINING)) && !does(row, ACT(DROP));
}


static int
leads_in_secret(const sm_leader_row_t *row)
{
    return (enters(row, ST(LEADER)) || leaves(row, ST(LEADER)))
           && !does(row, ACT(PUBLISH));
}


static int
keeps_its_epoch(const sm_leader_row_t *row)
{
    return (row->next == ST(FOLLOWER) && row->state >= ST(RECOVERING)
            && !does(row, ACT(FORGET)))
           || (enters(row, ST(RELEASING)) && !does(row, ACT(FORGET)));
}


static int
has_no_deadline(const sm_leader_row_t *row)
{
    int  held, holds;

    held = row->state == ST(RECOVERING) || row->state == ST(LEADER);
    holds = row->next == ST(RECOVERING) || row->next == ST(LEADER);

    if (held && !holds) {
        return !does(row, ACT(NO_DEADLINE)) || does(row, ACT(DEADLINE));
    }

    return holds && (!held || does(row, ACT(TAKE)))
           && !does(row, ACT(DEADLINE));
}


static int
takes_otherwise(const sm_leader_row_t *row)
{
    return does(row, ACT(TAKE)) && row->event != EV(GRANTED)
           && row->event != EV(RENEWED);
}


static int
keeps_the_lease(const sm_leader_row_t *row)
{
    return (enters(row, ST(LEFT)) && row->state != ST(STANDBY)
            && row->state != ST(RELEASING) && row->event != EV(END))
           || (enters(row, ST(RELEASING)) && !does(row, ACT(RELEASE)))
           || (does(row, ACT(RELEASE)) && row->next != ST(RELEASING));
}


static int
comes_back(const sm_leader_row_t *row)
{
    return row->state >= ST(DRAINING) && row->next < row->state;
}


static int
stops_ticking(const sm_leader_row_t *row)
{
    if (row->next == ST(LEFT)) {
        return !does(row, ACT(NO_TICK)) || does(row, ACT(TICK));
    }

    return (row->next != row->state && row->next != ST(RELEASING)
            && !does(row, ACT(TICK)))
           || does(row, ACT(NO_TICK));
}


static int
exits_early(const sm_leader_row_t *row)
{
    return enters(row, ST(DRAINING)) && !does(row, ACT(STAY));
}


static int
logs_nothing(const sm_leader_row_t *row)
{
    return !!does(row, ACT(LOG)) != (row->level != SM_LEADER_LOG_NONE)
           || !!does(row, ACT(LOG)) != (row->log != NULL)
           || row->again > row->level
           || ((enters(row, ST(LEADER)) || leaves(row, ST(LEADER)))
               && row->level < SM_LEADER_LOG_NOTICE);
}


static void
test_rules(void)
{
    is_int(test_broken(leads_otherwise), 0,
           "nobody leads without GRANTED, and then RECOVERED");
    is_int(test_broken(starts_otherwise), 0, "only a leader executes");
    is_int(test_broken(executes_on), 0,
           "every way out of LEADER drops the executor, or drains it");
    is_int(test_broken(drains_on), 0, "draining ends without an executor");
    is_int(test_broken(leads_in_secret), 0, "the role is published");
    is_int(test_broken(keeps_its_epoch), 0,
           "a lease that is lost or released is forgotten");
    is_int(test_broken(has_no_deadline), 0,
           "there is a deadline as long as the lease is held, and no longer");
    is_int(test_broken(takes_otherwise), 0,
           "an epoch comes from the store's grant");
    is_int(test_broken(keeps_the_lease), 0,
           "an exit in peace goes by RELEASING, which releases");
    is_int(test_broken(comes_back), 0, "an exit is final");
    is_int(test_broken(stops_ticking), 0, "there is a next step until LEFT");
    is_int(test_broken(exits_early), 0, "the worker stays until it has left");
    is_int(test_broken(logs_nothing), 0, "who leads can be seen in the log");
}


/* every state can be reached, and LEFT from each of them */

static void
test_paths(void)
{
    unsigned                s, t, e, again, reach[SM_LEADER_ST_COUNT];
    const sm_leader_row_t  *row;

    for (s = 0; s < SM_LEADER_ST_COUNT; s++) {
        reach[s] = 1u << s;
    }

    do {
        again = 0;

        for (s = 0; s < SM_LEADER_ST_COUNT; s++) {
            for (t = 0; t < SM_LEADER_ST_COUNT; t++) {
                for (e = 0; (reach[s] & 1u << t) && e < SM_LEADER_EV_COUNT;
                     e++)
                {
                    row = sm_leader_row(t, e);

                    if (row->kind == SM_LEADER_ROW_NEVER) {
                        continue;
                    }

                    again |= !(reach[s] & 1u << row->next);
                    reach[s] |= 1u << row->next;
                }
            }
        }

    } while (again);

    is_int(reach[ST(STANDBY)], (1u << SM_LEADER_ST_COUNT) - 1,
           "every state is reached");

    for (s = 0; s < SM_LEADER_ST_COUNT; s++) {
        ok(reach[s] & 1u << ST(LEFT), "%s ends", sm_leader_state_name(s));
    }
}


static void
test_states(void)
{
    unsigned  s;

    for (s = 0; s < SM_LEADER_ST_COUNT; s++) {
        is_int(sm_leader_sends(s), s == ST(LEADER) || s == ST(DRAINING),
               "whether %s sends", sm_leader_state_name(s));
        is_int(sm_leader_leaving(s), s == ST(DRAINING) || s == ST(RELEASING),
               "whether %s leaves", sm_leader_state_name(s));
        is_int(sm_leader_elected(s), s > ST(STANDBY) && s < ST(LEFT),
               "whether %s has the lock", sm_leader_state_name(s));
    }
}


int
main(void)
{
    test_every_pair();
    test_rules();
    test_paths();
    test_states();

    return done_testing();
}
