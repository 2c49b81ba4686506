
/*
 * Which worker of an instance is its executor worker: the one that has the
 * lock of a file.  The kernel gives a lock back when its process ends, however
 * it ends.
 *
 * The master opens the file, see open.c.  A worker that closes any descriptor
 * of it loses the lock.
 */

#include "ngx_http_submission_lease.h"


ngx_int_t
ngx_http_submission_election_win(ngx_http_submission_manager_t *manager)
{
    ngx_err_t  err;

    err = ngx_trylock_fd(manager->conf->lock);

    if (err == 0) {
        return NGX_OK;
    }

    if (err == NGX_EAGAIN || err == NGX_EACCES) {
        return NGX_DECLINED;
    }

    ngx_log_error(NGX_LOG_ALERT, ngx_cycle->log, err,
                  ngx_trylock_fd_n " of a submission lock file failed");

    return NGX_ERROR;
}


void
ngx_http_submission_election_resign(ngx_http_submission_manager_t *manager)
{
    ngx_err_t  err;

    err = ngx_unlock_fd(manager->conf->lock);

    if (err) {
        ngx_log_error(NGX_LOG_ALERT, ngx_cycle->log, err,
                      ngx_unlock_fd_n " of a submission lock file failed");
    }
}
