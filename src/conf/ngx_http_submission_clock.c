
/*
 * Clocks of the host.  All but that of the date are never set.  Times of
 * intents and leases are those of the store's clock.
 */

#include "ngx_http_submission_tools.h"


static int64_t
ngx_http_submission_clock(clockid_t id)
{
    struct timespec  ts;

    (void) clock_gettime(id, &ts);

    return (int64_t) ts.tv_sec * 1000000 + ts.tv_nsec / 1000;
}


/* Like ngx_current_msec, but read at this moment. */

ngx_msec_t
ngx_http_submission_msec(void)
{
    return (ngx_msec_t) (ngx_http_submission_clock(CLOCK_MONOTONIC) / 1000);
}


/*
 * Returns the time since another worker stored its ngx_current_msec.  That may
 * be ahead of ours, because each worker reads the clock at other moments.
 */

ngx_msec_t
ngx_http_submission_since(ngx_atomic_uint_t time)
{
    ngx_msec_int_t  elapsed;

    elapsed = (ngx_msec_int_t) (ngx_current_msec - time);

    return elapsed > 0 ? elapsed : 0;
}


/* Returns a time that is never zero, which means "not set" in the zone. */

ngx_atomic_uint_t
ngx_http_submission_stamp(ngx_msec_t time)
{
    return time ? time : 1;
}


/*
 * Returns 1 in one worker of the instance, once in an interval.  "last" is the
 * stamp of the last time, in the zone.
 */

ngx_uint_t
ngx_http_submission_once(ngx_atomic_t *last, ngx_msec_t interval)
{
    ngx_atomic_uint_t  time;

    time = *last;

    if (time && ngx_http_submission_since(time) < interval) {
        return 0;
    }

    return ngx_atomic_cmp_set(last, time,
                              ngx_http_submission_stamp(ngx_current_msec));
}


/*
 * The clock of leases, by which the store's time is estimated, too.  It goes
 * on while the host is suspended.
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


/* Returns the date, in microseconds since 1970; only to be shown. */

int64_t
ngx_http_submission_date_usec(void)
{
    return ngx_http_submission_clock(CLOCK_REALTIME);
}
