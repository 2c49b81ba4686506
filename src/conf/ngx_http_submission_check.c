
/*
 * Checks that need the whole configuration.  Contradictions are refused;
 * settings that will cause trouble at run time cause a warning.
 */

#include "ngx_http_submission_directives.h"


/* The string is NULL for a store of another kind. */

static ngx_int_t
ngx_http_submission_check_same(ngx_str_t *a, ngx_str_t *b)
{
    return a->len == b->len
           && (a->len == 0 || ngx_memcmp(a->data, b->data, a->len) == 0);
}


static ngx_int_t
ngx_http_submission_check_same_lease(ngx_http_submission_manager_conf_t *a,
    ngx_http_submission_manager_conf_t *b)
{
    return a->store_ops == b->store_ops
           && ngx_http_submission_check_same(&a->store_path, &b->store_path)
           && ngx_http_submission_check_same(&a->connection, &b->connection)
           && ngx_http_submission_check_same(&a->lease_name, &b->lease_name);
}



static ngx_int_t
ngx_http_submission_check_lease(ngx_conf_t *cf,
    ngx_http_submission_manager_conf_t **managers, ngx_uint_t n)
{
    ngx_uint_t                           i;
    ngx_http_submission_manager_conf_t  *mcf;

    mcf = managers[n];

    for (i = 0; i < n; i++) {
        if (ngx_http_submission_check_same_lease(managers[i], mcf)) {
            ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                          "submission_manager \"%V\" in %s:%ui has the "
                          "same store and \"lease_name\" as \"%V\" in "
                          "%s:%ui: another \"lease_name\" was expected",
                          &mcf->name, mcf->file, mcf->line,
                          &managers[i]->name, managers[i]->file,
                          managers[i]->line);
            return NGX_ERROR;
        }
    }

    return NGX_OK;
}


/* Without a "..._pass" nginx itself would answer each attempt. */

static ngx_int_t
ngx_http_submission_check_dispatch(ngx_conf_t *cf,
    ngx_http_submission_manager_conf_t *mcf)
{
    if (mcf->executor_off) {
        return NGX_OK;
    }

    if (mcf->dispatch == NULL) {
        ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                      "submission_manager \"%V\" in %s:%ui has no way to "
                      "its gateways: a location with "
                      "\"submission_dispatch %V\" was expected",
                      &mcf->name, mcf->file, mcf->line,
                      &mcf->name);
        return NGX_ERROR;
    }

    if (mcf->dispatch->handler == NULL) {
        ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                      "location \"%V\" with \"submission_dispatch %V\" sends "
                      "nothing: \"proxy_pass $submission_gateway_url\" or "
                      "another \"..._pass\" was expected in it",
                      &mcf->dispatch->name, &mcf->name);
        return NGX_ERROR;
    }

    if (mcf->dispatch->post_action.len) {

        /* it would send the attempt's request once more */

        ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                      "location \"%V\" with \"submission_dispatch %V\" has "
                      "a \"post_action\", whose answer would be taken for "
                      "the gateway's: none was expected",
                      &mcf->dispatch->name, &mcf->name);
        return NGX_ERROR;
    }

    return NGX_OK;
}


/* Says whether anything uses the variable, such as "proxy_pass". */

ngx_uint_t
ngx_http_submission_check_uses(ngx_conf_t *cf, const char *variable)
{
    size_t                      len;
    ngx_uint_t                  i;
    ngx_http_variable_t        *v;
    ngx_http_core_main_conf_t  *cmcf;

    cmcf = ngx_http_conf_get_module_main_conf(cf, ngx_http_core_module);

    len = ngx_strlen(variable);
    v = cmcf->variables.elts;

    for (i = 0; i < cmcf->variables.nelts; i++) {
        if (v[i].name.len == len
            && ngx_strncmp(v[i].name.data, variable, len) == 0)
        {
            return 1;
        }
    }

    return 0;
}


/* Chooses as nginx does for a "proxy_pass" with variables. */

static ngx_uint_t
ngx_http_submission_check_upstream(ngx_conf_t *cf, ngx_url_t *u)
{
    ngx_uint_t                       i;
    ngx_http_upstream_srv_conf_t   **uscf;
    ngx_http_upstream_main_conf_t   *umcf;

    umcf = ngx_http_conf_get_module_main_conf(cf, ngx_http_upstream_module);

    uscf = umcf->upstreams.elts;

    for (i = 0; i < umcf->upstreams.nelts; i++) {
        if (uscf[i]->host.len == u->host.len
            && ((uscf[i]->port == 0 && u->no_port) || uscf[i]->port == u->port)
            && ngx_strncasecmp(uscf[i]->host.data, u->host.data, u->host.len)
               == 0)
        {
            return 1;
        }
    }

    return 0;
}


