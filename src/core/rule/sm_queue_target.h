
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


/* "circuit_open_until" may have passed: the probe is to come, or under way */

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
 * A target with rules, which is there without intents too, and is known by a
 * number: from 0, in the order of calls.  Its bucket is empty: what another
 * leader has sent a moment ago is not known here.  -1: no memory.
 */
int sm_queue_keep(sm_queue_t *s, sm_str_t name,
    const sm_target_rules_t *rules);

/*
 * A target that is not configured any more: what is left of it is held to the
 * bound and the rules that it had.  It has no number, and comes after those
 * that have one.  Nothing changes for a target that is there already by either
 * call.  -1: no memory.
 */
int sm_queue_former(sm_queue_t *s, sm_str_t name, unsigned limit,
    const sm_target_rules_t *rules);

/*
 * Goes on with the bucket that the leader before has left of such a target,
 * see sm_bucket_go_on(); NULL: that is not known.  Returns the bucket as it is
 * then, or NULL if there is no such target.
 */
const sm_bucket_t *sm_queue_go_on(sm_queue_t *s, sm_str_t name,
    const sm_bucket_t *before);

/* all intents were set: a target without any has none */
void sm_queue_complete(sm_queue_t *s);

/*
 * What the next leader is to know: of the targets that are not configured any
 * more and of which intents are left, or may be, and then of those with rules,
 * at most "max".  The names are the queue's.
 */
size_t sm_queue_limits(const sm_queue_t *s, sm_limit_t *limits,
    size_t max);

/* how many sm_queue_limits() has at most */
size_t sm_queue_kept(const sm_queue_t *s);

/*
 * These targets are paused, and no other: what is new is held, and what is not
 * named any more goes on.  -1: no memory, and some may not be paused.
 */
int sm_queue_pauses(sm_queue_t *s, const sm_str_t *names, size_t n);

/* of a kept target.  Its cost grows with the number of those that are due */
void sm_queue_target_state(const sm_queue_t *s, size_t i,
    sm_target_state_t *state);

/* whether the target of a taken entry was paused since */
unsigned sm_queue_paused(const sm_entry_t *e);

/* the number of its target; -1: it has none */
int sm_queue_target_of(const sm_entry_t *e);

/* a taken entry leaves for its gateway right now */
void sm_queue_sent(sm_queue_t *s, sm_entry_t *e);

/*
 * What its gateway said: an answer, whatever it is, or an error.  It tells how
 * many errors there were in a row, this one included, or before the answer.
 */
unsigned sm_queue_answer(sm_queue_t *s, sm_entry_t *e);
unsigned sm_queue_error(sm_queue_t *s, sm_entry_t *e);

/* the gateway asks for a rest of so many microseconds */
void sm_queue_rest(sm_queue_t *s, sm_entry_t *e, int64_t length);

/* until when its circuit holds its target; 0: it is closed */
int64_t sm_queue_open_until(const sm_queue_t *s, const sm_entry_t *e);


#endif /* SM_QUEUE_TARGET_H */
