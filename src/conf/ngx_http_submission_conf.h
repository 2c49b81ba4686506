
/*
 * What was configured, and what a worker has for each manager of it.
 * Everything else of the nginx layer builds on this.
 */

#ifndef _NGX_HTTP_SUBMISSION_CONF_H_INCLUDED_
#define _NGX_HTTP_SUBMISSION_CONF_H_INCLUDED_


#include "ngx_http_submission_zone.h"

#include "sm_bucket.h"
#include "sm_contract.h"
#include "sm_recur.h"
#include "sm_retention.h"
#include "sm_schedule.h"


#if !(NGX_THREADS)
#error "ngx_http_submission_module requires nginx built --with-threads"
#endif


#define NGX_HTTP_SUBMISSION_VERSION  "0.1"


/* contexts of directives: a submission_manager block, and a target in it */

#define NGX_HTTP_SUBMISSION_CONF         0x00200000
#define NGX_HTTP_SUBMISSION_TARGET_CONF  0x00400000
#define NGX_HTTP_SUBMISSION_WEBHOOK_CONF 0x00800000

/* for messages */

#define NGX_HTTP_SUBMISSION_ENDS_EXPECTED                                     \
    "\"accepted\", \"rejected\", \"exhausted\" or \"canceled\""


typedef struct ngx_http_submission_manager_s   ngx_http_submission_manager_t;
typedef struct ngx_http_submission_health_s    ngx_http_submission_health_t;
typedef struct ngx_http_submission_bells_s     ngx_http_submission_bells_t;
typedef struct ngx_http_submission_peer_s      ngx_http_submission_peer_t;
typedef struct ngx_http_submission_intake_s    ngx_http_submission_intake_t;
typedef struct ngx_http_submission_wait_s      ngx_http_submission_wait_t;
typedef struct ngx_http_submission_leader_s    ngx_http_submission_leader_t;
typedef struct ngx_http_submission_executor_s  ngx_http_submission_executor_t;


typedef struct {
    ngx_str_node_t                   node;
    ngx_uint_t                       index;         /* among all targets */
    sm_contract_t                    contract;
    ngx_uint_t                       concurrency;   /* 0: no limit of its own */

    ngx_array_t                     *notify;        /* see webhook.c */
    sm_str_t                        *keys;          /* to sign with */
    ngx_uint_t                       nkeys;
    ngx_uint_t                       events;        /* of a webhook: ends */
    unsigned                         webhook:1;     /* no client's */
    ngx_http_submission_target_metrics_t  *metrics; /* NULL: the others' */
    ngx_http_submission_limits_t    *limits;        /* NULL: there is no room */
    sm_target_rules_t                rules;         /* the leader's */
} ngx_http_submission_target_t;


/* a submission_manager block; workers do not write to it */

typedef struct {
    ngx_str_t                        name;
    u_char                          *file;
    ngx_uint_t                       line;
    unsigned                         defined:1;

    size_t                           zone_size;

    const sm_store_ops_t            *store_ops;
    ngx_str_t                        store_path;
    ngx_msec_t                       busy_timeout;
    ngx_uint_t                       migrate_no_copy;
    ngx_str_t                        connection;   /* of a database server */
    ngx_str_t                        password;
    ngx_msec_t                       login_timeout;
    ngx_msec_t                       query_timeout;
    ngx_msec_t                       retry;        /* 0: the store does it */
    ngx_uint_t                       pool;

    ngx_str_t                        lease_name;
    ngx_msec_t                       lease_duration;
    ngx_msec_t                       renew_interval;
    ngx_msec_t                       acquire_interval;
    ngx_msec_t                       schedule_refresh_interval;
    ngx_str_t                        holder_id;
    ngx_flag_t                       release_on_exit;
    ngx_str_t                        wake_url;     /* with an address */

    ngx_uint_t                       executor_off;
    ngx_uint_t                       executor_given;  /* its concurrency */
    ngx_int_t                        executor_concurrency;
    ngx_int_t                        executor_batch;
    ngx_int_t                        executor_timeout;
    ngx_int_t                        intake_queue;
    ngx_int_t                        intake_batch;

    size_t                           inbox_max_payload;
    sm_retention_rules_t             retention;
    ngx_uint_t                       retention_given;

    ngx_array_t                      schedules;    /* sm_recur_row_t */

    ngx_str_t                        registry;
    ngx_uint_t                       ntargets;
    ngx_rbtree_t                     targets;      /* .._target_t */
    ngx_rbtree_node_t                sentinel;
    ngx_array_t                     *notify;       /* of all targets */
    unsigned                         signs:1;      /* a target has keys */
    ngx_array_t                      by_index;     /* .._target_t * */
    ngx_array_t                      former;       /* .._target_node_t * */

    ngx_cycle_t                     *cycle;
    ngx_thread_pool_t               *thread_pool;
    ngx_shm_zone_t                  *shm_zone;
    ngx_http_submission_shctx_t     *sh;
    ngx_uint_t                       generation;   /* see .._shctx_t */
    ngx_uint_t                       tenure;
    unsigned                         new_tenure:1;

    ngx_http_core_loc_conf_t        *dispatch;
    ngx_http_core_srv_conf_t        *dispatch_server;

    /* the same ones in all configurations, as far as they have the manager */
    ngx_fd_t                         lock;         /* of the executor worker */
    ngx_fd_t                         wake;         /* eventfds, see bell.c */
    ngx_fd_t                         notice;

    ngx_http_submission_manager_t   *manager;      /* of this worker */
} ngx_http_submission_manager_conf_t;


