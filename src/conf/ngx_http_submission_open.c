
/*
 * What a manager needs outside of nginx: the directory of its store, the lock
 * file of the executor worker, and the eventfds between workers.  The master
 * makes them, and a reload keeps those of the configuration before.
 *
 * The lock file is beside the pid file, which no two instances share.  It is
 * opened once: a reload keeps the descriptor even if the name is gone, and
 * only a new binary (USR2) opens the file by its name.  Only the master closes
 * the descriptor, with its configuration.
 */

#include "ngx_http_submission_directives.h"
#include "ngx_http_submission_zone.h"

#include <sys/eventfd.h>
#include <sys/mman.h>


static void
ngx_http_submission_no_dir(ngx_http_submission_manager_conf_t *mcf,
    const char *call, u_char *dir)
{
    ngx_log_error(NGX_LOG_EMERG, mcf->cycle->log, ngx_errno,
                  "the directory of the \"store\" of submission_manager "
                  "\"%V\" in %s:%ui cannot be made: %s \"%s\" failed",
                  &mcf->name,
                  mcf->store_line.file ? mcf->store_line.file : mcf->file,
                  mcf->store_line.file ? mcf->store_line.line : mcf->line,
                  call, dir);
}


/*
 * The master makes the directory of the store, for the user of the workers, as
 * nginx makes its own directories.  One that exists is left as it is.
 */

static ngx_int_t
ngx_http_submission_create_dir(ngx_http_submission_manager_conf_t *mcf)
{
    u_char           *slash, *dir;
    ngx_str_t        *path;
    ngx_cycle_t      *cycle;
    ngx_core_conf_t  *ccf;

    cycle = mcf->cycle;
    path = &mcf->store_path;

    slash = (u_char *) strrchr((char *) path->data, '/');

    if (slash == path->data) {
        return NGX_OK;
    }

    dir = ngx_pnalloc(cycle->pool, slash - path->data + 1);
    if (dir == NULL) {
        return NGX_ERROR;
    }

    ngx_cpystrn(dir, path->data, slash - path->data + 1);

    if (ngx_create_dir(dir, 0700) == NGX_FILE_ERROR) {

        if (ngx_errno == NGX_EEXIST) {
            return NGX_OK;
        }

        ngx_http_submission_no_dir(mcf, ngx_create_dir_n, dir);
        return NGX_ERROR;
    }

    ccf = (ngx_core_conf_t *) ngx_get_conf(cycle->conf_ctx, ngx_core_module);

    if (geteuid() == 0 && ccf->user != (ngx_uid_t) NGX_CONF_UNSET_UINT
        && chown((const char *) dir, ccf->user, -1) == -1)
    {
        ngx_http_submission_no_dir(mcf, "chown()", dir);
        return NGX_ERROR;
    }

    return NGX_OK;
}


ngx_int_t
ngx_http_submission_keep(ngx_cycle_t *cycle, ngx_fd_t fd, u_char *name)
{
    ngx_pool_cleanup_t       *cln;
    ngx_pool_cleanup_file_t  *file;

    if (fd == NGX_INVALID_FILE) {
        return NGX_ERROR;
    }

    cln = ngx_pool_cleanup_add(cycle->pool, sizeof(ngx_pool_cleanup_file_t));

    if (cln == NULL) {
        (void) ngx_close_file(fd);
        return NGX_ERROR;
    }

    file = cln->data;
    file->fd = fd;
    file->name = name;
    file->log = cycle->log;

    cln->handler = ngx_pool_cleanup_file;

    return NGX_OK;
}


/* Takes the eventfd of the configuration before, if there was one. */

static ngx_int_t
ngx_http_submission_open_eventfd(ngx_cycle_t *cycle, ngx_fd_t *fd,
    ngx_fd_t *old)
{
    *fd = old ? fcntl(*old, F_DUPFD_CLOEXEC, 0)
              : eventfd(0, EFD_NONBLOCK|EFD_CLOEXEC);

    if (*fd == NGX_INVALID_FILE) {
        ngx_log_error(NGX_LOG_EMERG, cycle->log, ngx_errno,
                      "submission: eventfd() failed");
    }

    return ngx_http_submission_keep(cycle, *fd, (u_char *) "eventfd");
}


static ngx_uint_t
ngx_http_submission_same(ngx_str_t *a, ngx_str_t *b)
{
    return a->len == b->len
           && (a->len == 0 || ngx_memcmp(a->data, b->data, a->len) == 0);
}


