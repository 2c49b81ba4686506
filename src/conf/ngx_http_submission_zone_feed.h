
/*
 * The feed of events in the zone: the last events that this instance knows of,
 * in the order in which it has learned of them.
 */

#ifndef _NGX_HTTP_SUBMISSION_ZONE_FEED_H_INCLUDED_
#define _NGX_HTTP_SUBMISSION_ZONE_FEED_H_INCLUDED_


#include "ngx_http_submission_zone.h"

#include "sm_feed.h"


/* A slot is being written while "sequence" is odd. */

typedef struct {
    ngx_atomic_t                     sequence;
    ngx_uint_t                       index;        /* of all ever written */
    ngx_uint_t                       tenure;
    sm_feed_slot_t                   event;
} ngx_http_submission_feed_slot_t;


/*
 * Slots are written under the mutex of the zone, and read without it.  A slot
 * counts as written when "n" has passed it: if a writer dies before that, the
 * next one writes the same slot again.
 */

#define NGX_HTTP_SUBMISSION_FEED_WORKERS  128

typedef struct {
    ngx_atomic_t                     origin;       /* 0: not known yet */
    ngx_atomic_t                     n;            /* the last number of it */
    ngx_atomic_t                     told;         /* by the leader, up to it */
} ngx_http_submission_feed_own_t;


/*
 * While the store's time is not known, the "at" of an event is negative: when
 * it happened by ngx_http_submission_usec().
 */

struct ngx_http_submission_feed_shctx_s {
    ngx_atomic_t                     n;            /* slots ever written */
    ngx_http_submission_feed_own_t   own;
    ngx_http_submission_feed_own_t   before;       /* own, until it ended */
    ngx_atomic_t                     last;         /* time of own.n, usec */

    /* the store's time less ngx_http_submission_usec(); 0: not known */
    ngx_atomic_t                     offset;
    ngx_atomic_t                     heard;        /* of others, usec */

    /* what was taken of others; "torn" while it and slots are written */
    sm_feed_cursor_t                 have;
    ngx_atomic_t                     torn;

    ngx_atomic_t                     told;         /* generation; its start */
    ngx_atomic_t                     config;       /* its configuration */

    /* pids of workers of it that have begun; 0: it has exited */
    ngx_atomic_t                     workers[NGX_HTTP_SUBMISSION_FEED_WORKERS];

    ngx_uint_t                       size;         /* in slots; 0: no room */
    ngx_http_submission_feed_slot_t  *slots;
};


/*
 * _read() returns NGX_DECLINED if the slot has another event by now.  _date()
 * gives events the times that they have with this offset.
 */
void ngx_http_submission_zone_feed_write(
    ngx_http_submission_feed_shctx_t *feed, ngx_uint_t tenure,
    const sm_feed_event_t *event);
ngx_int_t ngx_http_submission_zone_feed_read(
    ngx_http_submission_feed_shctx_t *feed, ngx_uint_t index,
    ngx_http_submission_feed_slot_t *slot);
void ngx_http_submission_zone_feed_date(
    ngx_http_submission_feed_shctx_t *feed, int64_t offset);


#endif /* _NGX_HTTP_SUBMISSION_ZONE_FEED_H_INCLUDED_ */
