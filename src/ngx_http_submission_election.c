
/*
 * Which worker of an instance is its executor worker: the one that has the
 * lock of a file.  The kernel gives a lock back when its process ends, however
 * it ends.
 *
 * The file stands beside the pid file, which no two instances share.  It is
 * opened once: a reload goes on with the same descriptor, whatever became of
 * the name, and only a new binary (USR2) finds it by that.  It is closed with
 * its configuration by the master alone: a worker that closes any descriptor
 * of it loses its lock.
 */

#include "ngx_http_submission.h"

#include <sys/mman.h>


/*
 * A file that another user has left behind is no reason not to start: one
 * without a name does for all but a new binary.
 */

static ngx_fd_t
ngx_http_submission_election_file(ngx_cycle_t *cycle, u_char *path)
{
    ngx_fd_t         fd;
    ngx_err_t        err;
    ngx_file_info_t  fi;

    fd = open((char *) path, O_RDWR|O_CREAT|O_CLOEXEC, 0600);

    if (fd != NGX_INVALID_FILE) {
        return fd;
    }

    err = ngx_errno;

    if ((err != NGX_EACCES && err != NGX_EPERM)
        || ngx_file_info(path, &fi) == NGX_FILE_ERROR)
    {
        ngx_log_error(NGX_LOG_EMERG, cycle->log, err,
                      ngx_open_file_n " \"%s\" failed", path);
        return NGX_INVALID_FILE;
    }

    ngx_log_error(NGX_LOG_WARN, cycle->log, err,
                  "submission: the lock file \"%s\" belongs to another user "
                  "(uid %d) and cannot be opened, going on without it: remove "
                  "it before nginx is started or upgraded the next time",
                  path, (int) fi.st_uid);

    fd = memfd_create("submission_lock", MFD_CLOEXEC);

    if (fd == NGX_INVALID_FILE) {
        ngx_log_error(NGX_LOG_EMERG, cycle->log, ngx_errno,
                      "memfd_create() for a submission lock file failed");
    }

    return fd;
}


/* in the master; "old" is the manager of the configuration before, or NULL */

ngx_int_t
ngx_http_submission_election_open(ngx_http_submission_manager_t *manager,
    ngx_http_submission_manager_t *old)
{
    u_char           *path;
    ngx_cycle_t      *cycle;
    ngx_core_conf_t  *ccf;

    cycle = manager->cycle;
    ccf = (ngx_core_conf_t *) ngx_get_conf(cycle->conf_ctx, ngx_core_module);

    path = ngx_pnalloc(cycle->pool, ccf->pid.len + sizeof(".submission_")
                                    + manager->name.len);
    if (path == NULL) {
        return NGX_ERROR;
    }

    *ngx_sprintf(path, "%V.submission_%V", &ccf->pid, &manager->name) = '\0';

    if (old) {
        manager->lock = fcntl(old->lock, F_DUPFD_CLOEXEC, 0);

        if (manager->lock == NGX_INVALID_FILE) {
            ngx_log_error(NGX_LOG_EMERG, cycle->log, ngx_errno,
                          "fcntl(F_DUPFD_CLOEXEC) of the lock file \"%s\" "
                          "failed", path);
        }

    } else {
        manager->lock = ngx_http_submission_election_file(cycle, path);
    }

    return ngx_http_submission_keep(cycle, manager->lock, path);
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
