#ifndef CLOCKS_H
#define CLOCKS_H

/*
 * What a clock that counts from the host's boot may say when a test begins, in
 * microseconds: at boot, a second and four minutes after it, and in an hour of
 * an ordinary day.  Whatever takes a clock is tested at each of them: "five
 * minutes ago" may be before the clock began.
 */

#include <stdint.h>


static const int64_t  clocks[] = { 0, 1000000, 240000000, 77000000000 };

#define NCLOCKS  (sizeof(clocks) / sizeof(clocks[0]))


#endif /* CLOCKS_H */
