
/*
 * /readyz, which is answered from shared memory alone.
 */

#include "ngx_http_submission_text.h"
#include "ngx_http_submission_zone_health.h"


static const char *
ngx_http_submission_readyz_store(ngx_http_submission_manager_conf_t *mcf)
{
    ngx_http_submission_health_shctx_t  *sh;

    sh = mcf->sh->health;

    switch (sh->store) {

    case NGX_HTTP_SUBMISSION_STORE_UP:
        return "up";

    case NGX_HTTP_SUBMISSION_STORE_SCHEMA:
        return "schema_mismatch";

    case NGX_HTTP_SUBMISSION_STORE_DOWN:

        /* a short outage does not take an instance out of rotation */

        if (sh->committed
            && ngx_http_submission_since(sh->committed)
               < mcf->acquire_interval)
        {
            return "up";
        }

        /* fall through */

    default: /* NGX_HTTP_SUBMISSION_STORE_UNKNOWN */
        return "down";
    }
}


ngx_int_t
ngx_http_submission_readyz_handler(ngx_http_request_t *r)
{
    char                                 buf[SM_TIME_LEN];
    u_char                              *start, *last;
    sm_out_t                             expires;
    ngx_int_t                            rc;
    const char                          *store;
    ngx_http_submission_role_t           role;
    ngx_http_submission_loc_conf_t      *slcf;
    ngx_http_submission_manager_conf_t  *mcf;

    rc = ngx_http_submission_text_asked(r);
    if (rc != NGX_OK) {
        return rc;
    }

    slcf = ngx_http_get_module_loc_conf(r, ngx_http_submission_module);
    mcf = slcf->readyz;

    store = ngx_http_submission_readyz_store(mcf);

    ngx_http_submission_zone_role(mcf->sh, &role);

    start = ngx_pnalloc(r->pool, 256 + mcf->manager->holder_id.len);
    if (start == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    sm_out_init(&expires, buf, sizeof(buf));

    if (role.leader) {
        sm_out_time(&expires, role.expires_at);

    } else {
        sm_out_c(&expires, "-");
    }

    last = ngx_sprintf(start,
                       "mode=%s holder_id=%V lease_epoch=%L "
                       "lease_expires_at=%*s store=%s\n",
                       role.leader ? "leader" : "follower",
                       &mcf->manager->holder_id,
                       role.leader ? role.epoch : (int64_t) 0,
                       (size_t) (expires.last - expires.start),
                       expires.start, store);

    return ngx_http_submission_text_send(r, ngx_strcmp(store, "up") == 0
                                            ? NGX_HTTP_OK
                                            : NGX_HTTP_SERVICE_UNAVAILABLE,
                                         "text/plain", start, last);
}