/*
 * A manager in a worker.  Each room has its part, and looks into no other's.
 *
 * _broken() is called when the store is given up for now, and _fenced() when a
 * call that was fenced by an epoch has failed, before whoever made it is told.
 */

struct ngx_http_submission_manager_s {
    ngx_http_submission_manager_conf_t  *conf;
    ngx_http_submission_shctx_t         *sh;
    sm_store_t                           store;

    ngx_str_t                            holder_id;
    unsigned                             unique:1;  /* holder_id is made up */

    ngx_http_submission_health_t        *health;
    ngx_http_submission_bells_t         *bells;
    ngx_http_submission_peer_t          *peer;
    ngx_http_submission_intake_t        *intake;
    ngx_http_submission_wait_t          *wait;
    ngx_http_submission_leader_t        *leader;    /* NULL: executor off */
    ngx_http_submission_executor_t      *executor;

    void                               (*broken)(
                                       ngx_http_submission_manager_t *manager);
    void                               (*fenced)(
                                       ngx_http_submission_manager_t *manager,
                                       int64_t epoch, sm_call_t *call);
};


typedef struct {
    ngx_array_t                          managers;  /* .._manager_conf_t * */
} ngx_http_submission_main_conf_t;


/* what may be done at a location: each has all that is before it */

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

    ngx_str_t                            console_prefix;  /* len 0: is none */
    ngx_str_t                            console_root;    /* or len 0 */

    ngx_http_submission_access_e         access;    /* of the API */
    ngx_http_complex_value_t            *actor;     /* NULL: $remote_user */
    ngx_array_t                         *hosts;     /* see api/origin.c */
    unsigned                             payloads:1;
    unsigned                             cross_site:1;    /* is allowed */
    unsigned                             host_checked:1;  /* by each request */
} ngx_http_submission_loc_conf_t;


/* an optional "name=value" parameter of a directive */

typedef enum {
    NGX_HTTP_SUBMISSION_OPT_NUMBER = 0,
    NGX_HTTP_SUBMISSION_OPT_MSEC,
    NGX_HTTP_SUBMISSION_OPT_SWITCH,     /* "on" or "off" */
    NGX_HTTP_SUBMISSION_OPT_PERCENT,    /* written as a fraction: 1.5, 0.2 */
    NGX_HTTP_SUBMISSION_OPT_RATE        /* "5r/s", "5r/m": a minute */
} ngx_http_submission_option_e;

typedef struct {
    const char                      *name;
    ngx_http_submission_option_e     type;
    ngx_int_t                        min;
    ngx_int_t                        max;
    const char                      *expected;
    ngx_int_t                       *value;
} ngx_http_submission_option_t;


/* ngx_conf_post_t of a directive with one time as its argument */

typedef struct {
    ngx_conf_post_handler_pt         post_handler;  /* unused */
    ngx_msec_t                       min;
    ngx_msec_t                       max;
    const char                      *expected;
} ngx_http_submission_msec_bounds_t;


/* a field of a log line, made by ngx_http_submission_field() */

typedef struct {
    ngx_str_t                        text;
    u_char                           data[1024];
} ngx_http_submission_field_t;


extern ngx_module_t  ngx_http_submission_module;


/* conf.c: the block, and its directives */
char *ngx_http_submission_manager_block(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);
ngx_http_submission_manager_conf_t *ngx_http_submission_conf_manager(
    ngx_conf_t *cf, ngx_str_t *name);
char *ngx_http_submission_conf_reference(ngx_conf_t *cf,
    ngx_http_submission_manager_conf_t **mcfp);
char *ngx_http_submission_conf_nested(ngx_conf_t *cf, ngx_uint_t type,
    void *conf);
char *ngx_http_submission_conf_msec(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);
char *ngx_http_submission_conf_name(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);
char *ngx_http_submission_conf_zone(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);
char *ngx_http_submission_conf_thread_pool(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);
char *ngx_http_submission_conf_store(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);
char *ngx_http_submission_conf_executor(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);
char *ngx_http_submission_conf_intake(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);
char *ngx_http_submission_conf_options(ngx_conf_t *cf, ngx_uint_t first,
    ngx_http_submission_option_t *options);

