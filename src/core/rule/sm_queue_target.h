
/*
 * The targets of the queue: what each is held to, and what its gateway said.
 */

#ifndef SM_QUEUE_TARGET_H
#define SM_QUEUE_TARGET_H


#include "sm_limit.h"
#include "sm_queue.h"


typedef enum {
    SM_TARGET_OPEN = 0,
    SM_TARGET_PAUSED,
    SM_TARGET_CIRCUIT_OPEN,     /* or the gateway has asked for a rest */
    SM_TARGET_STATES
} sm_target_state_e;


/* "circuit_open_until" may have passed: the probe is to come, or under way. */

typedef struct {
    sm_target_state_e     state;
    unsigned              paused;
    int64_t               circuit_open_until;   /* the clock's; 0: closed */
    unsigned              failures;             /* errors in a row */
    int64_t               tokens;               /* with a rate */
    size_t                due;                  /* that could begin */
    size_t                waiting;              /* for their time */
    size_t                in_flight;
    int64_t               oldest_due;           /* its time; 0: none is due */
} sm_target_state_t;


/*
 * Keeps a target with its rules, even without intents, and gives it a number:
 * from 0, in the order of calls.  Its bucket is empty, because what another
 * leader has sent a moment ago is not known here.  Returns -1 without memory.
 */
int sm_queue_keep(sm_queue_t *s, sm_str_t name,
    const sm_target_rules_t *rules);

/*
 * Keeps a target that is not configured any more: its intents that are left are
 * held to the bound and the rules that it had.  It has no number, and must be
 * added after those that have one.  Neither call changes a target that is kept
 * already.  Returns -1 without memory.
 */
int sm_queue_former(sm_queue_t *s, sm_str_t name, unsigned limit,
    const sm_target_rules_t *rules);

/*
 * Goes on with the bucket that the leader before has left of a target, see
 * sm_bucket_go_on(), or with the target's own if "before" is NULL. Returns the
 * bucket as it is then, or NULL if there is no such target.
 */
const sm_bucket_t *sm_queue_go_on(sm_queue_t *s, sm_str_t name,
    const sm_bucket_t *before);

/* Says that all intents were set: a target without entries has no intents. */
void sm_queue_complete(sm_queue_t *s);

/*
 * Gives up to "max" limits that the next leader needs: of targets that are not
 * configured any more but of which intents are left, or may be, and then of
 * those with rules.  The names are in the queue's memory.
 */
size_t sm_queue_limits(const sm_queue_t *s, sm_limit_t *limits,
    size_t max);

/* Returns how many sm_queue_limits() gives at most. */
size_t sm_queue_kept(const sm_queue_t *s);

/*
 * Pauses these targets, and resumes all others.  Returns -1 without memory;
 * then some may not be paused.
 */
int sm_queue_pauses(sm_queue_t *s, const sm_str_t *names, size_t n);

/*
 * Gives the state of a kept target.  The cost grows with the number of its
 * entries that are due.
 */
void sm_queue_target_state(const sm_queue_t *s, size_t i,
    sm_target_state_t *state);

/* Returns whether the target of a taken entry is paused now. */
unsigned sm_queue_paused(const sm_entry_t *e);

/* Returns the number of its target, or -1. */
int sm_queue_target_of(const sm_entry_t *e);

/* Says that a taken entry leaves for its gateway right now. */
void sm_queue_sent(sm_queue_t *s, sm_entry_t *e);

/*
 * Books an answer of the gateway, whatever it says, or an error.  Both return
 * how many errors there were in a row: before the answer, or with this one.
 */
unsigned sm_queue_answer(sm_queue_t *s, sm_entry_t *e);
unsigned sm_queue_error(sm_queue_t *s, sm_entry_t *e);

/* Books that the gateway asks for a rest of so many microseconds. */
void sm_queue_rest(sm_queue_t *s, sm_entry_t *e, int64_t length);

/* Returns until when the circuit holds its target, or 0 if it is closed. */
int64_t sm_queue_open_until(const sm_queue_t *s, const sm_entry_t *e);


#endif /* SM_QUEUE_TARGET_H */
