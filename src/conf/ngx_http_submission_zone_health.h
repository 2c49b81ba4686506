
/*
 * The health of the store and the breaker, as all workers of an instance see
 * them.  Times are monotonic milliseconds, but for those of the record.
 */

#ifndef _NGX_HTTP_SUBMISSION_ZONE_HEALTH_H_INCLUDED_
#define _NGX_HTTP_SUBMISSION_ZONE_HEALTH_H_INCLUDED_


#include "ngx_http_submission_zone.h"

#include "sm_store_health.h"


/*
 * What is known of the store, and the last error of a call.  Times are those of
 * ngx_http_submission_usec().
 */

typedef struct {
    sm_store_health_t                health;

    int64_t                          error_at;     /* 0: there was none */
    ngx_http_submission_op_e         op;           /* of the call */
    size_t                           len;
    u_char                           error[SM_STORE_ERROR_SIZE];
} ngx_http_submission_store_record_t;


struct ngx_http_submission_health_shctx_s {
    ngx_atomic_t                     store;        /* the record's state */
    ngx_atomic_t                     committed;    /* the last commit */
    ngx_atomic_t                     written;      /* the last of rows */
    ngx_atomic_t                     probed;       /* the last probe begun */
    ngx_atomic_t                     probing;      /* its worker, or 0 */
    ngx_atomic_t                     asking;       /* a thread has it */
    ngx_atomic_t                     read_for;     /* the last probe that was
                                                      late, see health.c */
    ngx_atomic_t                     reached;      /* the last answer, good
                                                      or not */

    /* "record" is being written while "sequence" is odd */
    ngx_atomic_t                     sequence;
    ngx_http_submission_store_record_t  record;

    /* see breaker.c */
    ngx_atomic_t                     failing;      /* since when, or 0 */
    ngx_atomic_t                     broken;       /* since when; 0: closed */
};


/*
 * The record is changed under the mutex of the zone: _lock() returns it, and
 * _unlock() shows it to others.  _store() copies it.
 */
ngx_http_submission_store_record_t *ngx_http_submission_zone_store_lock(
    ngx_http_submission_manager_conf_t *mcf);
void ngx_http_submission_zone_store_unlock(
    ngx_http_submission_manager_conf_t *mcf);
void ngx_http_submission_zone_store(ngx_http_submission_shctx_t *sh,
    ngx_http_submission_store_record_t *record);


#endif /* _NGX_HTTP_SUBMISSION_ZONE_HEALTH_H_INCLUDED_ */
