
/*
 * GET /v1/config: what this instance runs with, for readers of the console.
 * No password, no connection string, and no path of a file is in it.
 */

#include "ngx_http_submission_access.h"
#include "ngx_http_submission_reply.h"
#include "ngx_http_submission_routes.h"

#include "sm_json.h"


/* Writes "name":, after a comma if it is not the first of its object. */

static void
ngx_http_submission_config_key(sm_out_t *out, const char *name)
{
    sm_out_c(out, sm_out_last(out) == '{' ? "\"" : ",\"");
    sm_out_c(out, name);
    sm_out_c(out, "\":");
}


static void
ngx_http_submission_config_int(sm_out_t *out, const char *name, int64_t n)
{
    ngx_http_submission_config_key(out, name);
    sm_out_int(out, n);
}


static void
ngx_http_submission_config_bool(sm_out_t *out, const char *name, ngx_uint_t on)
{
    ngx_http_submission_config_key(out, name);
    sm_out_c(out, on ? "true" : "false");
}


static void
ngx_http_submission_config_str(sm_out_t *out, const char *name, sm_str_t s)
{
    ngx_http_submission_config_key(out, name);
    sm_json_out_str(out, s);
}


/*
 * Writes a URL without "user:password@".  Paths have secrets, too, above all
 * those of webhooks.
 */

void
ngx_http_submission_config_url(sm_out_t *out, sm_str_t url, ngx_uint_t path)
{
    size_t  i, scheme, host, end;

    scheme = url.len > 8 && url.data[4] == 's' ? 8 : 7;
    scheme = ngx_min(scheme, url.len);

    host = scheme;

    for (i = scheme; i < url.len && url.data[i] != '/'; i++) {
        if (url.data[i] == '@') {
            host = i + 1;
        }
    }

    end = path ? url.len : i;

    /* a URL has nothing that JSON would escape, see sm_gateway_url_check() */

    sm_out_c(out, "\"");
    sm_out_bytes(out, url.data, scheme);
    sm_out_bytes(out, url.data + host, end - host);
    sm_out_c(out, "\"");
}


/* Rules that are not configured are left out. */

static void
ngx_http_submission_config_rules(sm_out_t *out, const sm_target_rules_t *rules)
{
    if (rules->rate) {
        ngx_http_submission_config_int(out, "ratePerMinute", rules->rate);
        ngx_http_submission_config_int(out, "burst", rules->burst);
    }

    if (rules->circuit.failures) {
        ngx_http_submission_config_int(out, "circuitFailures",
                                       rules->circuit.failures);
        ngx_http_submission_config_int(out, "circuitOpenMs",
                                       rules->circuit.open / 1000);
        ngx_http_submission_config_int(out, "circuitMaxOpenMs",
                                       rules->circuit.max_open / 1000);
    }
}


static void
ngx_http_submission_config_target(sm_out_t *out,
    ngx_http_submission_target_t *target, ngx_uint_t paths)
{
    const sm_contract_t  *c;

    c = &target->contract;

    sm_out_c(out, sm_out_last(out) == '[' ? "{" : ",{");

    ngx_http_submission_config_str(out, "target", c->target);
    ngx_http_submission_config_str(out, "gatewayType",
                                   sm_gateway_name(c->gateway_type));
    ngx_http_submission_config_key(out, "gatewayUrl");
    ngx_http_submission_config_url(out, c->gateway_url, paths);
    ngx_http_submission_config_str(out, "policy", sm_policy_name(c->policy));

    if (c->policy == SM_POLICY_DEADLINE) {
        ngx_http_submission_config_int(out, "deadlineSeconds",
                                       c->max_acceptance_seconds);
    }

    if (c->policy == SM_POLICY_MAX_ATTEMPTS) {
        ngx_http_submission_config_int(out, "maxAttempts", c->max_attempts);
    }

    ngx_http_submission_config_str(out, "terminalOutcomes",
                                   c->terminal_outcomes);

    if (c->retry_schedule.len) {
        ngx_http_submission_config_str(out, "retryScheduleMs",
                                       c->retry_schedule);
    }

    ngx_http_submission_config_int(out, "retryDelayMs", c->retry_delay);
    ngx_http_submission_config_int(out, "retryMaxMs", c->retry_max);
    ngx_http_submission_config_int(out, "retryBackoffPercent",
                                   c->retry_backoff);
    ngx_http_submission_config_int(out, "retryJitterPercent", c->retry_jitter);

    if (target->concurrency) {
        ngx_http_submission_config_int(out, "concurrency",
                                       target->concurrency);
    }

    ngx_http_submission_config_rules(out, &target->rules);

    sm_out_c(out, "}");
}


static void
ngx_http_submission_config_targets(sm_out_t *out,
    ngx_http_submission_manager_conf_t *mcf, ngx_uint_t paths)
{
    ngx_rbtree_node_t  *node;

    ngx_http_submission_config_key(out, "targets");
    sm_out_c(out, "[");

    if (mcf->targets.root != mcf->targets.sentinel) {
        for (node = ngx_rbtree_min(mcf->targets.root, mcf->targets.sentinel);
             node;
             node = ngx_rbtree_next(&mcf->targets, node))
        {
            ngx_http_submission_config_target(out,
                               (ngx_http_submission_target_t *) node, paths);
        }
    }

    sm_out_c(out, "]");
}


