
/*
 * Clocks of a host, none of which is ever set.  What is true of intents and
 * leases goes by the store's clock alone.
 */

#include "ngx_http_submission_conf.h"


static int64_t
ngx_http_submission_clock(clockid_t id)
{
    struct timespec  ts;

    (void) clock_gettime(id, &ts);

    return (int64_t) ts.tv_sec * 1000000 + ts.tv_nsec / 1000;
}


/* as ngx_current_msec, but of this moment */

ngx_msec_t
ngx_http_submission_msec(void)
{
    return (ngx_msec_t) (ngx_http_submission_clock(CLOCK_MONOTONIC) / 1000);
}


/*
 * The time since another worker wrote down its ngx_current_msec.  That may be
 * ahead of this one's: each is of when its worker last looked at the clock.
 */

ngx_msec_t
ngx_http_submission_since(ngx_atomic_uint_t time)
{
    ngx_msec_int_t  elapsed;

    elapsed = (ngx_msec_int_t) (ngx_current_msec - time);

    return elapsed > 0 ? elapsed : 0;
}


/*
 * What a lease is held by, and what the store's time is reckoned by: it goes on
 * while the host is suspended, as time does for everybody else.
 */

ngx_msec_t
ngx_http_submission_lease_msec(void)
{
    return (ngx_msec_t) (ngx_http_submission_usec() / 1000);
}


int64_t
ngx_http_submission_usec(void)
{
    return ngx_http_submission_clock(CLOCK_BOOTTIME);
}
