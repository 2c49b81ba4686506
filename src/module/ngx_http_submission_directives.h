
/*
 * The functions that read the configuration, which the table of directives
 * names, and what they share.
 */

#ifndef _NGX_HTTP_SUBMISSION_DIRECTIVES_H_INCLUDED_
#define _NGX_HTTP_SUBMISSION_DIRECTIVES_H_INCLUDED_


#include "ngx_http_submission_conf.h"


/* Contexts of directives: a submission_manager block, and blocks in it. */

#define NGX_HTTP_SUBMISSION_CONF         0x00200000
#define NGX_HTTP_SUBMISSION_TARGET_CONF  0x00400000
#define NGX_HTTP_SUBMISSION_WEBHOOK_CONF 0x00800000

/* The ends of an intent, as messages list them. */

#define NGX_HTTP_SUBMISSION_ENDS_EXPECTED                                     \
    "\"accepted\", \"rejected\", \"exhausted\" or \"canceled\""


/* Types of an optional "name=value" parameter of a directive. */

typedef enum {
    NGX_HTTP_SUBMISSION_OPT_NUMBER = 0,
    NGX_HTTP_SUBMISSION_OPT_MSEC,
    NGX_HTTP_SUBMISSION_OPT_SWITCH,     /* "on" or "off" */
    NGX_HTTP_SUBMISSION_OPT_PERCENT,    /* written as a fraction: 1.5, 0.2 */
    NGX_HTTP_SUBMISSION_OPT_RATE        /* "5r/s", "5r/m"; kept a minute */
} ngx_http_submission_option_e;

typedef struct {
    const char                      *name;
    ngx_http_submission_option_e     type;
    ngx_int_t                        min;
    ngx_int_t                        max;
    const char                      *expected;
    ngx_int_t                       *value;
} ngx_http_submission_option_t;


/* The ngx_conf_post_t of a directive whose argument is a time. */

typedef struct {
    ngx_conf_post_handler_pt         post_handler;  /* unused */
    ngx_msec_t                       min;
    ngx_msec_t                       max;
    const char                      *expected;
} ngx_http_submission_msec_bounds_t;


/* conf.c: the block, and its directives */
char *ngx_http_submission_manager_block(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);
ngx_http_submission_manager_conf_t *ngx_http_submission_conf_manager(
    ngx_conf_t *cf, ngx_str_t *name);
ngx_http_submission_conf_line_t ngx_http_submission_conf_line(ngx_conf_t *cf);
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

/* url.c */
char *ngx_http_submission_conf_wake_url(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);

/* keep.c: the inbox, and how long intents are kept */
char *ngx_http_submission_keep_inbox(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);
char *ngx_http_submission_keep_retention(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);

/* schedule.c: schedules; _check() runs when all targets are known */
char *ngx_http_submission_schedule(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);
ngx_int_t ngx_http_submission_schedule_check(ngx_conf_t *cf,
    ngx_http_submission_manager_conf_t *mcf);

/* server.c: stores of database servers */
char *ngx_http_submission_server_postgres(ngx_conf_t *cf,
    ngx_http_submission_manager_conf_t *mcf);
char *ngx_http_submission_server_odbc(ngx_conf_t *cf,
    ngx_http_submission_manager_conf_t *mcf);

/* check.c: what is refused; _uses() says if anything uses that variable */
ngx_int_t ngx_http_submission_check(ngx_conf_t *cf);
ngx_uint_t ngx_http_submission_check_uses(ngx_conf_t *cf,
    const char *variable);

/* warn.c: what works, and is most likely not what was meant */
void ngx_http_submission_warn(ngx_conf_t *cf);

/* guard.c: warns of operators' locations that everybody may use */
void ngx_http_submission_guard(ngx_conf_t *cf,
    ngx_http_submission_place_t *place);

/* foreign.c: what other modules have made of a configuration */
void *ngx_http_submission_foreign(ngx_conf_t *cf, void **conf,
    const char *module);
ngx_uint_t ngx_http_submission_foreign_port(ngx_conf_t *cf, in_port_t port,
    ngx_http_core_srv_conf_t *server);
ngx_uint_t ngx_http_submission_foreign_local(ngx_conf_t *cf,
    ngx_http_core_srv_conf_t *server);

/* fingerprint.c: fills mcf->config, when all else is known */
ngx_int_t ngx_http_submission_fingerprint(ngx_conf_t *cf,
    ngx_http_submission_manager_conf_t *mcf);

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

/* webhook.c: webhooks; _resolve() runs at the end of a block */
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

/* rules.c: limits of a target that are not part of its contract */
ngx_int_t ngx_http_submission_rules_rate(ngx_str_t *text);
char *ngx_http_submission_rules_limit(ngx_conf_t *cf,
    ngx_http_submission_target_t *target, ngx_int_t rate, ngx_int_t burst);
char *ngx_http_submission_rules_circuit(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);
char *ngx_http_submission_rules_schedule(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);

/*
 * open.c: descriptors that the master opens for a manager.  _keep() has the
 * master close a descriptor together with its configuration; a worker keeps it
 * until it ends.
 */
ngx_int_t ngx_http_submission_open(ngx_http_submission_manager_conf_t *mcf);
ngx_int_t ngx_http_submission_keep(ngx_cycle_t *cycle, ngx_fd_t fd,
    u_char *name);

/* zone.c */
ngx_int_t ngx_http_submission_zone_add(ngx_conf_t *cf,
    ngx_http_submission_manager_conf_t *mcf);


#endif /* _NGX_HTTP_SUBMISSION_DIRECTIVES_H_INCLUDED_ */
