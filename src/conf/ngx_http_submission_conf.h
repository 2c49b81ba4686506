
/*
 * The configuration, and what a worker has for each manager.  Everything else
 * in the nginx layer builds on this.
 */

#ifndef _NGX_HTTP_SUBMISSION_CONF_H_INCLUDED_
#define _NGX_HTTP_SUBMISSION_CONF_H_INCLUDED_


#include "ngx_http_submission_operations.h"
#include "ngx_http_submission_tools.h"

#include "sm_bucket.h"
#include "sm_contract.h"
#include "sm_limit.h"
#include "sm_retention.h"
#include "sm_schedule_row.h"


#if !(NGX_THREADS)
#error "ngx_http_submission_module requires nginx built --with-threads"
#endif


#define NGX_HTTP_SUBMISSION_VERSION  "0.1"


typedef struct ngx_http_submission_manager_s   ngx_http_submission_manager_t;
typedef struct ngx_http_submission_health_s    ngx_http_submission_health_t;
typedef struct ngx_http_submission_bells_s     ngx_http_submission_bells_t;
typedef struct ngx_http_submission_peer_s      ngx_http_submission_peer_t;
typedef struct ngx_http_submission_intake_s    ngx_http_submission_intake_t;
typedef struct ngx_http_submission_wait_s      ngx_http_submission_wait_t;
typedef struct ngx_http_submission_leader_s    ngx_http_submission_leader_t;
typedef struct ngx_http_submission_executor_s  ngx_http_submission_executor_t;
typedef struct ngx_http_submission_instances_s ngx_http_submission_instances_t;

/* These are in the zone, see ngx_http_submission_zone*.h. */

typedef struct ngx_http_submission_shctx_s     ngx_http_submission_shctx_t;
typedef struct ngx_http_submission_limits_s    ngx_http_submission_limits_t;
typedef struct ngx_http_submission_target_node_s
                                           ngx_http_submission_target_node_t;
typedef struct ngx_http_submission_target_metrics_s
                                        ngx_http_submission_target_metrics_t;


typedef struct {
    ngx_str_node_t                   node;
    ngx_uint_t                       index;         /* among all targets */
    sm_contract_t                    contract;
    ngx_uint_t                       concurrency;   /* 0: no limit of its own */

    ngx_array_t                     *notify;        /* see webhook.c */
    sm_str_t                        *keys;          /* to sign with */
    ngx_uint_t                       nkeys;
    ngx_uint_t                       events;        /* ends it hears of */
    unsigned                         webhook:1;     /* it is a webhook */
    ngx_http_submission_target_metrics_t  *metrics; /* NULL: "others" */
    ngx_http_submission_limits_t    *limits;        /* NULL: no room */
    sm_target_rules_t                rules;         /* not in the contract */
} ngx_http_submission_target_t;


/* What others are told of a configuration, see sm_config.h. */

typedef struct {
    sm_str_t                         text;
    sm_str_t                         names_hash;
    sm_str_t                         names;         /* of targets */
} ngx_http_submission_config_t;


/* Where a directive stands, for messages. */

typedef struct {
    u_char                          *file;
    ngx_uint_t                       line;
} ngx_http_submission_conf_line_t;


/* A submission_manager block.  Workers do not write to it. */

typedef struct {
    ngx_str_t                        name;
    u_char                          *file;
    ngx_uint_t                       line;
    unsigned                         defined:1;

    size_t                           zone_size;

    ngx_http_submission_conf_line_t  store_line;   /* file NULL: none */
    const sm_store_ops_t            *store_ops;
    ngx_str_t                        store_path;
    ngx_msec_t                       busy_timeout;
    ngx_uint_t                       migrate_no_copy;
    ngx_str_t                        connection;   /* of a database server */
    ngx_str_t                        password;
    ngx_msec_t                       login_timeout;
    ngx_msec_t                       query_timeout;
    ngx_msec_t                       retry;        /* 0: no retries */
    ngx_uint_t                       pool;

    ngx_str_t                        lease_name;
    ngx_msec_t                       lease_duration;
    ngx_msec_t                       renew_interval;
    ngx_msec_t                       acquire_interval;
    ngx_msec_t                       queue_refresh_interval;
    ngx_str_t                        holder_id;
    ngx_flag_t                       release_on_exit;
    ngx_str_t                        wake_url;     /* resolved */
    ngx_http_submission_conf_line_t  wake_url_line;

    ngx_uint_t                       executor_off;
    ngx_uint_t                       executor_given;  /* "concurrency=" is */
    ngx_int_t                        executor_concurrency;
    ngx_int_t                        executor_batch;
    ngx_int_t                        executor_timeout;
    ngx_int_t                        intake_queue;
    ngx_int_t                        intake_batch;

    size_t                           inbox_max_payload;
    sm_retention_rules_t             retention;
    ngx_uint_t                       retention_given;

    ngx_array_t                      schedules;    /* sm_schedule_row_t */

    ngx_str_t                        registry;
    ngx_uint_t                       ntargets;
    ngx_rbtree_t                     targets;      /* .._target_t */
    ngx_rbtree_node_t                sentinel;
    ngx_array_t                     *notify;       /* of all targets */
    ngx_array_t                      by_index;     /* .._target_t * */
    ngx_array_t                      former;       /* .._target_node_t * */
    ngx_http_submission_config_t     config;

    ngx_cycle_t                     *cycle;
    ngx_thread_pool_t               *thread_pool;
    ngx_shm_zone_t                  *shm_zone;
    ngx_http_submission_shctx_t     *sh;
    ngx_uint_t                       generation;   /* see .._shctx_t */
    ngx_uint_t                       tenure;
    unsigned                         new_tenure:1;

    ngx_http_core_loc_conf_t        *dispatch;
    ngx_http_core_srv_conf_t        *dispatch_server;

    /* a reload keeps these, if it keeps the manager */
    ngx_fd_t                         lock;         /* of the executor worker */
    ngx_fd_t                         wake;         /* bells, see bell.c */
    ngx_fd_t                         notice;

    ngx_http_submission_manager_t   *manager;      /* of this worker */
} ngx_http_submission_manager_conf_t;


