
/*
 * The state of the store, as an instance sees it by the outcomes of its calls.
 *
 * The store is up if it commits, down if it does not answer or cannot be read,
 * and failing if it can be read but does not commit: its disk is full, it is
 * read-only, or somebody has locked it.
 *
 * A commit that was refused for good makes it fail at once.  An error that may
 * pass, such as a deadlock, does so only if no commit has succeeded until the
 * next one.  If it was of what writes intents or their attempts, only a commit
 * that has written some counts: somebody may have locked that table alone, while
 * leases are renewed.  A store that failed is up again after several commits in a row and
 * some time without a refusal, because on a disk that is nearly full small
 * commits succeed between others that do not.  If what was refused writes
 * intents or their attempts, which need more room than a lease or a probe, only
 * commits that have written intents count, or it takes more time in which
 * nothing was refused: nobody may be there who tries, but for probes.  A store
 * that was down is up at its first commit.
 *
 * If it is lost twice within a moment, some calls reach it and others do not, as
 * on a server with few connections left.  It is failing then, and not down and up with
 * every call, until nothing was lost for a while, or nothing committed.
 *
 * Times are microseconds on a clock that is never set.
 */

#ifndef SM_STORE_HEALTH_H
#define SM_STORE_HEALTH_H


#include "sm_str.h"


#define SM_STORE_HEALTH_REFUSALS  2             /* that may pass, in a row */
#define SM_STORE_HEALTH_COMMITS   3             /* in a row */
#define SM_STORE_HEALTH_CALM      3000000       /* since the last refusal */
#define SM_STORE_HEALTH_UNTRIED   5000000       /* the same, if rows are owed */
#define SM_STORE_HEALTH_TOGETHER  30000000      /* rows that were busy */
#define SM_STORE_HEALTH_FLAPS     2000000       /* between two losses */


typedef enum {
    SM_STORE_HEALTH_UNKNOWN = 0,        /* nothing was heard of it yet */
    SM_STORE_HEALTH_UP,
    SM_STORE_HEALTH_FAILING,
    SM_STORE_HEALTH_DOWN,
    SM_STORE_HEALTH_SCHEMA,             /* it has another version */
    SM_STORE_HEALTH_COUNT
} sm_store_health_e;


typedef enum {
    SM_STORE_HEALTH_EV_COMMITTED = 0,
    SM_STORE_HEALTH_EV_WRITTEN,         /* the same, and it has made intents */
    SM_STORE_HEALTH_EV_BUSY,            /* a commit failed, and may not again, */
    SM_STORE_HEALTH_EV_ROWS_BUSY,       /* which writes intents or attempts */
    SM_STORE_HEALTH_EV_REFUSED,         /* a commit failed for good, */
    SM_STORE_HEALTH_EV_ROWS_REFUSED,    /* which writes intents or attempts */
    SM_STORE_HEALTH_EV_READABLE,        /* a probe could only read */
    SM_STORE_HEALTH_EV_UNREADABLE,      /* a probe could not even read */
    SM_STORE_HEALTH_EV_LOST,            /* the store did not answer */
    SM_STORE_HEALTH_EV_SCHEMA,
    SM_STORE_HEALTH_EV_COUNT
} sm_store_health_event_e;


typedef struct {
    sm_store_health_e  state;
    int64_t            since;           /* when it began */
    int64_t            ended;           /* when it was up the last time */
    unsigned           refusals;        /* since the last commit */
    unsigned           commits;         /* since the last refusal */
    int64_t            refused_at;      /* the last one */
    unsigned           owes;            /* rows were refused, and none written
                                           since */
    unsigned           busy;            /* the same, of rows that were busy */
    int64_t            busy_at;         /* the last time */
    unsigned           fell;            /* it was down before, */
    int64_t            fell_at;         /* and since when */
    unsigned           flaps;           /* it is failing because it was lost */
    int64_t            committed_at;    /* the last time, while it flaps */
} sm_store_health_t;


/* Takes in what has happened.  Returns 1 if the state has changed. */
int sm_store_health_apply(sm_store_health_t *h, sm_store_health_event_e event,
    int64_t now);

/*
 * Says whether a probe has to find out if intents can be written: they were
 * refused, or had to wait a moment ago.
 */
int sm_store_health_doubts(const sm_store_health_t *h, int64_t now);

/* Returns the name by which a state is shown. */
sm_str_t sm_store_health_name(sm_store_health_e state);


#endif /* SM_STORE_HEALTH_H */
