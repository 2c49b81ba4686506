
/*
 * The circuit of a target: after so many errors in a row nothing begins for a
 * while, then one attempt is the probe.  If it fails, the next while is twice
 * as long; an answer closes the circuit.  A gateway may also ask for a rest, by
 * Retry-After, which no answer shortens.
 *
 * The errors in a row are counted without a circuit, too.  Times are
 * microseconds on a clock that is never set.
 */

#ifndef SM_CIRCUIT_H
#define SM_CIRCUIT_H


#include <stdint.h>


#define SM_CIRCUIT_REST_MAX  3600000000     /* microseconds */


typedef struct {
    unsigned   failures;        /* that open it; 0: there is no circuit */
    int64_t    open;            /* microseconds, at first */
    int64_t    max_open;
} sm_circuit_rules_t;


typedef struct {
    sm_circuit_rules_t  rules;

    unsigned   errors;          /* in a row */
    unsigned   open:1;          /* until an answer */
    unsigned   probing:1;       /* the probe is under way */
    int64_t    length;          /* of the while */
    int64_t    until;           /* the end of it */
    int64_t    rest;            /* the end of the rest */
} sm_circuit_t;


/*
 * From when on an attempt may begin: "now" or earlier, at once; later; or
 * INT64_MAX, not before the probe has ended.
 */
int64_t sm_circuit_next(const sm_circuit_t *c, int64_t now);

/* an attempt begins; 1: it is the probe */
unsigned sm_circuit_begin(sm_circuit_t *c);

/* it has ended: with an answer, with an error, or the probe without either */
void sm_circuit_answer(sm_circuit_t *c);
void sm_circuit_error(sm_circuit_t *c, unsigned probe, int64_t now);
void sm_circuit_unsent(sm_circuit_t *c);

/* the gateway asks for that many microseconds, of which it gets so many */
void sm_circuit_rest(sm_circuit_t *c, int64_t length, int64_t now);

/* until when nothing begins, or but for a probe; 0: it is closed */
int64_t sm_circuit_until(const sm_circuit_t *c, int64_t now);


#endif /* SM_CIRCUIT_H */
