
/*
 * Directives and life cycle, nothing else.
 */

#include "ngx_http_submission.h"

#include <sys/eventfd.h>


#define NGX_HTTP_SUBMISSION_LAST_WORDS  1000     /* milliseconds */


#define NGX_HTTP_SUBMISSION_RECOVER_MAX  60000      /* milliseconds */


static void *ngx_http_submission_create_main_conf(ngx_conf_t *cf);
static void *ngx_http_submission_create_loc_conf(ngx_conf_t *cf);
static char *ngx_http_submission_merge_loc_conf(ngx_conf_t *cf, void *parent,
    void *child);
static char *ngx_http_submission_api(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);
static char *ngx_http_submission_readyz(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);
static char *ngx_http_submission_metrics(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);
static ngx_int_t ngx_http_submission_preconfiguration(ngx_conf_t *cf);
static ngx_int_t ngx_http_submission_postconfiguration(ngx_conf_t *cf);
static ngx_int_t ngx_http_submission_init_module(ngx_cycle_t *cycle);
static ngx_int_t ngx_http_submission_init_process(ngx_cycle_t *cycle);
static void ngx_http_submission_exit_process(ngx_cycle_t *cycle);


static ngx_http_submission_msec_bounds_t  ngx_http_submission_lease_bounds = {
    NULL, 100, 86400000, "a time between 100ms and 1d"
};

static ngx_http_submission_msec_bounds_t  ngx_http_submission_interval_bounds =
{
    NULL, 10, 86400000, "a time between 10ms and 1d"
};