/* Returns the manager of that name in the configuration before, or NULL. */

static ngx_http_submission_manager_conf_t *
ngx_http_submission_predecessor(ngx_http_submission_manager_conf_t *mcf)
{
    ngx_uint_t                            i;
    ngx_cycle_t                          *cycle;
    ngx_http_submission_manager_conf_t  **managers;
    ngx_http_submission_main_conf_t      *smcf;

    cycle = mcf->cycle->old_cycle;

    if (ngx_is_init_cycle(cycle)) {
        return NULL;
    }

    /* the configuration before may not have loaded this module */

    for (i = 0; cycle->modules[i] != &ngx_http_submission_module; i++) {
        if (cycle->modules[i] == NULL) {
            return NULL;
        }
    }

    smcf = ngx_http_cycle_get_module_main_conf(cycle,
                                               ngx_http_submission_module);
    if (smcf == NULL) {
        return NULL;
    }

    managers = smcf->managers.elts;

    for (i = 0; i < smcf->managers.nelts; i++) {
        if (ngx_http_submission_same(&managers[i]->name, &mcf->name)) {
            return managers[i];
        }
    }

    return NULL;
}


/* Says whether both ask for the same lease with the same holder_id. */

static ngx_uint_t
ngx_http_submission_same_tenure(ngx_http_submission_manager_conf_t *a,
    ngx_http_submission_manager_conf_t *b)
{
    return a->store_ops == b->store_ops
           && ngx_http_submission_same(&a->store_path, &b->store_path)
           && ngx_http_submission_same(&a->connection, &b->connection)
           && ngx_http_submission_same(&a->lease_name, &b->lease_name)
           && ngx_http_submission_same(&a->holder_id, &b->holder_id);
}


/*
 * If a lock file of another user is there, an unnamed file is used instead.
 * That works for everything except a new binary.
 */

static ngx_fd_t
ngx_http_submission_open_lock_file(ngx_cycle_t *cycle, u_char *path)
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


/* "old" is the manager of the configuration before, or NULL. */

static ngx_int_t
ngx_http_submission_open_lock(ngx_http_submission_manager_conf_t *mcf,
    ngx_http_submission_manager_conf_t *old)
{
    u_char           *path;
    ngx_cycle_t      *cycle;
    ngx_core_conf_t  *ccf;

    cycle = mcf->cycle;
    ccf = (ngx_core_conf_t *) ngx_get_conf(cycle->conf_ctx, ngx_core_module);

    path = ngx_pnalloc(cycle->pool, ccf->pid.len + sizeof(".submission_")
                                    + mcf->name.len);
    if (path == NULL) {
        return NGX_ERROR;
    }

    *ngx_sprintf(path, "%V.submission_%V", &ccf->pid, &mcf->name) = '\0';

    if (old) {
        mcf->lock = fcntl(old->lock, F_DUPFD_CLOEXEC, 0);

        if (mcf->lock == NGX_INVALID_FILE) {
            ngx_log_error(NGX_LOG_EMERG, cycle->log, ngx_errno,
                          "fcntl(F_DUPFD_CLOEXEC) of the lock file \"%s\" "
                          "failed", path);
        }

    } else {
        mcf->lock = ngx_http_submission_open_lock_file(cycle, path);
    }

    return ngx_http_submission_keep(cycle, mcf->lock, path);
}


ngx_int_t
ngx_http_submission_open(ngx_http_submission_manager_conf_t *mcf)
{
    ngx_cycle_t                         *cycle;
    ngx_http_submission_manager_conf_t  *old;

    cycle = mcf->cycle;
    old = ngx_http_submission_predecessor(mcf);

    mcf->new_tenure = old && !ngx_http_submission_same_tenure(mcf, old);

    if (old && old->sh != mcf->sh) {

        /* the zone is new, but the instance is the same */

        mcf->sh->started_at = old->sh->started_at;
        mcf->sh->key = old->sh->key;
    }

    if (mcf->store_path.len
        && ngx_http_submission_create_dir(mcf) != NGX_OK)
    {
        return NGX_ERROR;
    }

    if (ngx_http_submission_open_lock(mcf, old) != NGX_OK
        || ngx_http_submission_open_eventfd(cycle, &mcf->wake,
                                            old ? &old->wake : NULL)
           != NGX_OK
        || ngx_http_submission_open_eventfd(cycle, &mcf->notice,
                                            old ? &old->notice : NULL)
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    return NGX_OK;
}
