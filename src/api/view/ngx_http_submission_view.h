
/*
 * Views, which are answered from the zone: the overview, the targets, and their
 * history; for api/ alone.
 */

#ifndef _NGX_HTTP_SUBMISSION_VIEW_H_INCLUDED_
#define _NGX_HTTP_SUBMISSION_VIEW_H_INCLUDED_


#include "ngx_http_submission_request.h"

#include <ngx_md5.h>


typedef struct ngx_http_submission_view_s  ngx_http_submission_view_t;

struct ngx_http_submission_view_s {
    ngx_http_request_t              *request;
    ngx_http_submission_manager_t   *manager;
    ngx_pool_t                      *pool;         /* until it is rendered */
    ngx_http_submission_board_t     *board;

    ngx_md5_t                        tag;          /* for the ETag */
    size_t                           tagged;       /* bytes so far */

    void                           (*out)(ngx_http_submission_view_t *view,
                                         sm_out_t *out);

    sm_stats_t                      *backlog;      /* if nobody leads */
    ngx_http_submission_target_t    *target;       /* NULL: all of them */
    sm_stats_target_t               *stats;        /* of that one */
    sm_series_t                     *series;
    int64_t                          since;        /* seconds */
};


/*
 * view.c.  _init() makes the view of a request, and returns NULL without
 * memory.  _send() renders it, and answers 304 if the client has it already.
 * The ETag is a hash of all that is rendered, except what changes by itself:
 * _tag() is called before such a thing is written, and _untagged() after it,
 * with what is hashed in its place.  _close() frees what was copied from the
 * zone, for an answer without it.
 */
ngx_http_submission_view_t *ngx_http_submission_view_init(
    ngx_http_request_t *r,
    void (*out)(ngx_http_submission_view_t *view, sm_out_t *out));
ngx_int_t ngx_http_submission_view_send(ngx_http_submission_view_t *view);
void ngx_http_submission_view_close(ngx_http_submission_view_t *view);
void ngx_http_submission_view_tag(ngx_http_submission_view_t *view,
    sm_out_t *out);
void ngx_http_submission_view_untagged(ngx_http_submission_view_t *view,
    sm_out_t *out, int64_t instead);

/*
 * Write "now", the time and age of the numbers, what is known of the store and,
 * by _head(), all of that and the leader.  _time() writes a time of the store,
 * or null for 0.
 */
void ngx_http_submission_view_head(ngx_http_submission_view_t *view,
    sm_out_t *out);
void ngx_http_submission_view_now(ngx_http_submission_view_t *view,
    sm_out_t *out);
void ngx_http_submission_view_age(ngx_http_submission_view_t *view,
    sm_out_t *out);
void ngx_http_submission_view_store(ngx_http_submission_view_t *view,
    sm_out_t *out);
void ngx_http_submission_view_time(sm_out_t *out, int64_t at);

/* Returns the rate of a count over milliseconds, in thousandths a second. */
int64_t ngx_http_submission_view_rate(int64_t n, int64_t span);

/*
 * target_out.c: writes the keys of a target, without the braces.  "stats" is
 * NULL if the leader has told nothing of it, and "counted" if the store has not
 * counted it.
 */
void ngx_http_submission_target_out(ngx_http_submission_view_t *view,
    sm_out_t *out, sm_str_t name, ngx_http_submission_target_t *target,
    sm_stats_target_t *stats, sm_stats_target_t *counted);
void ngx_http_submission_target_contract_out(sm_out_t *out,
    const sm_contract_t *contract);


#endif /* _NGX_HTTP_SUBMISSION_VIEW_H_INCLUDED_ */
