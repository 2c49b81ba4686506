
/*
 * Connections of this worker for attempts.
 *
 * nginx gives a connection to any client that asks, so slow or waiting clients
 * could take all of them.  While the worker may begin attempts, an eighth of
 * its connections is reserved for them, two for each.  Those that attempts do
 * not use at the moment are held here, out of reach of clients, and released
 * right before an attempt takes them.  Beyond that, attempts take what is
 * free, as long as an eighth of all connections is left to clients.  Idle
 * clients do not matter, because nginx closes their connections when it needs
 * them.
 */

#include "ngx_http_submission_task.h"


/* shares of all connections: one of so many */

#define NGX_HTTP_SUBMISSION_RESERVE_SHARE  8
#define NGX_HTTP_SUBMISSION_RESERVE_SHORT  16


static ngx_connection_t  *ngx_http_submission_held;
static ngx_uint_t         ngx_http_submission_nheld;
static ngx_uint_t         ngx_http_submission_wanted;    /* attempts, in all */
static ngx_uint_t         ngx_http_submission_taken;     /* that are sent */


static ngx_uint_t
ngx_http_submission_reserve_free(void)
{
    return ngx_cycle->free_connection_n + ngx_cycle->reusable_connections_n;
}


/*
 * Moves a connection from one list of free connections to the other.  Nothing
 * else in it is changed, because the code that has just closed it may still
 * look at it.
 */

static void
ngx_http_submission_reserve_hold(ngx_cycle_t *cycle)
{
    ngx_connection_t  *c;

    c = cycle->free_connections;

    cycle->free_connections = c->data;
    cycle->free_connection_n--;

    c->data = ngx_http_submission_held;

    ngx_http_submission_held = c;
    ngx_http_submission_nheld++;
}


static void
ngx_http_submission_reserve_release(ngx_cycle_t *cycle)
{
    ngx_connection_t  *c;

    c = ngx_http_submission_held;

    ngx_http_submission_held = c->data;
    ngx_http_submission_nheld--;

    c->data = cycle->free_connections;

    cycle->free_connections = c;
    cycle->free_connection_n++;
}


/* Holds as many connections as it should, or as many as are free. */

void
ngx_http_submission_reserve_adjust(void)
{
    ngx_uint_t    n, used;
    ngx_cycle_t  *cycle;

    cycle = (ngx_cycle_t *) ngx_cycle;

    n = ngx_max(cycle->connection_n / NGX_HTTP_SUBMISSION_RESERVE_SHARE, 2);
    n = ngx_min(n, 2 * ngx_http_submission_wanted);

    used = 2 * ngx_http_submission_taken;
    n = n > used ? n - used : 0;

    while (ngx_http_submission_nheld > n) {
        ngx_http_submission_reserve_release(cycle);
    }

    while (ngx_http_submission_nheld < n && cycle->free_connection_n) {
        ngx_http_submission_reserve_hold(cycle);
    }

    ngx_log_debug4(NGX_LOG_DEBUG_HTTP, cycle->log, 0,
                   "submission: connections held:%ui of %ui, sent:%ui free:%ui",
                   ngx_http_submission_nheld, n, ngx_http_submission_taken,
                   cycle->free_connection_n);
}


void
ngx_http_submission_reserve_open(ngx_uint_t attempts)
{
    ngx_http_submission_wanted += attempts;

    ngx_http_submission_reserve_adjust();
}


void
ngx_http_submission_reserve_close(ngx_uint_t attempts)
{
    ngx_http_submission_wanted -= attempts;

    ngx_http_submission_reserve_adjust();
}


void
ngx_http_submission_reserve_take(void)
{
    ngx_http_submission_taken++;

    ngx_http_submission_reserve_adjust();
}


void
ngx_http_submission_reserve_put(void)
{
    ngx_http_submission_taken--;

    ngx_http_submission_reserve_adjust();
}


ngx_uint_t
ngx_http_submission_reserve_room(void)
{
    ngx_uint_t  n, clients;

    n = ngx_http_submission_nheld + ngx_http_submission_reserve_free();
    clients = ngx_cycle->connection_n / NGX_HTTP_SUBMISSION_RESERVE_SHARE;

    n = n > clients ? n - clients : 0;

    return ngx_max(n, ngx_http_submission_nheld) / 2;
}


ngx_uint_t
ngx_http_submission_reserve_most(ngx_uint_t connections)
{
    return (connections - connections / NGX_HTTP_SUBMISSION_RESERVE_SHARE) / 2;
}


ngx_uint_t
ngx_http_submission_reserve_short(void)
{
    ngx_uint_t  n;

    n = ngx_http_submission_reserve_free();

    if (n >= ngx_cycle->connection_n / NGX_HTTP_SUBMISSION_RESERVE_SHORT) {
        return 0;
    }

    return ngx_cycle->connection_n / NGX_HTTP_SUBMISSION_RESERVE_SHARE - n;
}


/* Returns how many clients may wait, if each has a connection of its own. */

ngx_uint_t
ngx_http_submission_reserve_waits(void)
{
    return ngx_cycle->connection_n
           - ngx_cycle->connection_n / NGX_HTTP_SUBMISSION_RESERVE_SHORT;
}


/* Called in init_module: "worker_connections" may follow the http block. */

void
ngx_http_submission_reserve_check(ngx_cycle_t *cycle,
    ngx_http_submission_manager_conf_t *mcf)
{
    ngx_uint_t  most;

    most = ngx_http_submission_reserve_most(cycle->connection_n);

    if (mcf->executor_off || !mcf->executor_given
        || (ngx_uint_t) mcf->executor_concurrency <= most)
    {
        return;
    }

    ngx_log_error(NGX_LOG_WARN, cycle->log, 0,
                  "\"executor concurrency=%i\" of submission_manager \"%V\" "
                  "in %s:%ui is more than %ui \"worker_connections\" can "
                  "carry: at most %ui attempts will be at gateways at once",
                  mcf->executor_concurrency, &mcf->name,
                  mcf->file, mcf->line, cycle->connection_n, most);
}
