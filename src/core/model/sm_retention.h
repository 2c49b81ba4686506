
/*
 * How long the store keeps intents that have ended, and how fast it removes
 * them.
 */

#ifndef SM_RETENTION_H
#define SM_RETENTION_H


#include "sm_arena.h"
#include "sm_intent.h"


/* Microseconds since an intent has ended; 0 keeps it for ever. */

typedef struct {
    int64_t               strip;        /* payload and attempts */
    int64_t               forget;       /* all of it */
} sm_retention_rule_t;

typedef struct {
    sm_retention_rule_t   statuses[SM_STATUS_COUNT];
    int64_t               audit;
    int64_t               refused;      /* by the inbox */
    int64_t               jobs;         /* since they ended */
} sm_retention_rules_t;


/*
 * One batch of a pass.  A pass goes through the targets in the order of their
 * names, and ends with the audit, the refusals and the jobs.
 */

typedef struct {
    const sm_retention_rules_t  *rules;
    size_t                limit;        /* of rows, those of attempts too */
    sm_str_t              after;        /* the target before; may be empty */

    /*
     * where the last batch stopped within a target, in words of the store, so
     * that rows that are dead under a long snapshot are not passed again; no
     * data: at the beginning of the next target
     */
    sm_str_t              from;

    /*
     * everything that was due at this time is done, but for what a pass that
     * began then could not see; microseconds, 0 if that is not known
     */
    int64_t               since;

    int64_t               stripped;
    int64_t               forgotten;
    int64_t               others;       /* audit, refusals, jobs */
    int64_t               rows;         /* of the limit that were used up */
    int64_t               overdue;      /* the oldest of them was, usec */
    sm_str_t              done;         /* the last target that is through */
    sm_str_t              place;        /* "from" of the next batch */
    unsigned              end;          /* of the pass */
} sm_retention_t;


/*
 * The pace.  A batch holds the lease's row, so what it takes is lost for turns:
 * it is followed by a rest that is many times as long as it should have taken,
 * fewer times while no attempt is under way.
 *
 * How long a call took says little of that: on a busy machine it mostly waits
 * for a core, or for a turn to let go of the lease.  What counts is the
 * quickest row of late.  A quicker one counts at once; a slower one raises it
 * by a sixteenth at most, whatever it took.
 *
 * A batch is as large as one should be that takes SM_RETENTION_AIM, and no rest
 * is longer than SM_RETENTION_REST_MAX.  So there is always an end: at least
 * SM_RETENTION_LEAST rows in that time and a call's, more than ten million a
 * day, even where a call takes a second.
 */

#define SM_RETENTION_LEAST      250         /* rows of a batch */
#define SM_RETENTION_MOST       1000
#define SM_RETENTION_AIM        10000       /* microseconds */
#define SM_RETENTION_BUSY       100         /* times what a batch takes */
#define SM_RETENTION_IDLE       10
#define SM_RETENTION_REST_MIN   20          /* milliseconds */
#define SM_RETENTION_REST_MAX   1000

typedef struct {
    int64_t               row;          /* nanoseconds; 0: not known yet */
} sm_retention_pace_t;


/*
 * Where passes begin.  A pass strips what is to be forgotten, and the next one
 * forgets it: so the one after those needs to look at nothing that was due when
 * the first of them began.  Once in SM_RETENTION_WHOLE a pass looks at all, for
 * rows that were committed late or by a clock that was set.
 */

#define SM_RETENTION_WHOLE      (INT64_C(3600) * 1000000)

typedef struct {
    int64_t               began;        /* this pass, by the store; or 0 */
    int64_t               last;         /* the one before it */
    int64_t               since;        /* for this pass */
    int64_t               whole;        /* the last pass that looked at all */
} sm_retention_passes_t;


/* Books a batch, with its time and whether it was the last of its pass. */
void sm_retention_passed(sm_retention_passes_t *passes, int64_t now,
    unsigned end);

/*
 * What was done on a day by UTC, whoever led.  A leader hands it to the next
 * one by its document.  If that was not the last thing that it did, or if a
 * batch was under way then, what is missing is not known: "unsure" is the last
 * day for which that holds.
 */

#define SM_RETENTION_DAY        (INT64_C(86400) * 1000000)

typedef struct {
    int64_t               day;          /* since 1970; 0: nothing to tell */
    int64_t               last;         /* batch of that day, microseconds */
    int64_t               stripped;
    int64_t               forgotten;
    int64_t               unsure;       /* 0: what is counted is all */
} sm_retention_day_t;


/* Says whether a day that has something to tell is over. */
int sm_retention_day_over(const sm_retention_day_t *d, int64_t now);

/* Says whether more was done on the day than was counted, maybe. */
int sm_retention_day_unsure(const sm_retention_day_t *d);

/*
 * Books what a batch has done, after the end of the day before was told.  Says
 * whether it is the first one of its day that has done anything.
 */
int sm_retention_day_add(sm_retention_day_t *d, const sm_retention_t *rt,
    int64_t now);

/*
 * Goes on with what the leader before has told, or with nothing: NULL.  "whole"
 * says that it has told all.
 */
void sm_retention_day_learn(sm_retention_day_t *d,
    const sm_retention_day_t *told, unsigned whole, int64_t now);


/* Returns how many rows the next batch may have. */
size_t sm_retention_limit(const sm_retention_pace_t *pace);

/*
 * Books that a batch of so many rows took so many microseconds.  Returns how
 * long to rest, in milliseconds.
 */
int64_t sm_retention_rest(sm_retention_pace_t *pace, size_t rows, int64_t took,
    unsigned busy);

/*
 * Returns when the payload and the attempts are removed, or 0 for never.  What
 * is to be forgotten is stripped first.
 */
int64_t sm_retention_strip(const sm_retention_rule_t *rule);

/*
 * Writes [{"status":"accepted","strip":1,"forget":2},...], without what is kept
 * for ever.
 */
int sm_retention_doc(sm_arena_t *arena, const sm_retention_rules_t *rules,
    sm_str_t *doc);


#endif /* SM_RETENTION_H */
