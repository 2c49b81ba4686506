
/*
 * What this instance tells others of its configuration, see sm_config.h and
 * sm_fingerprint.h.
 */

#include "ngx_http_submission_directives.h"
#include "ngx_http_submission_sign.h"

#include "sm_fingerprint.h"


/*
 * Signatures of a fixed text tell keys apart, and show none of them.  No
 * message has this text: its time is 0.
 */

static ngx_int_t
ngx_http_submission_fingerprint_keys(ngx_http_submission_manager_conf_t *mcf,
    ngx_http_submission_target_t *target, char *buf, sm_str_t *keys)
{
    keys->data = buf;
    keys->len = 0;

    if (target->nkeys == 0) {
        return NGX_OK;
    }

    keys->len = ngx_http_submission_sign(target->keys, target->nkeys,
                                    sm_str_c("configuration"), sm_str_c("0"),
                                    ngx_http_submission_str(&mcf->lease_name),
                                    buf);

    return keys->len ? NGX_OK : NGX_ERROR;
}


static ngx_int_t
ngx_http_submission_fingerprint_targets(
    ngx_http_submission_manager_conf_t *mcf, sm_fingerprint_t *fp)
{
    char                            buf[NGX_HTTP_SUBMISSION_SIGN_SIZE];
    ngx_uint_t                      i;
    sm_fingerprint_target_t         t;
    ngx_http_submission_target_t  **targets;

    targets = mcf->by_index.elts;

    for (i = 0; i < mcf->by_index.nelts; i++) {
        ngx_memzero(&t, sizeof(sm_fingerprint_target_t));

        t.contract = &targets[i]->contract;
        t.limit.concurrency = targets[i]->concurrency;
        t.limit.rules = targets[i]->rules;
        t.events = targets[i]->events;

        if (ngx_http_submission_fingerprint_keys(mcf, targets[i], buf, &t.keys)
            != NGX_OK
            || sm_fingerprint_target(fp, &t) != 0)
        {
            return NGX_ERROR;
        }
    }

    return NGX_OK;
}


static ngx_int_t
ngx_http_submission_fingerprint_parts(ngx_http_submission_manager_conf_t *mcf,
    sm_fingerprint_t *fp)
{
    ngx_uint_t               i;
    sm_schedule_row_t       *schedules;
    sm_fingerprint_lease_t   lease;

    if (ngx_http_submission_fingerprint_targets(mcf, fp) != NGX_OK) {
        return NGX_ERROR;
    }

    schedules = mcf->schedules.elts;

    for (i = 0; i < mcf->schedules.nelts; i++) {
        if (sm_fingerprint_schedule(fp, &schedules[i]) != 0) {
            return NGX_ERROR;
        }
    }

    lease.duration = mcf->lease_duration;
    lease.renew = mcf->renew_interval;
    lease.acquire = mcf->acquire_interval;
    lease.refresh = mcf->queue_refresh_interval;
    lease.release = mcf->release_on_exit;

    sm_fingerprint_lease(fp, &lease);
    sm_fingerprint_retention(fp, &mcf->retention);
    sm_fingerprint_inbox(fp, mcf->inbox_max_payload);

    return NGX_OK;
}


/* A list that is too long is cut: it has the hashes that come first. */

ngx_int_t
ngx_http_submission_fingerprint(ngx_conf_t *cf,
    ngx_http_submission_manager_conf_t *mcf)
{
    size_t                         n;
    sm_out_t                       out;
    sm_fingerprint_t               fp;
    ngx_http_submission_config_t  *config;

    config = &mcf->config;

    ngx_memzero(&fp, sizeof(sm_fingerprint_t));

    fp.names = ngx_palloc(cf->temp_pool,
                          (mcf->by_index.nelts + 1) * sizeof(uint32_t));

    if (fp.names == NULL
        || ngx_http_submission_fingerprint_parts(mcf, &fp) != NGX_OK)
    {
        return NGX_ERROR;
    }

    n = sm_config_names_sort(fp.names, fp.n);
    n = ngx_min(n, SM_CONFIG_NAMES_MAX);

    ngx_http_submission_out(&out, cf->pool);
    sm_config_text_out(&out, fp.parts);

    if (sm_out_done(&out, &config->text) != 0) {
        return NGX_ERROR;
    }

    /* an empty list is data, too */

    ngx_http_submission_out(&out, cf->pool);
    (void) sm_out_room(&out, 1);
    sm_config_names_out(&out, fp.names, n);

    if (sm_out_done(&out, &config->names) != 0) {
        return NGX_ERROR;
    }

    ngx_http_submission_out(&out, cf->pool);
    sm_config_hex(&out, sm_config_hash(config->names), SM_CONFIG_HEX);

    if (sm_out_done(&out, &config->names_hash) != 0) {
        return NGX_ERROR;
    }

    return NGX_OK;
}