/*
 * A manager in a worker.  Each folder has its own part, and does not look into
 * the parts of others.
 *
 * broken() is called when the breaker opens, and fenced() when a fenced call
 * has failed, before the caller is told.
 */

struct ngx_http_submission_manager_s {
    ngx_http_submission_manager_conf_t  *conf;
    ngx_http_submission_shctx_t         *sh;
    sm_store_t                           store;

    ngx_str_t                            holder_id;
    unsigned                             unique:1;  /* holder_id is generated */

    ngx_http_submission_health_t        *health;
    ngx_http_submission_bells_t         *bells;
    ngx_http_submission_peer_t          *peer;
    ngx_http_submission_intake_t        *intake;
    ngx_http_submission_wait_t          *wait;
    ngx_http_submission_leader_t        *leader;    /* NULL: executor off */
    ngx_http_submission_executor_t      *executor;
    ngx_http_submission_instances_t     *instances;

    void                               (*broken)(
                                       ngx_http_submission_manager_t *manager);
    void                               (*fenced)(
                                       ngx_http_submission_manager_t *manager,
                                       int64_t epoch, sm_call_t *call);
};


/* A location that names a manager. */

typedef struct {
    ngx_http_core_loc_conf_t            *location;
    ngx_http_core_srv_conf_t            *server;
    ngx_http_submission_conf_line_t      line;      /* of the directive */
} ngx_http_submission_place_t;


typedef struct {
    ngx_array_t                          managers;  /* .._manager_conf_t * */
    ngx_array_t                          places;    /* .._place_t */
} ngx_http_submission_main_conf_t;


/* Access levels of a location; each includes those before it. */

typedef enum {
    NGX_HTTP_SUBMISSION_ACCESS_NONE = 0,
    NGX_HTTP_SUBMISSION_ACCESS_READ,
    NGX_HTTP_SUBMISSION_ACCESS_SUBMIT,
    NGX_HTTP_SUBMISSION_ACCESS_OPERATE,
    NGX_HTTP_SUBMISSION_ACCESS_N
} ngx_http_submission_access_e;


typedef struct {
    ngx_http_submission_manager_conf_t  *api;
    ngx_str_t                            prefix;    /* of the API */
    ngx_http_submission_manager_conf_t  *readyz;
    ngx_http_submission_manager_conf_t  *metrics;
    ngx_http_submission_manager_conf_t  *wake;

    ngx_str_t                            console_prefix;  /* or len 0 */
    ngx_str_t                            console_root;    /* or len 0 */

    ngx_http_submission_access_e         access;    /* of the API */
    ngx_http_complex_value_t            *actor;     /* NULL: $remote_user */
    ngx_array_t                         *hosts;     /* see api/origin.c */
    unsigned                             payloads:1;
    unsigned                             cross_site:1;    /* allowed */
    unsigned                             host_checked:1;  /* for each request */
} ngx_http_submission_loc_conf_t;


extern ngx_module_t  ngx_http_submission_module;


/* url.c: reads a URL at which an instance is woken */
const char *ngx_http_submission_url(ngx_pool_t *pool, ngx_str_t *url,
    ngx_url_t *u);

/*
 * target.c.  _client() finds only targets that a client may name, and no
 * webhooks.  _contract_thread() returns the contract of a client's target, for
 * the store; "data" is the configuration of the manager.
 */
ngx_http_submission_target_t *ngx_http_submission_target(
    ngx_http_submission_manager_conf_t *mcf, sm_str_t name);
ngx_http_submission_target_t *ngx_http_submission_target_client(
    ngx_http_submission_manager_conf_t *mcf, sm_str_t name);
const sm_contract_t *ngx_http_submission_target_contract_thread(void *data,
    sm_str_t name);


#endif /* _NGX_HTTP_SUBMISSION_CONF_H_INCLUDED_ */