static void
ngx_http_submission_config_manager(sm_out_t *out,
    ngx_http_submission_manager_conf_t *mcf)
{
    ngx_http_submission_config_str(out, "manager",
                                   ngx_http_submission_str(&mcf->name));

    ngx_http_submission_config_key(out, "store");
    sm_out_c(out, "{");
    ngx_http_submission_config_str(out, "kind",
                              sm_str_c(sm_store_ops_name(mcf->store_ops)));
    ngx_http_submission_config_int(out, "connections", mcf->pool);
    ngx_http_submission_config_int(out, "queryTimeoutMs", mcf->query_timeout);
    ngx_http_submission_config_int(out, "retryMs", mcf->retry);
    sm_out_c(out, "}");

    ngx_http_submission_config_key(out, "lease");
    sm_out_c(out, "{");
    ngx_http_submission_config_str(out, "name",
                                   ngx_http_submission_str(&mcf->lease_name));
    ngx_http_submission_config_int(out, "durationMs", mcf->lease_duration);
    ngx_http_submission_config_int(out, "renewIntervalMs",
                                   mcf->renew_interval);
    ngx_http_submission_config_int(out, "acquireIntervalMs",
                                   mcf->acquire_interval);
    ngx_http_submission_config_int(out, "refreshIntervalMs",
                                   mcf->queue_refresh_interval);
    ngx_http_submission_config_bool(out, "releaseOnExit",
                                    mcf->release_on_exit);
    ngx_http_submission_config_bool(out, "wakes", mcf->wake_url.len != 0);
    sm_out_c(out, "}");

    ngx_http_submission_config_key(out, "executor");
    sm_out_c(out, "{");
    ngx_http_submission_config_bool(out, "on", !mcf->executor_off);
    ngx_http_submission_config_int(out, "concurrency",
                                   mcf->executor_concurrency);
    ngx_http_submission_config_int(out, "batch", mcf->executor_batch);
    sm_out_c(out, "}");

    ngx_http_submission_config_key(out, "intake");
    sm_out_c(out, "{");
    ngx_http_submission_config_int(out, "queue", mcf->intake_queue);
    ngx_http_submission_config_int(out, "batch", mcf->intake_batch);
    ngx_http_submission_config_int(out, "inboxMaxPayload",
                                   mcf->inbox_max_payload);
    sm_out_c(out, "}");

    ngx_http_submission_config_int(out, "zoneBytes", mcf->shm_zone->shm.size);
}


/* Times are in seconds; 0 means for ever. */

static void
ngx_http_submission_config_retention(sm_out_t *out,
    const sm_retention_rules_t *rules)
{
    sm_status_e                 i;
    const sm_retention_rule_t  *rule;

    ngx_http_submission_config_key(out, "retention");
    sm_out_c(out, "{");

    for (i = SM_STATUS_PENDING + 1; i < SM_STATUS_COUNT; i++) {
        rule = &rules->statuses[i];

        ngx_http_submission_config_key(out, sm_status_name(i).data);
        sm_out_c(out, "{");
        ngx_http_submission_config_int(out, "stripSeconds",
                                       rule->strip / 1000000);
        ngx_http_submission_config_int(out, "forgetSeconds",
                                       rule->forget / 1000000);
        sm_out_c(out, "}");
    }

    ngx_http_submission_config_int(out, "auditSeconds",
                                   rules->audit / 1000000);
    ngx_http_submission_config_int(out, "refusedSeconds",
                                   rules->refused / 1000000);
    ngx_http_submission_config_int(out, "jobsSeconds",
                                   rules->jobs / 1000000);
    sm_out_c(out, "}");
}


static ngx_int_t
ngx_http_submission_config_handler(ngx_http_request_t *r)
{
    sm_out_t                             out;
    sm_actor_t                           actor;
    ngx_http_submission_ctx_t           *ctx;
    ngx_http_submission_loc_conf_t      *slcf;
    ngx_http_submission_manager_conf_t  *mcf;

    ctx = ngx_http_get_module_ctx(r, ngx_http_submission_module);
    slcf = ngx_http_get_module_loc_conf(r, ngx_http_submission_module);
    mcf = slcf->api;

    if (ngx_http_submission_access_actor(r, &actor) != NGX_OK) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    ngx_http_submission_out(&out, r->pool);

    sm_out_c(&out, "{");

    ngx_http_submission_config_str(&out, "instance",
                                   ngx_http_submission_str(
                                       &ctx->manager->holder_id));
    ngx_http_submission_config_str(&out, "version",
                                   sm_str_c(NGX_HTTP_SUBMISSION_VERSION));
    ngx_http_submission_config_str(&out, "nginx", sm_str_c(NGINX_VERSION));

    /* what the client may do here, and who it is */

    ngx_http_submission_config_str(&out, "access",
                     sm_str_c(ngx_http_submission_access_name(slcf->access)));
    ngx_http_submission_config_bool(&out, "payloads",
                                    ngx_http_submission_access_payloads(r));
    ngx_http_submission_config_key(&out, "actor");

    if (actor.name.len) {
        sm_json_out_str(&out, actor.name);
    } else {
        sm_out_c(&out, "null");
    }

    ngx_http_submission_config_manager(&out, mcf);
    ngx_http_submission_config_retention(&out, &mcf->retention);
    ngx_http_submission_config_targets(&out, mcf,
                                       ngx_http_submission_access_paths(r));

    sm_out_c(&out, "}\n");

    return ngx_http_submission_reply_send(r, NGX_HTTP_OK, &out);
}


const ngx_http_submission_input_t  ngx_http_submission_config_input = {
    .handler = ngx_http_submission_config_handler
};