static ngx_command_t  ngx_http_submission_commands[] = {

    { ngx_string("submission_manager"),
      NGX_HTTP_MAIN_CONF|NGX_CONF_BLOCK|NGX_CONF_TAKE1,
      ngx_http_submission_manager_block,
      0,
      0,
      NULL },

    /* in submission_manager */

    { ngx_string("zone"),
      NGX_HTTP_SUBMISSION_CONF|NGX_CONF_TAKE1,
      ngx_http_submission_conf_zone,
      NGX_HTTP_LOC_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("thread_pool"),
      NGX_HTTP_SUBMISSION_CONF|NGX_CONF_TAKE1,
      ngx_http_submission_conf_thread_pool,
      NGX_HTTP_LOC_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("store"),
      NGX_HTTP_SUBMISSION_CONF|NGX_CONF_1MORE,
      ngx_http_submission_conf_store,
      NGX_HTTP_LOC_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("lease_name"),
      NGX_HTTP_SUBMISSION_CONF|NGX_CONF_TAKE1,
      ngx_http_submission_conf_name,
      NGX_HTTP_LOC_CONF_OFFSET,
      offsetof(ngx_http_submission_manager_t, lease_name),
      (void *) 64 },

    { ngx_string("lease_duration"),
      NGX_HTTP_SUBMISSION_CONF|NGX_CONF_TAKE1,
      ngx_http_submission_conf_msec,
      NGX_HTTP_LOC_CONF_OFFSET,
      offsetof(ngx_http_submission_manager_t, lease_duration),
      &ngx_http_submission_lease_bounds },

    { ngx_string("renew_interval"),
      NGX_HTTP_SUBMISSION_CONF|NGX_CONF_TAKE1,
      ngx_http_submission_conf_msec,
      NGX_HTTP_LOC_CONF_OFFSET,
      offsetof(ngx_http_submission_manager_t, renew_interval),
      &ngx_http_submission_interval_bounds },

    { ngx_string("acquire_interval"),
      NGX_HTTP_SUBMISSION_CONF|NGX_CONF_TAKE1,
      ngx_http_submission_conf_msec,
      NGX_HTTP_LOC_CONF_OFFSET,
      offsetof(ngx_http_submission_manager_t, acquire_interval),
      &ngx_http_submission_interval_bounds },

    { ngx_string("schedule_refresh_interval"),
      NGX_HTTP_SUBMISSION_CONF|NGX_CONF_TAKE1,
      ngx_http_submission_conf_msec,
      NGX_HTTP_LOC_CONF_OFFSET,
      offsetof(ngx_http_submission_manager_t, schedule_refresh_interval),
      &ngx_http_submission_interval_bounds },

    { ngx_string("holder_id"),
      NGX_HTTP_SUBMISSION_CONF|NGX_CONF_TAKE1,
      ngx_http_submission_conf_name,
      NGX_HTTP_LOC_CONF_OFFSET,
      offsetof(ngx_http_submission_manager_t, holder_id),
      (void *) 128 },

    { ngx_string("release_on_exit"),
      NGX_HTTP_SUBMISSION_CONF|NGX_CONF_FLAG,
      ngx_conf_set_flag_slot,
      NGX_HTTP_LOC_CONF_OFFSET,
      offsetof(ngx_http_submission_manager_t, release_on_exit),
      NULL },

    { ngx_string("executor"),
      NGX_HTTP_SUBMISSION_CONF|NGX_CONF_1MORE,
      ngx_http_submission_conf_executor,
      NGX_HTTP_LOC_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("intake"),
      NGX_HTTP_SUBMISSION_CONF|NGX_CONF_1MORE,
      ngx_http_submission_conf_intake,
      NGX_HTTP_LOC_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("targets"),
      NGX_HTTP_SUBMISSION_CONF|NGX_CONF_TAKE1,
      ngx_http_submission_targets_file,
      NGX_HTTP_LOC_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("target"),
      NGX_HTTP_SUBMISSION_CONF|NGX_CONF_BLOCK|NGX_CONF_1MORE,
      ngx_http_submission_target_block,
      NGX_HTTP_LOC_CONF_OFFSET,
      0,
      NULL },

    /* in target */

    { ngx_string("gateway_type"),
      NGX_HTTP_SUBMISSION_TARGET_CONF|NGX_CONF_TAKE1,
      ngx_http_submission_target_gateway_type,
      NGX_HTTP_LOC_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("gateway_url"),
      NGX_HTTP_SUBMISSION_TARGET_CONF|NGX_CONF_TAKE1,
      ngx_http_submission_target_gateway_url,
      NGX_HTTP_LOC_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("policy"),
      NGX_HTTP_SUBMISSION_TARGET_CONF|NGX_CONF_1MORE,
      ngx_http_submission_target_policy,
      NGX_HTTP_LOC_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("terminal_outcomes"),
      NGX_HTTP_SUBMISSION_TARGET_CONF|NGX_CONF_1MORE,
      ngx_http_submission_target_outcomes,
      NGX_HTTP_LOC_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("retry_delay"),
      NGX_HTTP_SUBMISSION_TARGET_CONF|NGX_CONF_1MORE,
      ngx_http_submission_target_retry_delay,
      NGX_HTTP_LOC_CONF_OFFSET,
      0,
      NULL },

    /* in location */

    { ngx_string("submission_api"),
      NGX_HTTP_LOC_CONF|NGX_CONF_TAKE1,
      ngx_http_submission_api,
      NGX_HTTP_LOC_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("submission_readyz"),
      NGX_HTTP_LOC_CONF|NGX_CONF_TAKE1,
      ngx_http_submission_readyz,
      NGX_HTTP_LOC_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("submission_metrics"),
      NGX_HTTP_LOC_CONF|NGX_CONF_TAKE1,
      ngx_http_submission_metrics,
      NGX_HTTP_LOC_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("submission_dispatch"),
      NGX_HTTP_LOC_CONF|NGX_CONF_TAKE1,
      ngx_http_submission_dispatch,
      NGX_HTTP_LOC_CONF_OFFSET,
      0,
      NULL },

#if (NDK)
    { ngx_string("set_submission_role"),
      NGX_HTTP_SRV_CONF|NGX_HTTP_SIF_CONF|NGX_HTTP_LOC_CONF|NGX_HTTP_LIF_CONF
                       |NGX_CONF_TAKE2,
      ngx_http_submission_role_directive,
      NGX_HTTP_LOC_CONF_OFFSET,
      0,
      NULL },
#endif

      ngx_null_command
};


