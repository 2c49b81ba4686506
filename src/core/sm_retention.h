
/*
 * How long intents are kept that have ended.
 */

#ifndef SM_RETENTION_H
#define SM_RETENTION_H


#include "sm_arena.h"
#include "sm_intent.h"


/* microseconds since an intent ended; 0: for ever */

typedef struct {
    int64_t               strip;        /* payload and attempts */
    int64_t               forget;       /* all of it */
} sm_retention_rule_t;

typedef struct {
    sm_retention_rule_t   statuses[SM_STATUS_COUNT];
    int64_t               audit;
    int64_t               refused;      /* by the inbox */
} sm_retention_rules_t;


/*
 * One batch.  A pass goes through the targets in the order of their names, and
 * ends with the audit and the refusals.
 */

typedef struct {
    const sm_retention_rules_t  *rules;
    size_t                limit;        /* of rows, those of attempts too */
    sm_str_t              after;        /* the target before; may be empty */

    int64_t               stripped;
    int64_t               forgotten;
    int64_t               others;       /* of the audit, and refusals */
    int64_t               overdue;      /* the oldest of them was, usec */
    sm_str_t              done;         /* the last target that is through */
    unsigned              end;          /* of the pass */
} sm_retention_t;


/*
 * When the payload and the attempts go: what is to be forgotten is stripped
 * first.  0: never.
 */
int64_t sm_retention_strip(const sm_retention_rule_t *rule);

/* [{"status":"accepted","strip":1,"forget":2},...], without what is kept */
int sm_retention_doc(sm_arena_t *arena, const sm_retention_rules_t *rules,
    sm_str_t *doc);


#endif /* SM_RETENTION_H */
