
/*
 * The circuit of a target.  After a number of errors in a row it opens: nothing
 * begins for a time, and then one attempt is the probe.  If the probe fails,
 * the next time is twice as long; an answer closes the circuit.  A gateway may
 * also ask for a rest, by Retry-After, which no answer shortens.
 *
 * Errors in a row are counted even if the target has no circuit.  Times are
 * microseconds on a clock that is never set.
 */

#ifndef SM_CIRCUIT_H
#define SM_CIRCUIT_H


#include <stdint.h>


#define SM_CIRCUIT_REST_MAX  3600000000     /* microseconds */


typedef struct {
    unsigned   failures;        /* errors that open it; 0: no circuit */
    int64_t    open;            /* the first time, in microseconds */
    int64_t    max_open;
} sm_circuit_rules_t;


typedef struct {
    sm_circuit_rules_t  rules;

    unsigned   errors;          /* in a row */
    unsigned   open:1;          /* until an answer */
    unsigned   probing:1;       /* the probe is under way */
    int64_t    length;          /* how long it is open this time */
    int64_t    until;           /* when that ends */
    int64_t    rest;            /* when the rest ends */
} sm_circuit_t;


/*
 * Returns from when on an attempt may begin, or INT64_MAX if the probe has to
 * end first.
 */
int64_t sm_circuit_next(const sm_circuit_t *c, int64_t now);

/* An attempt begins.  Returns 1 if it is the probe. */
unsigned sm_circuit_begin(sm_circuit_t *c);

/* An attempt has ended: by an answer, by an error, or unsent as a probe. */
void sm_circuit_answer(sm_circuit_t *c);
void sm_circuit_error(sm_circuit_t *c, unsigned probe, int64_t now);
void sm_circuit_unsent(sm_circuit_t *c);

/* The gateway asks for a rest; it gets up to SM_CIRCUIT_REST_MAX. */
void sm_circuit_rest(sm_circuit_t *c, int64_t length, int64_t now);

/* Returns until when the circuit or the rest holds, or 0 if none does. */
int64_t sm_circuit_until(const sm_circuit_t *c, int64_t now);


#endif /* SM_CIRCUIT_H */
