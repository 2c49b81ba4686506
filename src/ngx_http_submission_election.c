
/*
 * Which worker of an instance is its executor worker: the one that has the
 * lock of a file.  The kernel gives a lock back when its process ends, however
 * it ends.
 *
 * The file stands beside the pid file, which no two instances share, and is
 * the same one across reload and upgrade.  It is closed with its configuration
 * by the master alone: a worker that closes any descriptor of it loses its
 * lock.
 */

#include "ngx_http_submission.h"


static void
ngx_http_submission_election_close(void *data)
{
    ngx_http_submission_manager_t  *manager = data;

    if (ngx_close_file(manager->lock) == NGX_FILE_ERROR) {
        ngx_log_error(NGX_LOG_ALERT, ngx_cycle->log, ngx_errno,
                      ngx_close_file_n " of a submission lock file failed");
    }
}


/* in the master */

ngx_int_t
ngx_http_submission_election_init(ngx_cycle_t *cycle,
    ngx_http_submission_manager_t *manager)
{
    u_char              *path;
    ngx_core_conf_t     *ccf;
    ngx_pool_cleanup_t  *cln;

    ccf = (ngx_core_conf_t *) ngx_get_conf(cycle->conf_ctx, ngx_core_module);

    path = ngx_pnalloc(cycle->pool, ccf->pid.len + sizeof(".submission_")
                                    + manager->name.len);
    if (path == NULL) {
        return NGX_ERROR;
    }

    *ngx_sprintf(path, "%V.submission_%V", &ccf->pid, &manager->name) = '\0';

    cln = ngx_pool_cleanup_add(cycle->pool, 0);
    if (cln == NULL) {
        return NGX_ERROR;
    }

    manager->lock = open((char *) path, O_RDWR|O_CREAT|O_CLOEXEC, 0600);

    if (manager->lock == NGX_INVALID_FILE) {
        ngx_log_error(NGX_LOG_EMERG, cycle->log, ngx_errno,
                      ngx_open_file_n " \"%s\" failed", path);
        return NGX_ERROR;
    }

    cln->handler = ngx_http_submission_election_close;
    cln->data = manager;

    return NGX_OK;
}


/* NGX_DECLINED: another worker has it */

ngx_int_t
ngx_http_submission_election_win(ngx_http_submission_manager_t *manager)
{
    ngx_err_t  err;

    err = ngx_trylock_fd(manager->lock);

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

    err = ngx_unlock_fd(manager->lock);

    if (err) {
        ngx_log_error(NGX_LOG_ALERT, ngx_cycle->log, err,
                      ngx_unlock_fd_n " of a submission lock file failed");
    }
}
