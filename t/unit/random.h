#ifndef RANDOM_H
#define RANDOM_H

/*
 * Numbers that are the same for the same "state": xorshift64*.  And a check
 * that a test makes too often for a line of TAP each: the test says in the end
 * that "bad", which it has, is none.
 */

#include <stdint.h>


static uint64_t  state;


static inline unsigned
rnd(unsigned n)
{
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;

    return (unsigned) ((state * 2685821657736338717ULL >> 33) % n);
}


#define check(cond, ...)                                                      \
    if (!(cond) && bad++ < 10) {                                              \
        diag("line %d: %s", __LINE__, #cond);                                 \
        diag(__VA_ARGS__);                                                    \
    }


#endif /* RANDOM_H */