static ngx_http_module_t  ngx_http_submission_module_ctx = {
    ngx_http_submission_preconfiguration,  /* preconfiguration */
    ngx_http_submission_postconfiguration, /* postconfiguration */

    ngx_http_submission_create_main_conf,  /* create main configuration */
    NULL,                                  /* init main configuration */

    NULL,                                  /* create server configuration */
    NULL,                                  /* merge server configuration */

    ngx_http_submission_create_loc_conf,   /* create location configuration */
    ngx_http_submission_merge_loc_conf     /* merge location configuration */
};


ngx_module_t  ngx_http_submission_module = {
    NGX_MODULE_V1,
    &ngx_http_submission_module_ctx,       /* module context */
    ngx_http_submission_commands,          /* module directives */
    NGX_HTTP_MODULE,                       /* module type */
    NULL,                                  /* init master */
    ngx_http_submission_init_module,       /* init module */
    ngx_http_submission_init_process,      /* init process */
    NULL,                                  /* init thread */
    NULL,                                  /* exit thread */
    ngx_http_submission_exit_process,      /* exit process */
    NULL,                                  /* exit master */
    NGX_MODULE_V1_PADDING
};


static void *
ngx_http_submission_create_main_conf(ngx_conf_t *cf)
{
    ngx_http_submission_main_conf_t  *smcf;

    smcf = ngx_pcalloc(cf->pool, sizeof(ngx_http_submission_main_conf_t));
    if (smcf == NULL) {
        return NULL;
    }

    if (ngx_array_init(&smcf->managers, cf->pool, 1,
                       sizeof(ngx_http_submission_manager_t *))
        != NGX_OK)
    {
        return NULL;
    }

    return smcf;
}


static void *
ngx_http_submission_create_loc_conf(ngx_conf_t *cf)
{
    return ngx_pcalloc(cf->pool, sizeof(ngx_http_submission_loc_conf_t));
}


static ngx_http_handler_pt
ngx_http_submission_location_handler(ngx_http_submission_loc_conf_t *slcf)
{
    return slcf->api ? ngx_http_submission_api_handler
           : slcf->readyz ? ngx_http_submission_readyz_handler
           : slcf->metrics ? ngx_http_submission_metrics_handler
                           : NULL;
}


/*
 * A nested location is no API because its parent is one; but an "if" or a
 * "limit_except" is the location that it stands in.
 */

static char *
ngx_http_submission_merge_loc_conf(ngx_conf_t *cf, void *parent, void *child)
{
    ngx_http_submission_loc_conf_t *prev = parent;
    ngx_http_submission_loc_conf_t *conf = child;

    ngx_http_handler_pt        handler;
    ngx_http_core_loc_conf_t  *clcf;

    clcf = ngx_http_conf_get_module_loc_conf(cf, ngx_http_core_module);

    if (clcf->noname) {
        *conf = *prev;

        /* nginx gives an "if" its location's handler, a "limit_except" not */

        if (clcf->lmt_excpt && clcf->handler == NULL) {
            clcf->handler = ngx_http_submission_location_handler(conf);
        }

        return NGX_CONF_OK;
    }

    handler = ngx_http_submission_location_handler(conf);

    if (handler && clcf->handler != handler) {

        /* a directive further down the location has taken it over */

        ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                      "location \"%V\" has a \"submission_...\" directive and "
                      "another one that answers requests, such as "
                      "\"proxy_pass\": only one of them was expected",
                      &clcf->name);
        return NGX_CONF_ERROR;
    }

    return NGX_CONF_OK;
}


