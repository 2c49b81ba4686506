
/*
 * The feed of what has happened to the system.
 */

#ifndef _NGX_HTTP_SUBMISSION_EVENTS_H_INCLUDED_
#define _NGX_HTTP_SUBMISSION_EVENTS_H_INCLUDED_


#include "ngx_http_submission_counters.h"

#include "sm_lease.h"


/*
 * events.c: the feed of what has happened, see sm_feed.h.  _event() is called
 * where such a thing is logged, with a sentence for the operator; "target" is
 * empty if it concerns none.  _event_of() is for what has happened to another
 * instance, _event_lease() for what has happened to the lease in an epoch, and
 * _event_left() for this instance, which will not be there any more.  An event
 * with the same kind and the same target or instance may have been told at or
 * after "since", by whoever led: _told() says whether.  _said() is whether the
 * feed has an event of a kind with this text.  _over() is whether the last of
 * two kinds that it has of a target is the second one.
 *
 * _begin() tells that the instance has started or was reloaded, or that a
 * worker takes the place of one that died, which did not call _end().  _clock()
 * tells the feed the store's time, under the mutex of the zone.
 */
void ngx_http_submission_event(ngx_http_submission_manager_t *manager,
    sm_feed_kind_e kind, sm_str_t target, const char *fmt, ...);
void ngx_http_submission_event_of(ngx_http_submission_manager_t *manager,
    sm_feed_kind_e kind, sm_str_t instance, const char *fmt, ...);
void ngx_http_submission_event_lease(ngx_http_submission_manager_t *manager,
    sm_feed_kind_e kind, int64_t epoch, const char *fmt, ...);
void ngx_http_submission_event_left(ngx_http_submission_manager_t *manager);
ngx_uint_t ngx_http_submission_event_told(
    ngx_http_submission_manager_t *manager, sm_feed_kind_e kind,
    sm_str_t target, int64_t since);
ngx_uint_t ngx_http_submission_event_told_of(
    ngx_http_submission_manager_t *manager, sm_feed_kind_e kind,
    sm_str_t instance, int64_t since);
ngx_uint_t ngx_http_submission_event_said(
    ngx_http_submission_manager_t *manager, sm_feed_kind_e kind,
    sm_str_t text);
ngx_uint_t ngx_http_submission_event_over(
    ngx_http_submission_manager_t *manager, sm_feed_kind_e begins,
    sm_feed_kind_e ends, sm_str_t target);
void ngx_http_submission_event_begin(ngx_http_submission_manager_t *manager,
    ngx_cycle_t *cycle);
void ngx_http_submission_event_end(ngx_http_submission_manager_t *manager);
void ngx_http_submission_event_clock(ngx_http_submission_manager_conf_t *mcf,
    int64_t now, int64_t now_at);

/*
 * Reading and learning.  _events() gives the events, sorted, in a buffer of
 * _events_size() bytes; "heard" is until when those of other instances are
 * known, or 0.  _all() puts them into an arena, for the leader's document, and
 * _own() makes the document of this instance, of what no leader has told yet.
 * _learn() takes what is new of sorted events: of a leader's document, of the
 * rows of instances, or of these as a leader, to whom they tell all that they
 * have.  Without memory, there are none.
 */
typedef enum {
    NGX_HTTP_SUBMISSION_EVENTS_DOC = 0,
    NGX_HTTP_SUBMISSION_EVENTS_ROWS,
    NGX_HTTP_SUBMISSION_EVENTS_LED
} ngx_http_submission_events_e;

size_t ngx_http_submission_events_size(
    ngx_http_submission_manager_conf_t *mcf);
size_t ngx_http_submission_events(ngx_http_submission_manager_conf_t *mcf,
    void *buf, sm_feed_event_t **events, int64_t *heard);
void ngx_http_submission_events_all(ngx_http_submission_manager_t *manager,
    sm_arena_t *arena, sm_feed_event_t **events, size_t *n);
void ngx_http_submission_events_own(ngx_http_submission_manager_t *manager,
    sm_arena_t *arena, sm_str_t *doc);
void ngx_http_submission_events_learn(ngx_http_submission_manager_t *manager,
    const sm_feed_event_t *events, size_t n,
    ngx_http_submission_events_e from);

/*
 * instances.c: which instances come and go.  Every executor worker looks at the
 * list, and a leader tells.  Called before the list goes to the board.
 */
void ngx_http_submission_instances(ngx_http_submission_manager_t *manager,
    const sm_cluster_t *cluster, ngx_uint_t leads);


#endif /* _NGX_HTTP_SUBMISSION_EVENTS_H_INCLUDED_ */
