#ifndef SECONDS_H
#define SECONDS_H

/* Times of whole seconds as text, "2026-03-29T01:00:00Z", and back. */

#include "sm_time.h"
#include "tap.h"


static inline int64_t
at(const char *text)
{
    int64_t  usec = 0;

    if (sm_time_parse(sm_str_c(text), &usec) != NULL) {
        diag("not a time: %s", text);
    }

    return usec / 1000000;
}


static inline const char *
text_of(int64_t seconds)
{
    static char  buf[SM_TIME_LEN + 1];

    sm_out_t  out;

    sm_out_init(&out, buf, SM_TIME_LEN);
    sm_out_time(&out, seconds * 1000000);
    memcpy(buf + 19, "Z", 2);

    return buf;
}


#endif /* SECONDS_H */
