
#include "sm_circuit.h"


static int64_t
sm_circuit_later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}


int64_t
sm_circuit_next(const sm_circuit_t *c, int64_t now)
{
    if (c->open && c->probing) {
        return INT64_MAX;
    }

    return sm_circuit_later(sm_circuit_later(c->open ? c->until : 0, c->rest),
                            now);
}


unsigned
sm_circuit_begin(sm_circuit_t *c)
{
    if (!c->open) {
        return 0;
    }

    c->probing = 1;

    return 1;
}


void
sm_circuit_answer(sm_circuit_t *c)
{
    c->errors = 0;
    c->open = 0;
    c->probing = 0;
}


/*
 * An attempt that was under way when the circuit opened is counted, but does
 * not keep the circuit open for longer.
 */

void
sm_circuit_error(sm_circuit_t *c, unsigned probe, int64_t now)
{
    if (c->errors < UINT32_MAX) {
        c->errors++;
    }

    if (c->rules.failures == 0) {
        return;
    }

    if (!c->open && c->errors >= c->rules.failures) {
        c->length = c->rules.open;

    } else if (c->open && probe) {
        c->length = c->length > c->rules.max_open / 2 ? c->rules.max_open
                                                      : c->length * 2;

    } else {
        return;
    }

    c->open = 1;
    c->probing = 0;
    c->until = now + c->length;
}


void
sm_circuit_unsent(sm_circuit_t *c)
{
    c->probing = 0;
}


void
sm_circuit_rest(sm_circuit_t *c, int64_t length, int64_t now)
{
    if (c->rules.failures == 0) {
        return;
    }

    if (length > SM_CIRCUIT_REST_MAX) {
        length = SM_CIRCUIT_REST_MAX;
    }

    c->rest = sm_circuit_later(c->rest, now + length);
}


int64_t
sm_circuit_until(const sm_circuit_t *c, int64_t now)
{
    int64_t  until;

    until = sm_circuit_later(c->open ? c->until : 0, c->rest);

    return c->open || until > now ? until : 0;
}
