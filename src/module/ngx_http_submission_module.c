
/*
 * The directives and the life cycle of the module.
 */

#include "ngx_http_submission_api.h"
#include "ngx_http_submission_directives.h"
#include "ngx_http_submission_executor.h"
#include "ngx_http_submission_leader.h"
#include "ngx_http_submission_location.h"
#include "ngx_http_submission_status.h"
#include "ngx_http_submission_task.h"
#include "ngx_http_submission_signal.h"
#include "ngx_http_submission_zone.h"
#include "ngx_http_submission_zone_feed.h"


/* milliseconds */

#define NGX_HTTP_SUBMISSION_EXIT_LAST_WORDS      1000
#define NGX_HTTP_SUBMISSION_RECOVER_TIMEOUT_MAX  60000


static void *ngx_http_submission_create_main_conf(ngx_conf_t *cf);
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
      offsetof(ngx_http_submission_manager_conf_t, lease_name),
      (void *) 64 },

    { ngx_string("lease_duration"),
      NGX_HTTP_SUBMISSION_CONF|NGX_CONF_TAKE1,
      ngx_http_submission_conf_msec,
      NGX_HTTP_LOC_CONF_OFFSET,
      offsetof(ngx_http_submission_manager_conf_t, lease_duration),
      &ngx_http_submission_lease_bounds },

    { ngx_string("renew_interval"),
      NGX_HTTP_SUBMISSION_CONF|NGX_CONF_TAKE1,
      ngx_http_submission_conf_msec,
      NGX_HTTP_LOC_CONF_OFFSET,
      offsetof(ngx_http_submission_manager_conf_t, renew_interval),
      &ngx_http_submission_interval_bounds },

    { ngx_string("acquire_interval"),
      NGX_HTTP_SUBMISSION_CONF|NGX_CONF_TAKE1,
      ngx_http_submission_conf_msec,
      NGX_HTTP_LOC_CONF_OFFSET,
      offsetof(ngx_http_submission_manager_conf_t, acquire_interval),
      &ngx_http_submission_interval_bounds },

    { ngx_string("queue_refresh_interval"),
      NGX_HTTP_SUBMISSION_CONF|NGX_CONF_TAKE1,
      ngx_http_submission_conf_msec,
      NGX_HTTP_LOC_CONF_OFFSET,
      offsetof(ngx_http_submission_manager_conf_t, queue_refresh_interval),
      &ngx_http_submission_interval_bounds },

    { ngx_string("holder_id"),
      NGX_HTTP_SUBMISSION_CONF|NGX_CONF_TAKE1,
      ngx_http_submission_conf_name,
      NGX_HTTP_LOC_CONF_OFFSET,
      offsetof(ngx_http_submission_manager_conf_t, holder_id),
      (void *) 128 },

    { ngx_string("release_on_exit"),
      NGX_HTTP_SUBMISSION_CONF|NGX_CONF_FLAG,
      ngx_conf_set_flag_slot,
      NGX_HTTP_LOC_CONF_OFFSET,
      offsetof(ngx_http_submission_manager_conf_t, release_on_exit),
      NULL },

    { ngx_string("wake_url"),
      NGX_HTTP_SUBMISSION_CONF|NGX_CONF_TAKE1,
      ngx_http_submission_conf_wake_url,
      NGX_HTTP_LOC_CONF_OFFSET,
      0,
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

    { ngx_string("retention"),
      NGX_HTTP_SUBMISSION_CONF|NGX_CONF_1MORE,
      ngx_http_submission_keep_retention,
      NGX_HTTP_LOC_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("inbox_max_payload"),
      NGX_HTTP_SUBMISSION_CONF|NGX_CONF_TAKE1,
      ngx_http_submission_keep_inbox,
      NGX_HTTP_LOC_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("schedule"),
      NGX_HTTP_SUBMISSION_CONF|NGX_CONF_2MORE,
      ngx_http_submission_schedule,
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

    { ngx_string("webhook"),
      NGX_HTTP_SUBMISSION_CONF|NGX_CONF_BLOCK|NGX_CONF_1MORE,
      ngx_http_submission_webhook_block,
      NGX_HTTP_LOC_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("notify"),
      NGX_HTTP_SUBMISSION_CONF|NGX_CONF_TAKE12,
      ngx_http_submission_webhook_notify_all,
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
      NGX_HTTP_SUBMISSION_TARGET_CONF|NGX_HTTP_SUBMISSION_WEBHOOK_CONF
                                     |NGX_CONF_1MORE,
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

    { ngx_string("circuit"),
      NGX_HTTP_SUBMISSION_TARGET_CONF|NGX_HTTP_SUBMISSION_WEBHOOK_CONF
                                     |NGX_CONF_TAKE23,
      ngx_http_submission_rules_circuit,
      NGX_HTTP_LOC_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("retry_schedule"),
      NGX_HTTP_SUBMISSION_TARGET_CONF|NGX_HTTP_SUBMISSION_WEBHOOK_CONF
                                     |NGX_CONF_1MORE,
      ngx_http_submission_rules_schedule,
      NGX_HTTP_LOC_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("retry_delay"),
      NGX_HTTP_SUBMISSION_TARGET_CONF|NGX_HTTP_SUBMISSION_WEBHOOK_CONF
                                     |NGX_CONF_1MORE,
      ngx_http_submission_target_retry_delay,
      NGX_HTTP_LOC_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("notify"),
      NGX_HTTP_SUBMISSION_TARGET_CONF|NGX_CONF_TAKE12,
      ngx_http_submission_webhook_notify_target,
      NGX_HTTP_LOC_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("sign_secret_file"),
      NGX_HTTP_SUBMISSION_TARGET_CONF|NGX_CONF_TAKE1,
      ngx_http_submission_webhook_secret,
      NGX_HTTP_LOC_CONF_OFFSET,
      0,
      NULL },

    /* in webhook */

    { ngx_string("url"),
      NGX_HTTP_SUBMISSION_WEBHOOK_CONF|NGX_CONF_TAKE1,
      ngx_http_submission_target_gateway_url,
      NGX_HTTP_LOC_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("secret_file"),
      NGX_HTTP_SUBMISSION_WEBHOOK_CONF|NGX_CONF_TAKE1,
      ngx_http_submission_webhook_secret,
      NGX_HTTP_LOC_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("events"),
      NGX_HTTP_SUBMISSION_WEBHOOK_CONF|NGX_CONF_1MORE,
      ngx_http_submission_webhook_events,
      NGX_HTTP_LOC_CONF_OFFSET,
      0,
      NULL },

    /* in location */

    { ngx_string("submission_api"),
      NGX_HTTP_LOC_CONF|NGX_CONF_1MORE,
      ngx_http_submission_api,
      NGX_HTTP_LOC_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("submission_console"),
      NGX_HTTP_LOC_CONF|NGX_CONF_1MORE,
      ngx_http_submission_console_location,
      NGX_HTTP_LOC_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("submission_actor"),
      NGX_HTTP_MAIN_CONF|NGX_HTTP_SRV_CONF|NGX_HTTP_LOC_CONF|NGX_CONF_TAKE1,
      ngx_http_set_complex_value_slot,
      NGX_HTTP_LOC_CONF_OFFSET,
      offsetof(ngx_http_submission_loc_conf_t, actor),
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

    { ngx_string("submission_wake"),
      NGX_HTTP_LOC_CONF|NGX_CONF_TAKE1,
      ngx_http_submission_wake_location,
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
                       sizeof(ngx_http_submission_manager_conf_t *))
        != NGX_OK
        || ngx_array_init(&smcf->places, cf->pool, 8,
                          sizeof(ngx_http_submission_place_t))
           != NGX_OK)
    {
        return NULL;
    }

    return smcf;
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
    if (ngx_http_submission_check(cf) != NGX_OK) {
        return NGX_ERROR;
    }

    ngx_http_submission_warn(cf);

    if (ngx_http_submission_dispatch_init(cf) != NGX_OK) {
        return NGX_ERROR;
    }

    return ngx_http_submission_filter_init(cf);
}


/* the configuration is in effect from here on, and nothing may fail */

static ngx_int_t
ngx_http_submission_init_module(ngx_cycle_t *cycle)
{
    ngx_uint_t                           i;
    ngx_http_submission_shctx_t         *sh;
    ngx_http_submission_main_conf_t     *smcf;
    ngx_http_submission_manager_conf_t  *mcf, **mcfs;

    smcf = ngx_http_cycle_get_module_main_conf(cycle,
                                               ngx_http_submission_module);
    if (smcf == NULL) {
        return NGX_OK;
    }

    mcfs = smcf->managers.elts;

    for (i = 0; i < smcf->managers.nelts; i++) {
        mcf = mcfs[i];
        sh = mcf->sh;

        sh->generation++;
        sh->create = sh->generation;
        ngx_memzero((void *) sh->feed->workers, sizeof(sh->feed->workers));
        sh->tenure += mcf->new_tenure;

        mcf->generation = sh->generation;
        mcf->tenure = sh->tenure;

        ngx_http_submission_reserve_check(cycle, mcf);

        /*
         * with "executor off" nobody takes the lease over, so its holder
         * releases it
         */

        sh->quitting = mcf->executor_off ? NGX_HTTP_SUBMISSION_QUIT_BEGUN
                                         : NGX_HTTP_SUBMISSION_QUIT_NO;
    }

    return NGX_OK;
}


static ngx_int_t
ngx_http_submission_init_store(ngx_cycle_t *cycle,
    ngx_http_submission_manager_t *manager)
{
    sm_store_conf_t                      conf;
    ngx_http_submission_manager_conf_t  *mcf;

    mcf = manager->conf;

    ngx_memzero(&conf, sizeof(sm_store_conf_t));

    conf.lease_name = ngx_http_submission_str(&mcf->lease_name);
    conf.path = (char *) mcf->store_path.data;
    conf.busy_timeout = mcf->busy_timeout;
    conf.migrate_no_copy = mcf->migrate_no_copy;
    conf.create = &manager->sh->create;
    conf.generation = mcf->generation;
    conf.connection = ngx_http_submission_str(&mcf->connection);
    conf.password = ngx_http_submission_str(&mcf->password);
    conf.login_timeout = mcf->login_timeout;
    conf.query_timeout = mcf->query_timeout;
    conf.recover_timeout = ngx_min(mcf->lease_duration,
                                   NGX_HTTP_SUBMISSION_RECOVER_TIMEOUT_MAX);
    conf.pool = mcf->pool;

    if (sm_store_init(&manager->store, mcf->store_ops, &conf) != 0) {
        ngx_log_error(NGX_LOG_EMERG, cycle->log, 0,
                      "submission_manager \"%V\": store %s cannot be "
                      "initialized", &mcf->name,
                      sm_store_ops_name(mcf->store_ops));
        return NGX_ERROR;
    }

    return NGX_OK;
}


static ngx_int_t
ngx_http_submission_init_manager(ngx_cycle_t *cycle,
    ngx_http_submission_manager_conf_t *mcf)
{
    ngx_http_submission_manager_t  *manager;

    manager = ngx_pcalloc(cycle->pool, sizeof(ngx_http_submission_manager_t));
    if (manager == NULL) {
        return NGX_ERROR;
    }

    manager->conf = mcf;
    manager->sh = mcf->sh;
    mcf->manager = manager;

    ngx_http_submission_zone_holder(manager, cycle);
    ngx_http_submission_event_begin(manager, cycle);

    if (ngx_http_submission_init_store(cycle, manager) != NGX_OK
        || ngx_http_submission_intake_init(cycle, manager) != NGX_OK
        || ngx_http_submission_health_init(cycle, manager) != NGX_OK
        || ngx_http_submission_wait_init(cycle, manager) != NGX_OK
        || ngx_http_submission_peer_init(cycle, manager) != NGX_OK)
    {
        return NGX_ERROR;
    }

    if (mcf->executor_off) {
        return ngx_http_submission_fetch_init(cycle, manager);
    }

    if (ngx_http_submission_executor_init(cycle, manager) != NGX_OK
        || ngx_http_submission_leader_init(cycle, manager,
                                       &ngx_http_submission_executor_handlers)
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    return ngx_http_submission_tidy_init(cycle, manager);
}


static ngx_int_t
ngx_http_submission_init_process(ngx_cycle_t *cycle)
{
    ngx_uint_t                            i;
    ngx_http_submission_main_conf_t      *smcf;
    ngx_http_submission_manager_conf_t  **mcfs;

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

    mcfs = smcf->managers.elts;

    for (i = 0; i < smcf->managers.nelts; i++) {
        if (ngx_http_submission_init_manager(cycle, mcfs[i]) != NGX_OK) {
            return NGX_ERROR;
        }
    }

    return NGX_OK;
}


/*
 * The thread pools have run the remaining tasks and are gone by now.  The
 * master kills a worker that is being terminated after a second and a half.
 */

static void
ngx_http_submission_exit_process(ngx_cycle_t *cycle)
{
    ngx_uint_t                            i;
    ngx_msec_t                            deadline;
    ngx_http_submission_manager_t        *manager;
    ngx_http_submission_main_conf_t      *smcf;
    ngx_http_submission_manager_conf_t  **mcfs;

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

    mcfs = smcf->managers.elts;
    deadline = ngx_http_submission_msec() + NGX_HTTP_SUBMISSION_EXIT_LAST_WORDS;

    for (i = 0; i < smcf->managers.nelts; i++) {
        manager = mcfs[i]->manager;

        ngx_http_submission_event_end(manager);
        sm_store_hurry(&manager->store, NGX_HTTP_SUBMISSION_EXIT_LAST_WORDS);

        if (manager->leader) {
            ngx_http_submission_leader_end(manager, deadline);
        }

        sm_store_done(&manager->store);
    }
}
