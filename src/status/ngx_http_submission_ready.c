
/*
 * /readyz, which is answered from shared memory alone.
 */

#include "ngx_http_submission_text.h"
#include "ngx_http_submission_zone_health.h"


/* milliseconds */

#define NGX_HTTP_SUBMISSION_READY_PATIENCE  5000


/*
 * A store that is down or failing takes the instance out of rotation, as it
 * could take no intent.  A short outage does not.
 */

static ngx_uint_t
ngx_http_submission_readyz_ready(ngx_http_submission_manager_conf_t *mcf,
    ngx_http_submission_store_record_t *record)
{
    ngx_msec_t  patience;

    switch (record->health.state) {

    case SM_STORE_HEALTH_UP:
        return 1;

    case SM_STORE_HEALTH_FAILING:
    case SM_STORE_HEALTH_DOWN:
        patience = ngx_min(mcf->acquire_interval,
                           NGX_HTTP_SUBMISSION_READY_PATIENCE);

        return record->health.ended
               && ngx_http_submission_usec() - record->health.ended
                  < (int64_t) patience * 1000;

    default: /* SM_STORE_HEALTH_UNKNOWN, SM_STORE_HEALTH_SCHEMA */
        return 0;
    }
}


/* Before the first answer of the store, readyz calls it down. */

static sm_str_t
ngx_http_submission_readyz_store(ngx_http_submission_store_record_t *record)
{
    return sm_store_health_name(record->health.state == SM_STORE_HEALTH_UNKNOWN
                                ? SM_STORE_HEALTH_DOWN
                                : record->health.state);
}


ngx_int_t
ngx_http_submission_readyz_handler(ngx_http_request_t *r)
{
    char                                 buf[SM_TIME_LEN];
    u_char                              *start, *last;
    sm_str_t                             store;
    sm_out_t                             expires;
    ngx_int_t                            rc;
    ngx_http_submission_role_t           role;
    ngx_http_submission_loc_conf_t      *slcf;
    ngx_http_submission_manager_conf_t  *mcf;
    ngx_http_submission_store_record_t   record;

    rc = ngx_http_submission_text_asked(r);
    if (rc != NGX_OK) {
        return rc;
    }

    slcf = ngx_http_get_module_loc_conf(r, ngx_http_submission_module);
    mcf = slcf->readyz;

    ngx_http_submission_zone_store(mcf->sh, &record);

    store = ngx_http_submission_readyz_store(&record);

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
                       "lease_expires_at=%*s store=%*s\n",
                       role.leader ? "leader" : "follower",
                       &mcf->manager->holder_id,
                       role.leader ? role.epoch : (int64_t) 0,
                       (size_t) (expires.last - expires.start),
                       expires.start, store.len, store.data);

    return ngx_http_submission_text_send(r,
                             ngx_http_submission_readyz_ready(mcf, &record)
                             ? NGX_HTTP_OK : NGX_HTTP_SERVICE_UNAVAILABLE,
                             "text/plain", start, last);
}