static char *
ngx_http_submission_location(ngx_conf_t *cf, ngx_http_handler_pt handler,
    ngx_http_submission_manager_t **managerp)
{
    char                      *rv;
    ngx_http_core_loc_conf_t  *clcf;

    rv = ngx_http_submission_conf_reference(cf, managerp);
    if (rv != NGX_CONF_OK) {
        return rv;
    }

    clcf = ngx_http_conf_get_module_loc_conf(cf, ngx_http_core_module);

    if (clcf->handler) {
        return "stands beside another directive that answers requests, such "
               "as \"proxy_pass\": only one of them was expected";
    }

    clcf->handler = handler;

    return NGX_CONF_OK;
}


static char *
ngx_http_submission_api(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_http_submission_loc_conf_t *slcf = conf;

    ngx_http_core_loc_conf_t  *clcf;

    clcf = ngx_http_conf_get_module_loc_conf(cf, ngx_http_core_module);

    if (clcf->named || clcf->exact_match
#if (NGX_PCRE)
        || clcf->regex
#endif
        )
    {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "\"submission_api\" needs a location given by a "
                           "prefix, such as \"location /v1/\", not \"%V\"",
                           &clcf->name);
        return NGX_CONF_ERROR;
    }

    slcf->prefix = clcf->name;

    return ngx_http_submission_location(cf, ngx_http_submission_api_handler,
                                        &slcf->api);
}


static char *
ngx_http_submission_readyz(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_http_submission_loc_conf_t *slcf = conf;

    return ngx_http_submission_location(cf, ngx_http_submission_readyz_handler,
                                        &slcf->readyz);
}


static char *
ngx_http_submission_metrics(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_http_submission_loc_conf_t *slcf = conf;

    return ngx_http_submission_location(cf,
                                        ngx_http_submission_metrics_handler,
                                        &slcf->metrics);
}


static ngx_int_t
ngx_http_submission_preconfiguration(ngx_conf_t *cf)
{
    if (ngx_http_submission_dispatch_add_variables(cf) != NGX_OK) {
        return NGX_ERROR;
    }

    return ngx_http_submission_role_add_variable(cf);
}


static ngx_int_t
ngx_http_submission_postconfiguration(ngx_conf_t *cf)
{
    if (ngx_http_submission_check(cf) != NGX_OK
        || ngx_http_submission_dispatch_init(cf) != NGX_OK)
    {
        return NGX_ERROR;
    }

    return ngx_http_submission_reply_init(cf);
}


/*
 * The directory of the store is made as nginx makes its own: by the master,
 * for the user of the workers.  One that exists is left as it is.
 */

static ngx_int_t
ngx_http_submission_create_dir(ngx_cycle_t *cycle, ngx_str_t *path)
{
    u_char           *slash, *dir;
    ngx_core_conf_t  *ccf;

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

        ngx_log_error(NGX_LOG_EMERG, cycle->log, ngx_errno,
                      ngx_create_dir_n " \"%s\" failed", dir);
        return NGX_ERROR;
    }

    ccf = (ngx_core_conf_t *) ngx_get_conf(cycle->conf_ctx, ngx_core_module);

    if (geteuid() == 0 && ccf->user != (ngx_uid_t) NGX_CONF_UNSET_UINT
        && chown((const char *) dir, ccf->user, -1) == -1)
    {
        ngx_log_error(NGX_LOG_EMERG, cycle->log, ngx_errno,
                      "chown(\"%s\", %d) failed", dir, ccf->user);
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


/* the same eventfd as that of the configuration before, if there was one */

static ngx_int_t
ngx_http_submission_open_eventfd(ngx_cycle_t *cycle, ngx_fd_t *fd,
    ngx_fd_t *old)
{
    *fd = old ? fcntl(*old, F_DUPFD_CLOEXEC, 0)
              : eventfd(0, EFD_NONBLOCK|EFD_CLOEXEC);

    if (*fd == NGX_INVALID_FILE) {
        ngx_log_error(NGX_LOG_EMERG, cycle->log, ngx_errno,
                      "submission: eventfd cannot be made");
    }

    return ngx_http_submission_keep(cycle, *fd, (u_char *) "eventfd");
}


static ngx_uint_t
ngx_http_submission_same(ngx_str_t *a, ngx_str_t *b)
{
    return a->len == b->len
           && (a->len == 0 || ngx_memcmp(a->data, b->data, a->len) == 0);
}


/* the manager of that name in the configuration before, or NULL */

static ngx_http_submission_manager_t *
ngx_http_submission_predecessor(ngx_http_submission_manager_t *manager)
{
    ngx_uint_t                         i;
    ngx_cycle_t                       *cycle;
    ngx_http_submission_manager_t    **managers;
    ngx_http_submission_main_conf_t   *smcf;

    cycle = manager->cycle->old_cycle;

    if (ngx_is_init_cycle(cycle)) {
        return NULL;
    }

    /* it may have been without this module */

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
        if (ngx_http_submission_same(&managers[i]->name, &manager->name)) {
            return managers[i];
        }
    }

    return NULL;
}


