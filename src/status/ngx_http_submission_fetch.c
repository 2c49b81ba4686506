
/*
 * Reads the leader's numbers and the list of instances, on instances that do
 * not lead.  A follower reads them with its watch over the lease, every few
 * seconds, however many requests look at them.  An instance with "executor off"
 * watches no lease: one of its workers reads both on a timer, so often that a
 * lease that was renewed does not look expired.
 */

#include "ngx_http_submission_status.h"
#include "ngx_http_submission_task.h"
#include "ngx_http_submission_zone_board.h"


/* Milliseconds; numbers are read more often than written, to miss none. */

#define NGX_HTTP_SUBMISSION_FETCH_INTERVAL  2000
#define NGX_HTTP_SUBMISSION_FETCH_LEAST     100


typedef struct {
    ngx_http_submission_task_t       task;
    sm_lease_t                       lease;
    sm_str_t                         wake_url;
    ngx_http_submission_fetch_t      fetch;
} ngx_http_submission_fetch_task_t;


static void ngx_http_submission_fetch_timer(ngx_event_t *ev);
static void ngx_http_submission_fetch_done(ngx_http_submission_task_t *task);


void
ngx_http_submission_fetch_plan(ngx_http_submission_manager_t *manager,
    ngx_http_submission_fetch_t *fetch)
{
    ngx_msec_t  age;

    fetch->row.seen = ngx_http_submission_board_seen(manager, &age);
    fetch->wanted = age >= NGX_HTTP_SUBMISSION_FETCH_INTERVAL;
    fetch->young = ngx_http_submission_board_young(manager);
    fetch->cluster.names_hash = manager->conf->config.names_hash;
}


/* A document of another version that this one cannot read is left out. */

void
ngx_http_submission_fetch_read_thread(sm_store_t *store, sm_call_t *call,
    ngx_http_submission_fetch_t *fetch)
{
    if (!fetch->wanted
        || sm_store_stats_get(store, call, &fetch->row) != 0
        || sm_store_cluster_get(store, call, &fetch->cluster) != 0)
    {
        return;
    }

    fetch->fetched = 1;
    fetch->names = sm_cluster_names(&call->arena, &fetch->cluster,
                                    &fetch->nnames);

    sm_cluster_events(&call->arena, &fetch->cluster, &fetch->events,
                      &fetch->nevents);

    if (fetch->row.doc.len
        && sm_stats_read(&call->arena, &fetch->row, &fetch->stats) == 0
        && fetch->young && fetch->stats.history.len
        && sm_history_parse(&call->arena, fetch->stats.history,
                            &fetch->histories, &fetch->nhistories)
           != 0)
    {
        fetch->histories = NULL;
    }
}


void
ngx_http_submission_fetched(ngx_http_submission_manager_t *manager,
    ngx_http_submission_fetch_t *fetch)
{
    if (!fetch->fetched) {
        return;
    }

    if (fetch->stats.at) {
        ngx_http_submission_events_learn(manager, fetch->stats.events,
                                         fetch->stats.nevents,
                                         NGX_HTTP_SUBMISSION_EVENTS_DOC);
    }

    ngx_http_submission_events_learn(manager, fetch->events, fetch->nevents,
                                     NGX_HTTP_SUBMISSION_EVENTS_ROWS);
    ngx_http_submission_instances(manager, &fetch->cluster, 0);

    ngx_http_submission_board_cluster(manager, &fetch->cluster, fetch->names,
                                      fetch->nnames);

    if (fetch->stats.at) {
        ngx_http_submission_board_stats(manager, &fetch->stats);
    }

    if (fetch->histories) {
        ngx_http_submission_board_inherit(manager, fetch->histories,
                                          fetch->nhistories, fetch->stats.at);
    }
}


ngx_int_t
ngx_http_submission_fetch_init(ngx_cycle_t *cycle,
    ngx_http_submission_manager_t *manager)
{
    ngx_event_t  *ev;

    ev = ngx_pcalloc(cycle->pool, sizeof(ngx_event_t));
    if (ev == NULL) {
        return NGX_ERROR;
    }

    ev->handler = ngx_http_submission_fetch_timer;
    ev->data = manager;
    ev->log = cycle->log;
    ev->cancelable = 1;

    ngx_add_timer(ev, 1);

    return NGX_OK;
}


/* Half of what the lease still lasts, so that a renewal is seen in time. */

static ngx_msec_t
ngx_http_submission_fetch_interval(ngx_http_submission_manager_t *manager)
{
    int64_t  left;

    left = ngx_http_submission_board_left(manager) / 1000;

    if (left <= 0) {
        return NGX_HTTP_SUBMISSION_FETCH_INTERVAL;
    }

    return ngx_max(ngx_min(left / 2, NGX_HTTP_SUBMISSION_FETCH_INTERVAL),
                   NGX_HTTP_SUBMISSION_FETCH_LEAST);
}


/* Each worker has this timer, and one of them reads. */

static void
ngx_http_submission_fetch_timer(ngx_event_t *ev)
{
    ngx_msec_t                         interval;
    ngx_http_submission_manager_t     *manager;
    ngx_http_submission_fetch_task_t  *ft;

    /*
     * a call that is under way keeps an exiting worker alive, and another one
     * might follow it
     */

    if (ngx_exiting) {
        return;
    }

    manager = ev->data;

    interval = ngx_http_submission_fetch_interval(manager);

    ngx_add_timer(ev, interval);

    if (!ngx_http_submission_once(&manager->sh->board->asked, interval)) {
        return;
    }

    ft = ngx_http_submission_task_create(manager,
                                     NGX_HTTP_SUBMISSION_OP_STATS_GET,
                                     sizeof(ngx_http_submission_fetch_task_t));
    if (ft == NULL) {
        return;
    }

    ngx_http_submission_fetch_plan(manager, &ft->fetch);

    ft->task.done = ngx_http_submission_fetch_done;

    if (ngx_http_submission_task_post(&ft->task) != NGX_OK) {
        ngx_http_submission_task_free(&ft->task);
    }
}


void
ngx_http_submission_fetch_thread(ngx_http_submission_task_t *task)
{
    ngx_http_submission_fetch_task_t  *ft;

    ft = (ngx_http_submission_fetch_task_t *) task;

    if (sm_store_lease_watch(&task->manager->store, &task->call, &ft->lease,
                             &ft->wake_url)
        == 0)
    {
        ngx_http_submission_fetch_read_thread(&task->manager->store,
                                              &task->call, &ft->fetch);
    }
}


static void
ngx_http_submission_fetch_done(ngx_http_submission_task_t *task)
{
    ngx_http_submission_fetch_task_t  *ft;

    ft = (ngx_http_submission_fetch_task_t *) task;

    if (task->call.status != SM_STORE_OK) {
        return;
    }

    ngx_http_submission_board_lease(task->manager, &ft->lease);
    ngx_http_submission_fetched(task->manager, &ft->fetch);
}
