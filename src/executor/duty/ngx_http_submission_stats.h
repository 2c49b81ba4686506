
/*
 * The leader's numbers; for executor/ alone.
 */

#ifndef _NGX_HTTP_SUBMISSION_STATS_H_INCLUDED_
#define _NGX_HTTP_SUBMISSION_STATS_H_INCLUDED_


#include "ngx_http_submission_attempt.h"

#include "sm_stats.h"


/*
 * stats_count.c: what happened, for the leader's numbers.  _prepare() comes
 * before what is in doubt is settled, _start() begins an epoch.  _submitted()
 * is called for an intent that the queue did not have, _ended() for each end,
 * _attempt() for an attempt that was recorded, _unsent() for one that could
 * not be sent, _unknown() for those in doubt.  _last_error() is that of the
 * target, and _learn() takes over the one that the leader before has told.
 * _go_on() takes over its counts, once in an epoch and before any of them are
 * told; NULL: it has told none.
 * _read() copies the numbers; NGX_ERROR: there is no memory.
 */
ngx_int_t ngx_http_submission_stats_init(ngx_cycle_t *cycle,
    ngx_http_submission_executor_t *ex);
void ngx_http_submission_stats_prepare(ngx_http_submission_executor_t *ex);
void ngx_http_submission_stats_start(ngx_http_submission_executor_t *ex);
void ngx_http_submission_stats_submitted(ngx_http_submission_executor_t *ex,
    sm_str_t id, sm_str_t target);
void ngx_http_submission_stats_ended(ngx_http_submission_executor_t *ex,
    sm_str_t id, ngx_http_submission_target_t *target, sm_status_e status);
void ngx_http_submission_stats_attempt(ngx_http_submission_attempt_t *at);
void ngx_http_submission_stats_unsent(ngx_http_submission_attempt_t *at);
void ngx_http_submission_stats_unknown(ngx_http_submission_executor_t *ex,
    ngx_http_submission_target_t *target, ngx_uint_t n);
sm_str_t ngx_http_submission_stats_last_error(
    ngx_http_submission_executor_t *ex, ngx_http_submission_target_t *target);
void ngx_http_submission_stats_learn(ngx_http_submission_executor_t *ex,
    ngx_http_submission_target_t *target, const sm_stats_target_t *told);
void ngx_http_submission_stats_go_on(ngx_http_submission_executor_t *ex,
    const sm_stats_t *told);
ngx_int_t ngx_http_submission_stats_read(ngx_http_submission_executor_t *ex,
    sm_arena_t *arena, sm_stats_t *stats);

/*
 * stats.c: the last numbers of an epoch, for a leader that has nothing at
 * gateways and will not send any more.  _finish() has them written, once;
 * NGX_AGAIN: they are not written yet, and the executor is woken when they are.
 * _out() is whether they are being written.  _tell() writes them before it
 * returns.
 */
ngx_int_t ngx_http_submission_stats_finish(ngx_http_submission_executor_t *ex);
ngx_uint_t ngx_http_submission_stats_out(ngx_http_submission_executor_t *ex);
void ngx_http_submission_stats_tell(ngx_http_submission_executor_t *ex);

/*
 * retention.c: what retention has done today, for the feed.  _read() copies it,
 * and _learn() goes on with what the leader before has told; NULL: nothing.
 * "whole" is whether it has told all.
 */
void ngx_http_submission_retention_read(ngx_http_submission_executor_t *ex,
    sm_retention_day_t *day);
void ngx_http_submission_retention_learn(ngx_http_submission_executor_t *ex,
    const sm_retention_day_t *told, ngx_uint_t whole);

/*
 * depth.c: the gauges by target.  _look() has them set soon, because something
 * has happened, and _stop() ends that.  _read() counts what the queue has.
 */
ngx_int_t ngx_http_submission_depth_init(ngx_cycle_t *cycle,
    ngx_http_submission_executor_t *ex);
void ngx_http_submission_depth_look(ngx_http_submission_executor_t *ex);
void ngx_http_submission_depth_stop(ngx_http_submission_executor_t *ex);
void ngx_http_submission_depth_read(ngx_http_submission_executor_t *ex,
    sm_stats_target_t *targets, sm_stats_target_t *totals);


/*
 * target_health.c.  _start() begins an epoch, and _learn() takes in what the
 * leader before has told.  _begun() is called when an attempt goes to its
 * gateway, so that what waits there is judged each second.  _attempt() is called
 * when an attempt has ended or could not be sent, and _certificate() when a
 * gateway has shown a certificate that is valid until then, in microseconds since
 * 1970; _expiring() says whether it has to show it again.  _state() and
 * _expires() are those of the target with this index.  _read() judges all
 * targets again, by how long their attempts take, and copies their health;
 * NGX_ERROR: there is no memory.
 */
ngx_int_t ngx_http_submission_target_health_init(ngx_cycle_t *cycle,
    ngx_http_submission_executor_t *ex);
void ngx_http_submission_target_health_start(
    ngx_http_submission_executor_t *ex);
void ngx_http_submission_target_health_learn(
    ngx_http_submission_executor_t *ex, const sm_stats_t *told);
void ngx_http_submission_outage_told(ngx_http_submission_executor_t *ex,
    const sm_stats_t *told);
void ngx_http_submission_target_health_begun(
    ngx_http_submission_executor_t *ex);
void ngx_http_submission_target_health_attempt(
    ngx_http_submission_attempt_t *at);
void ngx_http_submission_target_health_certificate(
    ngx_http_submission_attempt_t *at, int64_t expires);
ngx_uint_t ngx_http_submission_target_health_expiring(
    ngx_http_submission_attempt_t *at);
sm_health_e ngx_http_submission_target_health_state(
    ngx_http_submission_executor_t *ex, ngx_uint_t i);
int64_t ngx_http_submission_target_health_expires(
    ngx_http_submission_executor_t *ex, ngx_uint_t i);
ngx_int_t ngx_http_submission_target_health_read(
    ngx_http_submission_executor_t *ex, sm_arena_t *arena,
    sm_stats_target_t *rows);


#endif /* _NGX_HTTP_SUBMISSION_STATS_H_INCLUDED_ */