/* whether they ask for the same lease, by the same name */

static ngx_uint_t
ngx_http_submission_same_tenure(ngx_http_submission_manager_t *a,
    ngx_http_submission_manager_t *b)
{
    return a->store_ops == b->store_ops
           && ngx_http_submission_same(&a->store_path, &b->store_path)
           && ngx_http_submission_same(&a->connection, &b->connection)
           && ngx_http_submission_same(&a->lease_name, &b->lease_name)
           && ngx_http_submission_same(&a->holder_id, &b->holder_id);
}


ngx_int_t
ngx_http_submission_open(ngx_http_submission_manager_t *manager)
{
    ngx_cycle_t                    *cycle;
    ngx_http_submission_manager_t  *old;

    cycle = manager->cycle;
    old = ngx_http_submission_predecessor(manager);

    manager->new_tenure = old && !ngx_http_submission_same_tenure(manager, old);

    if (old && old->sh != manager->sh) {

        /* a zone of another size, and the same instance */

        manager->sh->started_at = old->sh->started_at;
    }

    if (manager->store_path.len
        && ngx_http_submission_create_dir(cycle, &manager->store_path)
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    if (ngx_http_submission_election_open(manager, old) != NGX_OK
        || ngx_http_submission_open_eventfd(cycle, &manager->wake,
                                            old ? &old->wake : NULL)
           != NGX_OK
        || ngx_http_submission_open_eventfd(cycle, &manager->notice,
                                            old ? &old->notice : NULL)
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    return NGX_OK;
}


/* the configuration counts from here on; nothing may fail */

static ngx_int_t
ngx_http_submission_init_module(ngx_cycle_t *cycle)
{
    ngx_uint_t                         i;
    ngx_http_submission_shctx_t       *sh;
    ngx_http_submission_manager_t     *manager, **managers;
    ngx_http_submission_main_conf_t   *smcf;

    smcf = ngx_http_cycle_get_module_main_conf(cycle,
                                               ngx_http_submission_module);
    if (smcf == NULL) {
        return NGX_OK;
    }

    managers = smcf->managers.elts;

    for (i = 0; i < smcf->managers.nelts; i++) {
        manager = managers[i];
        sh = manager->sh;

        sh->create = 1;
        sh->generation++;
        sh->tenure += manager->new_tenure;

        manager->generation = sh->generation;
        manager->tenure = sh->tenure;

        ngx_http_submission_check_connections(cycle, manager);

        /* nobody takes a lease over from here: whoever holds it gives it up */

        sh->quitting = manager->executor_off ? NGX_HTTP_SUBMISSION_QUITTING
                                             : NGX_HTTP_SUBMISSION_STAYING;
    }

    return NGX_OK;
}


static ngx_int_t
ngx_http_submission_init_process(ngx_cycle_t *cycle)
{
    ngx_uint_t                         i;
    sm_store_conf_t                    conf;
    ngx_http_submission_manager_t     *manager, **managers;
    ngx_http_submission_main_conf_t   *smcf;

    if (ngx_process != NGX_PROCESS_WORKER && ngx_process != NGX_PROCESS_SINGLE)
    {
        return NGX_OK;
    }

    smcf = ngx_http_cycle_get_module_main_conf(cycle,
                                               ngx_http_submission_module);
    if (smcf == NULL) {
        return NGX_OK;
    }

    if (smcf->managers.nelts
        && ngx_http_submission_send_init(cycle) != NGX_OK)
    {
        return NGX_ERROR;
    }

    managers = smcf->managers.elts;

    for (i = 0; i < smcf->managers.nelts; i++) {
        manager = managers[i];

        ngx_http_submission_zone_holder(manager, cycle);

        ngx_memzero(&conf, sizeof(sm_store_conf_t));

        conf.lease_name.data = (char *) manager->lease_name.data;
        conf.lease_name.len = manager->lease_name.len;
        conf.path = (char *) manager->store_path.data;
        conf.busy_timeout = manager->busy_timeout;
        conf.migrate_no_copy = manager->migrate_no_copy;
        conf.create = &manager->sh->create;
        conf.connection.data = (char *) manager->connection.data;
        conf.connection.len = manager->connection.len;
        conf.password.data = (char *) manager->password.data;
        conf.password.len = manager->password.len;
        conf.login_timeout = manager->login_timeout;
        conf.query_timeout = manager->query_timeout;
        conf.recover_timeout = ngx_min(manager->lease_duration,
                                       NGX_HTTP_SUBMISSION_RECOVER_MAX);
        conf.pool = manager->pool;

        if (sm_store_init(&manager->store, manager->store_ops, &conf) != 0) {
            ngx_log_error(NGX_LOG_EMERG, cycle->log, 0,
                          "submission_manager \"%V\": store %s cannot be "
                          "initialized", &manager->name,
                          manager->store_ops->name);
            return NGX_ERROR;
        }

        if (ngx_http_submission_intake_init(manager, cycle->log) != NGX_OK) {
            return NGX_ERROR;
        }

        ngx_http_submission_health_init(manager, cycle);

        if (ngx_http_submission_wait_init(cycle, manager) != NGX_OK) {
            return NGX_ERROR;
        }

        if (manager->executor_off) {
            continue;
        }

        if (ngx_http_submission_executor_init(cycle, manager) != NGX_OK
            || ngx_http_submission_leader_init(cycle, manager) != NGX_OK)
        {
            return NGX_ERROR;
        }

        ngx_http_submission_tidy_init(manager, cycle);
    }

    return NGX_OK;
}


/*
 * The thread pools have run what was left and are gone by now.  A worker that
 * is terminated is killed by the master after a second and a half.
 */

static void
ngx_http_submission_exit_process(ngx_cycle_t *cycle)
{
    ngx_uint_t                         i;
    ngx_msec_t                         deadline;
    ngx_http_submission_manager_t    **managers;
    ngx_http_submission_main_conf_t   *smcf;

    if (ngx_process != NGX_PROCESS_WORKER && ngx_process != NGX_PROCESS_SINGLE)
    {
        return;
    }

    smcf = ngx_http_cycle_get_module_main_conf(cycle,
                                               ngx_http_submission_module);
    if (smcf == NULL) {
        return;
    }

    ngx_http_submission_task_exit(cycle->log);

    managers = smcf->managers.elts;
    deadline = ngx_http_submission_msec() + NGX_HTTP_SUBMISSION_LAST_WORDS;

    for (i = 0; i < smcf->managers.nelts; i++) {
        sm_store_hurry(&managers[i]->store, NGX_HTTP_SUBMISSION_LAST_WORDS);

        if (managers[i]->leader) {
            ngx_http_submission_leader_end(managers[i]->leader, deadline);
        }

        sm_store_done(&managers[i]->store);
    }
}