/* url.c: where instances are told that there is something to do */
char *ngx_http_submission_conf_wake_url(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);
const char *ngx_http_submission_url(ngx_pool_t *pool, ngx_str_t *url,
    ngx_url_t *u);

/* keep.c: how much the inbox takes, and how long intents are kept */
char *ngx_http_submission_keep_inbox(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);
char *ngx_http_submission_keep_retention(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);

/* repeat.c: schedules; _check() is for when all targets are known */
char *ngx_http_submission_repeat(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);
ngx_int_t ngx_http_submission_repeat_check(ngx_conf_t *cf,
    ngx_http_submission_manager_conf_t *mcf);

/* server.c: stores of database servers */
char *ngx_http_submission_server_postgres(ngx_conf_t *cf,
    ngx_http_submission_manager_conf_t *mcf);
char *ngx_http_submission_server_odbc(ngx_conf_t *cf,
    ngx_http_submission_manager_conf_t *mcf);

/* check.c */
ngx_int_t ngx_http_submission_check(ngx_conf_t *cf);

/* target.c */
char *ngx_http_submission_target_block(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);
char *ngx_http_submission_target_gateway_type(ngx_conf_t *cf,
    ngx_command_t *cmd, void *conf);
char *ngx_http_submission_target_gateway_url(ngx_conf_t *cf,
    ngx_command_t *cmd, void *conf);
char *ngx_http_submission_target_policy(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);
char *ngx_http_submission_target_outcomes(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);
char *ngx_http_submission_target_retry_delay(ngx_conf_t *cf,
    ngx_command_t *cmd, void *conf);
char *ngx_http_submission_targets_file(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);
char *ngx_http_submission_target_limits(ngx_conf_t *cf,
    ngx_http_submission_target_t *target);
char *ngx_http_submission_target_add(ngx_conf_t *cf,
    ngx_http_submission_manager_conf_t *mcf,
    ngx_http_submission_target_t *target);

/* _client(): one that a client may name, and no webhook's */
ngx_http_submission_target_t *ngx_http_submission_target(
    ngx_http_submission_manager_conf_t *mcf, sm_str_t name);
ngx_http_submission_target_t *ngx_http_submission_target_client(
    ngx_http_submission_manager_conf_t *mcf, sm_str_t name);

/* webhook.c; _resolve() is for the end of a block */
char *ngx_http_submission_webhook_block(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);
char *ngx_http_submission_webhook_events(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);
char *ngx_http_submission_webhook_secret(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);
char *ngx_http_submission_webhook_notify_target(ngx_conf_t *cf,
    ngx_command_t *cmd, void *conf);
char *ngx_http_submission_webhook_notify_all(ngx_conf_t *cf,
    ngx_command_t *cmd, void *conf);
char *ngx_http_submission_webhook_resolve(ngx_conf_t *cf,
    ngx_http_submission_manager_conf_t *mcf);

/* rules.c: what the leader does with a target */
ngx_int_t ngx_http_submission_rules_rate(ngx_str_t *text);
char *ngx_http_submission_rules_limit(ngx_conf_t *cf,
    ngx_http_submission_target_t *target, ngx_int_t rate, ngx_int_t burst);
char *ngx_http_submission_rules_circuit(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);
char *ngx_http_submission_rules_schedule(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);

/*
 * open.c: what a manager needs outside of nginx, made by the master.  _keep()
 * closes a descriptor with its configuration; that is in the master alone: a
 * worker has it until it ends.
 */
ngx_int_t ngx_http_submission_open(ngx_http_submission_manager_conf_t *mcf);
ngx_int_t ngx_http_submission_keep(ngx_cycle_t *cycle, ngx_fd_t fd,
    u_char *name);

/* zone.c */
ngx_int_t ngx_http_submission_zone_add(ngx_conf_t *cf,
    ngx_http_submission_manager_conf_t *mcf);
void ngx_http_submission_zone_holder(ngx_http_submission_manager_t *manager,
    ngx_cycle_t *cycle);
ngx_int_t ngx_http_submission_zone_learn(
    ngx_http_submission_manager_conf_t *mcf,
    ngx_http_submission_peer_url_t *url);

/* clock.c */
ngx_msec_t ngx_http_submission_msec(void);
ngx_msec_t ngx_http_submission_since(ngx_atomic_uint_t time);
ngx_msec_t ngx_http_submission_lease_msec(void);
int64_t ngx_http_submission_usec(void);

/*
 * log.c: the name and the value in quotes, for "%V"; nothing where the value is
 * empty.  It is in the memory of "field".
 */
ngx_str_t *ngx_http_submission_field(ngx_http_submission_field_t *field,
    const char *name, sm_str_t value);


#endif /* _NGX_HTTP_SUBMISSION_CONF_H_INCLUDED_ */
