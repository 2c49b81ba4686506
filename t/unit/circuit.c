
/*
 * The circuit of a target: what opens it, for how long, and that one probe
 * alone closes it.  Broken by: an error too few or too many, a while that does
 * not grow or grows beyond its bound, a second probe, a late error that opens
 * it again, a rest that an answer ends.
 */

#include "sm_circuit.h"
#include "clocks.h"
#include "tap.h"


#define SECOND  1000000


static void
fail(sm_circuit_t *c, unsigned n, int64_t now)
{
    while (n--) {
        sm_circuit_error(c, 0, now);
    }
}


static void
play(int64_t now)
{
    unsigned      i;
    sm_circuit_t  c = { .rules = { 3, 10 * SECOND, 35 * SECOND } };
    sm_circuit_t  none = { .rules = { 0, 0, 0 } };

    static const int64_t  length[] = { 20, 35, 35 };

    fail(&c, 2, now);
    is_int(sm_circuit_until(&c, now), 0, "two of three errors");
    is_int(sm_circuit_begin(&c), 0, "what begins is no probe");
    sm_circuit_answer(&c);
    fail(&c, 2, now);
    is_int(sm_circuit_until(&c, now), 0, "in a row, that is");

    fail(&c, 1, now);
    is_int(sm_circuit_until(&c, now), now + 10 * SECOND, "the third opens it");
    is_int(sm_circuit_next(&c, now + 1), now + 10 * SECOND, "and holds it");

    fail(&c, 5, now + 5 * SECOND);
    is_int(sm_circuit_next(&c, now), now + 10 * SECOND,
           "errors of what was under way change nothing");
    is_int(c.errors, 8, "and are counted");

    now += 10 * SECOND;

    is_int(sm_circuit_next(&c, now), now, "its time is over");
    ok(sm_circuit_until(&c, now) != 0, "and it is not closed");
    is_int(sm_circuit_begin(&c), 1, "the next is the probe");
    is_int(sm_circuit_next(&c, now + 100 * SECOND), INT64_MAX, "there is one");

    sm_circuit_unsent(&c);
    is_int(sm_circuit_next(&c, now), now, "one that was not sent: another");

    for (i = 0; i < sizeof(length) / sizeof(length[0]); i++) {
        is_int(sm_circuit_begin(&c), 1, "a probe");
        sm_circuit_error(&c, 1, now);
        is_int(sm_circuit_next(&c, now), now + length[i] * SECOND,
               "it fails: %d s", (int) length[i]);
        now += length[i] * SECOND;
    }

    is_int(sm_circuit_begin(&c), 1, "a probe");
    sm_circuit_answer(&c);
    is_int(sm_circuit_until(&c, now), 0, "it is answered: closed");
    is_int(sm_circuit_next(&c, now), now, "all may begin");

    fail(&c, 3, now);
    is_int(sm_circuit_next(&c, now), now + 10 * SECOND, "it begins anew");
    sm_circuit_answer(&c);
    is_int(sm_circuit_next(&c, now), now, "an answer is an answer");

    sm_circuit_rest(&c, 5 * SECOND, now);
    is_int(sm_circuit_next(&c, now), now + 5 * SECOND, "a rest");
    is_int(sm_circuit_until(&c, now), now + 5 * SECOND, "it tells");
    sm_circuit_answer(&c);
    sm_circuit_rest(&c, SECOND, now);
    is_int(sm_circuit_next(&c, now), now + 5 * SECOND,
           "no answer shortens it, and no other rest");
    is_int(sm_circuit_until(&c, now + 5 * SECOND), 0, "it ends by itself");
    is_int(sm_circuit_begin(&c), 0, "without a probe");

    sm_circuit_rest(&c, INT64_MAX / 2, now);
    is_int(sm_circuit_next(&c, now), now + SM_CIRCUIT_REST_MAX, "at most so");

    fail(&none, 1000, now);
    sm_circuit_rest(&none, SECOND, now);
    is_int(sm_circuit_next(&none, now), now, "without rules nothing holds it");
    is_int(sm_circuit_until(&none, now), 0, "nothing is told");
    is_int(none.errors, 1000, "and errors are counted");
}


int
main(void)
{
    size_t  i;

    needs_no_store();

    for (i = 0; i < NCLOCKS; i++) {
        play(clocks[i]);
    }

    return done_testing();
}
