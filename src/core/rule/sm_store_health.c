
#include "sm_store_health.h"


#define SM_STORE_HEALTH_STAYS  SM_STORE_HEALTH_COUNT


/*
 * What the next state is, if the counts do not say that it is too early for it.
 * While the store is down, a refused commit does not show that it can be read;
 * a probe does.
 */

#define STAYS    SM_STORE_HEALTH_STAYS
#define UP       SM_STORE_HEALTH_UP
#define FAILING  SM_STORE_HEALTH_FAILING
#define DOWN     SM_STORE_HEALTH_DOWN
#define SCHEMA   SM_STORE_HEALTH_SCHEMA

static const sm_store_health_e
    sm_store_health_next[SM_STORE_HEALTH_COUNT][SM_STORE_HEALTH_EV_COUNT] =
{
    /* committed, written, busy, rows busy, refused, rows refused,
       readable, unreadable, lost, schema */

    [SM_STORE_HEALTH_UNKNOWN] =
    {  UP, UP, FAILING, FAILING, FAILING, FAILING,
       FAILING, DOWN, DOWN, SCHEMA },

    [SM_STORE_HEALTH_UP] =
    {  STAYS, STAYS, FAILING, FAILING, FAILING, FAILING,
       FAILING, DOWN, DOWN, SCHEMA },

    [SM_STORE_HEALTH_FAILING] =
    {  UP, UP, STAYS, STAYS, STAYS, STAYS,
       STAYS, DOWN, DOWN, SCHEMA },

    [SM_STORE_HEALTH_DOWN] =
    {  UP, UP, STAYS, STAYS, STAYS, STAYS,
       FAILING, STAYS, STAYS, SCHEMA },

    [SM_STORE_HEALTH_SCHEMA] =
    {  UP, UP, STAYS, STAYS, STAYS, STAYS,
       FAILING, STAYS, DOWN, STAYS }
};

#undef STAYS
#undef UP
#undef FAILING
#undef DOWN
#undef SCHEMA


/* must be in the order of sm_store_health_e */

static const char  *sm_store_health_names[] = {
    "unknown", "up", "failing", "down", "schema_mismatch"
};

_Static_assert(sm_nelts(sm_store_health_names) == SM_STORE_HEALTH_COUNT,
               "a name for each state");


static void
sm_store_health_count(sm_store_health_t *h, sm_store_health_event_e event,
    int64_t now)
{
    if (event == SM_STORE_HEALTH_EV_COMMITTED
        || event == SM_STORE_HEALTH_EV_WRITTEN)
    {
        h->refusals = 0;
        h->committed_at = now;

        if (event == SM_STORE_HEALTH_EV_WRITTEN) {
            h->owes = 0;
            h->busy = 0;
        }

        if (h->commits < SM_STORE_HEALTH_COMMITS) {
            h->commits++;
        }

        return;
    }

    h->commits = 0;
    h->refused_at = now;

    if (event == SM_STORE_HEALTH_EV_ROWS_BUSY) {

        if (now - h->busy_at > SM_STORE_HEALTH_TOGETHER) {
            h->busy = 0;
        }

        h->busy_at = now;

        if (h->busy < SM_STORE_HEALTH_REFUSALS) {
            h->busy++;
        }
    }

    if (event == SM_STORE_HEALTH_EV_ROWS_REFUSED
        || h->busy == SM_STORE_HEALTH_REFUSALS
        || (h->busy && event == SM_STORE_HEALTH_EV_READABLE))
    {
        h->owes = 1;
    }

    if (h->refusals < SM_STORE_HEALTH_REFUSALS) {
        h->refusals++;
    }
}


static int
sm_store_health_early(const sm_store_health_t *h,
    sm_store_health_event_e event, int64_t now)
{
    int64_t  calm;

    switch (event) {

    case SM_STORE_HEALTH_EV_COMMITTED:
    case SM_STORE_HEALTH_EV_WRITTEN:
        calm = h->owes ? SM_STORE_HEALTH_UNTRIED : SM_STORE_HEALTH_CALM;

        return h->state == SM_STORE_HEALTH_FAILING
               && (h->commits < SM_STORE_HEALTH_COMMITS
                   || now - h->refused_at < calm);

    case SM_STORE_HEALTH_EV_BUSY:
    case SM_STORE_HEALTH_EV_ROWS_BUSY:
        return h->refusals < SM_STORE_HEALTH_REFUSALS
               && h->busy < SM_STORE_HEALTH_REFUSALS;

    case SM_STORE_HEALTH_EV_LOST:
        return h->flaps && now - h->committed_at < SM_STORE_HEALTH_CALM;

    default:
        return 0;
    }
}


int
sm_store_health_apply(sm_store_health_t *h, sm_store_health_event_e event,
    int64_t now)
{
    unsigned           flaps;
    sm_store_health_e  next;

    sm_store_health_count(h, event, now);

    next = sm_store_health_next[h->state][event];

    flaps = event == SM_STORE_HEALTH_EV_LOST
            && h->state == SM_STORE_HEALTH_UP && h->fell
            && now - h->fell_at < SM_STORE_HEALTH_FLAPS;

    if (flaps) {
        next = SM_STORE_HEALTH_FAILING;
        h->committed_at = now;
    }

    if (next == SM_STORE_HEALTH_STAYS || sm_store_health_early(h, event, now)) {
        return 0;
    }

    if (h->state == SM_STORE_HEALTH_UP) {
        h->ended = now;
    }

    if (next == SM_STORE_HEALTH_UP) {
        h->owes = 0;
        h->busy = 0;
    }

    if (next == SM_STORE_HEALTH_DOWN) {
        h->fell = 1;
        h->fell_at = now;
    }

    h->flaps = flaps;
    h->state = next;
    h->since = now;

    return 1;
}


int
sm_store_health_doubts(const sm_store_health_t *h, int64_t now)
{
    return h->owes
           || (h->busy && now - h->busy_at <= SM_STORE_HEALTH_TOGETHER);
}


sm_str_t
sm_store_health_name(sm_store_health_e state)
{
    return sm_str_c(sm_store_health_names[state]);
}
