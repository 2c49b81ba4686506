#ifndef REAL_TIME_H
#define REAL_TIME_H

/* What time it is by the system's clocks, and waiting. */

#include <stdint.h>
#include <time.h>


static inline int64_t
clock_us(clockid_t clock)
{
    struct timespec  ts;

    (void) clock_gettime(clock, &ts);

    return (int64_t) ts.tv_sec * 1000000 + ts.tv_nsec / 1000;
}


static inline int64_t
monotonic_ms(void)
{
    return clock_us(CLOCK_MONOTONIC) / 1000;
}


static inline void
nap_us(int64_t us)
{
    struct timespec  ts = { us / 1000000, us % 1000000 * 1000 };

    (void) nanosleep(&ts, NULL);
}


#endif /* REAL_TIME_H */
