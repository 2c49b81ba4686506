
/*
 * Pauses of targets: what an operator sets, and what the leader reads.
 */

#ifndef SM_PAUSE_H
#define SM_PAUSE_H


#include "sm_action.h"


#define SM_PAUSE_REASON_MAX  500        /* characters */


/* Times are microseconds since 1970.  Reason and actor may have no data. */

typedef struct {
    sm_str_t              target;
    int64_t               since;        /* 0: since ever */
    sm_str_t              reason;
    sm_str_t              actor;
} sm_pause_t;

extern const sm_field_t  sm_pause_fields[];


typedef enum {
    SM_TARGET_SET_UNKNOWN = 0,  /* there is no such target */
    SM_TARGET_SET_DONE,
    SM_TARGET_SET_SAME,         /* it was so before */
    SM_TARGET_SET_OUTCOMES
} sm_target_set_e;


/*
 * "known" says that the target is configured, whatever the store knows of it.
 */

typedef struct {
    sm_str_t              target;
    unsigned              pause;        /* or it goes on */
    unsigned              known;
    sm_str_t              reason;       /* no data: none */
    sm_actor_t            actor;

    sm_target_set_e       outcome;
    unsigned              paused;
    sm_pause_t            is;           /* of the state that it is in now */
} sm_target_set_t;


/* The targets that are paused, for the leader. */

typedef struct {
    sm_pause_t           *rows;
    size_t                n;
    size_t                size;
} sm_pauses_t;


/* Adds a row of zeros, in the arena.  Returns NULL without memory. */
sm_pause_t *sm_pauses_add(sm_arena_t *arena, sm_pauses_t *pauses);


/*
 * Writes the detail of an audit entry, {"reason":"..."}, or no data if there is
 * no reason.  Returns -1 without memory.
 */
int sm_pause_detail(sm_arena_t *arena, sm_str_t reason, sm_str_t *detail);

/* Writes {"target":"...","state":"paused","since":"...","pause":{...}}. */
void sm_target_set_out(sm_out_t *out, const sm_target_set_t *row);


#endif /* SM_PAUSE_H */