static ngx_int_t
ngx_http_submission_check_gateway(ngx_conf_t *cf,
    ngx_http_submission_manager_conf_t *mcf,
    ngx_http_submission_target_t *target)
{
    sm_str_t    *url;
    ngx_url_t    u;
    ngx_uint_t   scheme, tls;

    url = &target->contract.gateway_url;

    tls = ngx_strncmp(url->data, "https://", 8) == 0;
    scheme = tls ? 8 : 7;

    ngx_memzero(&u, sizeof(ngx_url_t));

    u.url.data = (u_char *) url->data + scheme;
    u.url.len = url->len - scheme;
    u.default_port = tls ? 443 : 80;
    u.uri_part = 1;
    u.no_resolve = 1;

    if (ngx_parse_url(cf->pool, &u) != NGX_OK) {
        ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                      "%s in the gateway URL \"%*s\" of target \"%V\" of "
                      "submission_manager \"%V\" in %s:%ui",
                      u.err ? u.err : "an error", url->len, url->data,
                      &target->node.str, &mcf->name, mcf->file,
                      mcf->line);
        return NGX_ERROR;
    }

    if (u.naddrs || ngx_http_submission_check_upstream(cf, &u)) {
        return NGX_OK;
    }

    ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                  "host \"%V\" in the gateway URL of target \"%V\" of "
                  "submission_manager \"%V\" in %s:%ui cannot be resolved: "
                  "an \"upstream %V\" block, or a \"resolver\" in location "
                  "\"%V\" was expected", &u.host, &target->node.str,
                  &mcf->name, mcf->file, mcf->line, &u.host,
                  &mcf->dispatch->name);
    return NGX_ERROR;
}


static ngx_int_t
ngx_http_submission_check_gateways(ngx_conf_t *cf,
    ngx_http_submission_manager_conf_t *mcf)
{
    ngx_rbtree_node_t             *node;
    ngx_http_submission_target_t  *target;

    if (mcf->executor_off
        || mcf->dispatch->resolver->connections.nelts
        || !ngx_http_submission_check_uses(cf, "submission_gateway_url"))
    {
        return NGX_OK;
    }

    for (node = ngx_rbtree_min(mcf->targets.root, &mcf->sentinel);
         node;
         node = ngx_rbtree_next(&mcf->targets, node))
    {
        target = (ngx_http_submission_target_t *) node;

        if (ngx_http_submission_check_gateway(cf, mcf, target) != NGX_OK) {
            return NGX_ERROR;
        }
    }

    return NGX_OK;
}


/*
 * When a leader dies, nothing is submitted until its lease has expired.  A
 * shorter deadline passes before the next leader can send.
 */

static void
ngx_http_submission_check_deadlines(ngx_conf_t *cf,
    ngx_http_submission_manager_conf_t *mcf)
{
    sm_contract_t                 *contract;
    ngx_rbtree_node_t             *node;
    ngx_http_submission_target_t  *target;

    for (node = ngx_rbtree_min(mcf->targets.root, &mcf->sentinel);
         node;
         node = ngx_rbtree_next(&mcf->targets, node))
    {
        target = (ngx_http_submission_target_t *) node;
        contract = &target->contract;

        if (contract->policy != SM_POLICY_DEADLINE
            || (ngx_msec_t) contract->max_acceptance_seconds * 1000
               > mcf->lease_duration)
        {
            continue;
        }

        ngx_log_error(NGX_LOG_WARN, cf->log, 0,
                      "the deadline of %Ls of target \"%V\" is not longer "
                      "than the \"lease_duration\" of %Mms of "
                      "submission_manager \"%V\" in %s:%ui: when a leader "
                      "dies, its intents expire before another one can send "
                      "them", contract->max_acceptance_seconds,
                      &target->node.str, mcf->lease_duration,
                      &mcf->name, mcf->file, mcf->line);
    }
}


ngx_int_t
ngx_http_submission_check(ngx_conf_t *cf)
{
    ngx_uint_t                           i;
    ngx_http_submission_manager_conf_t  *mcf, **managers;
    ngx_http_submission_main_conf_t     *smcf;

    smcf = ngx_http_conf_get_module_main_conf(cf, ngx_http_submission_module);

    managers = smcf->managers.elts;

    for (i = 0; i < smcf->managers.nelts; i++) {
        mcf = managers[i];

        if (!mcf->defined) {
            ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                          "unknown submission_manager \"%V\" in %s:%ui: the "
                          "name of a submission_manager block was expected",
                          &mcf->name, mcf->file, mcf->line);
            return NGX_ERROR;
        }

        if (ngx_http_submission_check_lease(cf, managers, i) != NGX_OK
            || ngx_http_submission_check_dispatch(cf, mcf) != NGX_OK
            || ngx_http_submission_check_gateways(cf, mcf) != NGX_OK
            || ngx_http_submission_schedule_check(cf, mcf) != NGX_OK
            || ngx_http_submission_fingerprint(cf, mcf) != NGX_OK)
        {
            return NGX_ERROR;
        }

        ngx_http_submission_check_deadlines(cf, mcf);
    }

    return NGX_OK;
}
