
/*
 * Schedules of the configuration.  The parameters become the JSON body of a
 * PUT, which is then read as any other.
 */

#include "ngx_http_submission_directives.h"


#define NGX_HTTP_SUBMISSION_SCHEDULE_MAX   (1024 * 1024)     /* a payload */


typedef struct {
    ngx_str_t    id;
    ngx_str_t    every;
    ngx_str_t    cron;
    ngx_str_t    timezone;
    ngx_str_t    start;
    ngx_str_t    end;
    ngx_str_t    misfire;
    ngx_str_t    overlap;
    ngx_str_t    target;
    ngx_str_t    payload;
    ngx_str_t    payload_file;
} ngx_http_submission_schedule_t;


/* Parameters, where they are kept, and their keys in the body. */

static const struct {
    const char  *name;
    const char  *field;
    size_t       offset;
} ngx_http_submission_schedule_params[] = {
    { "every=", "every", offsetof(ngx_http_submission_schedule_t, every) },
    { "cron=", "cron", offsetof(ngx_http_submission_schedule_t, cron) },
    { "timezone=", "timeZone",
      offsetof(ngx_http_submission_schedule_t, timezone) },
    { "start=", "startAt", offsetof(ngx_http_submission_schedule_t, start) },
    { "end=", "endAt", offsetof(ngx_http_submission_schedule_t, end) },
    { "misfire=", "misfire",
      offsetof(ngx_http_submission_schedule_t, misfire) },
    { "overlap=", "overlap",
      offsetof(ngx_http_submission_schedule_t, overlap) },
    { "target=", SM_FIELD_TARGET,
      offsetof(ngx_http_submission_schedule_t, target) },
    { "payload=", NULL, offsetof(ngx_http_submission_schedule_t, payload) },
    { "payload_file=", NULL,
      offsetof(ngx_http_submission_schedule_t, payload_file) }
};

#define ngx_http_submission_schedule_field(rp, i)                             \
    ((ngx_str_t *) ((u_char *) (rp)                                           \
                    + ngx_http_submission_schedule_params[i].offset))


static char *
ngx_http_submission_schedule_param(ngx_conf_t *cf, ngx_str_t *value,
    ngx_http_submission_schedule_t *rp)
{
    size_t       len;
    ngx_str_t   *field;
    ngx_uint_t   i;

    for (i = 0; i < sm_nelts(ngx_http_submission_schedule_params); i++) {

        len = ngx_strlen(ngx_http_submission_schedule_params[i].name);

        if (value->len <= len
            || ngx_strncmp(value->data,
                           ngx_http_submission_schedule_params[i].name, len)
               != 0)
        {
            continue;
        }

        field = ngx_http_submission_schedule_field(rp, i);

        if (field->data) {
            return "has a duplicate parameter";
        }

        field->data = value->data + len;
        field->len = value->len - len;

        return NGX_CONF_OK;
    }

    ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                       "invalid parameter \"%V\" of \"schedule\": \"every=\" "
                       "or \"cron=\", \"target=\", \"payload=\" or "
                       "\"payload_file=\", \"start=\", \"end=\", "
                       "\"timezone=\", \"misfire=\" or \"overlap=\" with a "
                       "value was expected", value);

    return NGX_CONF_ERROR;
}


/* Accepts "10m", as nginx writes times, and "PT10M". */

static ngx_int_t
ngx_http_submission_schedule_every(ngx_conf_t *cf, ngx_str_t *every)
{
    u_char  *p;
    time_t   sec;

    if (every->len == 0 || every->data[0] == 'P') {
        return NGX_OK;
    }

    sec = ngx_parse_time(every, 1);

    if (sec == (time_t) NGX_ERROR || sec < 1 || sec > SM_DURATION_MAX) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "invalid value \"%V\" of \"every\": a time between "
                           "1s and 365d was expected", every);
        return NGX_ERROR;
    }

    p = ngx_pnalloc(cf->pool, NGX_TIME_T_LEN + sizeof("PTS"));
    if (p == NULL) {
        return NGX_ERROR;
    }

    every->data = p;
    every->len = ngx_sprintf(p, "PT%TS", sec) - p;

    return NGX_OK;
}


/*
 * "02:00" is a time of day in UTC from which the interval counts.  It becomes
 * that time of a fixed Monday, so that all instances get the same start.
 */

static ngx_int_t
ngx_http_submission_schedule_start(ngx_conf_t *cf,
    ngx_http_submission_schedule_t *rp)
{
    u_char  *p;

    if (rp->start.len != 5 || rp->start.data[2] != ':') {
        return NGX_OK;
    }

    if (rp->every.data == NULL || rp->timezone.data) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "\"start=%V\" of schedule \"%V\" is a time of day "
                           "in UTC from which \"every\" counts: use \"cron=\" "
                           "for local times", &rp->start, &rp->id);
        return NGX_ERROR;
    }

    p = ngx_pnalloc(cf->pool, sizeof("2001-01-01T02:00:00Z"));
    if (p == NULL) {
        return NGX_ERROR;
    }

    rp->start.len = ngx_sprintf(p, "2001-01-01T%V:00Z", &rp->start) - p;
    rp->start.data = p;

    return NGX_OK;
}


static ngx_int_t
ngx_http_submission_schedule_read(ngx_conf_t *cf,
    ngx_http_submission_schedule_t *rp)
{
    ssize_t          n;
    ngx_int_t        rc;
    ngx_file_t       file;
    ngx_file_info_t  fi;

    if (rp->payload_file.data == NULL) {
        return NGX_OK;
    }

    ngx_memzero(&file, sizeof(ngx_file_t));

    if (ngx_conf_full_name(cf->cycle, &rp->payload_file, 1) != NGX_OK) {
        return NGX_ERROR;
    }

    file.name = rp->payload_file;
    file.log = cf->log;

    /* opening a pipe must not wait for a writer */

    file.fd = ngx_open_file(file.name.data, NGX_FILE_RDONLY|NGX_FILE_NONBLOCK,
                            NGX_FILE_OPEN, 0);

    if (file.fd == NGX_INVALID_FILE) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, ngx_errno,
                           "\"payload_file\" \"%V\" cannot be opened",
                           &file.name);
        return NGX_ERROR;
    }

    rc = NGX_ERROR;

    if (ngx_fd_info(file.fd, &fi) == NGX_FILE_ERROR || !ngx_is_file(&fi)
        || ngx_file_size(&fi) > NGX_HTTP_SUBMISSION_SCHEDULE_MAX)
    {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "\"payload_file\" \"%V\" is not a file of up to "
                           "1m", &file.name);

    } else if (ngx_file_size(&fi) == 0) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "\"payload_file\" \"%V\" is empty", &file.name);

    } else {
        rp->payload.len = ngx_file_size(&fi);
        rp->payload.data = ngx_pnalloc(cf->pool, rp->payload.len + 1);

        n = rp->payload.data
            ? ngx_read_file(&file, rp->payload.data, rp->payload.len, 0)
            : NGX_ERROR;

        if (n == (ssize_t) rp->payload.len) {
            rc = NGX_OK;

        } else {
            ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                               "\"payload_file\" \"%V\" cannot be read",
                               &file.name);
        }
    }

    if (ngx_close_file(file.fd) == NGX_FILE_ERROR) {
        ngx_log_error(NGX_LOG_ALERT, cf->log, ngx_errno,
                      ngx_close_file_n " \"%V\" failed", &file.name);
    }

    return rc;
}


/* Writes the body of the PUT, in the pool. */

static ngx_int_t
ngx_http_submission_schedule_body(ngx_conf_t *cf,
    ngx_http_submission_schedule_t *rp, sm_str_t *body)
{
    sm_out_t     out;
    sm_str_t     s;
    ngx_str_t   *field;
    ngx_uint_t   i;

    ngx_http_submission_out(&out, cf->pool);

    sm_out_c(&out, "{");

    for (i = 0; i < sm_nelts(ngx_http_submission_schedule_params); i++) {
        field = ngx_http_submission_schedule_field(rp, i);

        if (field->data == NULL
            || ngx_http_submission_schedule_params[i].field == NULL)
        {
            continue;
        }

        s = ngx_http_submission_str(field);

        sm_out_c(&out, sm_out_last(&out) == '{' ? "\"" : ",\"");
        sm_out_c(&out, ngx_http_submission_schedule_params[i].field);
        sm_out_c(&out, "\":");
        sm_json_out_str(&out, s);
    }

    if (rp->payload.len) {
        sm_out_c(&out, sm_out_last(&out) == '{' ? "\"payload\":"
                                                : ",\"payload\":");
        sm_out_bytes(&out, (char *) rp->payload.data, rp->payload.len);
    }

    sm_out_c(&out, "}");

    return sm_out_done(&out, body) == 0 ? NGX_OK : NGX_ERROR;
}


static void
ngx_http_submission_schedule_cleanup(void *data)
{
    sm_arena_free(data);
}


/* The strings live as long as the configuration. */

static ngx_int_t
ngx_http_submission_schedule_row(ngx_conf_t *cf,
    ngx_http_submission_schedule_t *rp, sm_schedule_row_t *row)
{
    sm_str_t             body, payload;
    sm_arena_t          *arena;
    sm_json_error_t      err;
    sm_schedule_rule_t   rule;
    ngx_pool_cleanup_t  *cln;

    if (rp->target.data == NULL) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "schedule \"%V\": \"target=\" is missing",
                           &rp->id);
        return NGX_ERROR;
    }

    if (ngx_http_submission_schedule_body(cf, rp, &body) != NGX_OK) {
        return NGX_ERROR;
    }

    cln = ngx_pool_cleanup_add(cf->pool, sizeof(sm_arena_t));
    if (cln == NULL) {
        return NGX_ERROR;
    }

    arena = cln->data;
    ngx_memzero(arena, sizeof(sm_arena_t));
    cln->handler = ngx_http_submission_schedule_cleanup;

    payload = ngx_http_submission_str(&rp->payload);

    /* it goes into the body as it is */

    if (payload.len && sm_json_one(arena, payload, &err) != 0) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "the payload of schedule \"%V\": %s", &rp->id,
                           err.message);
        return NGX_ERROR;
    }

    if (sm_schedule_parse(arena, body, &rule, &row->target, &row->payload, &err)
        != 0)
    {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0, "schedule \"%V\": %s",
                           &rp->id, err.message);
        return NGX_ERROR;
    }

    if (sm_store_zone_check(rule.zone) != 0) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "invalid \"timezone=%V\" of schedule \"%V\": a name "
                           "of the IANA database such as \"Europe/Stockholm\" "
                           "was expected", &rp->timezone, &rp->id);
        return NGX_ERROR;
    }

    return sm_schedule_body(arena, &rule, &row->body) == 0 ? NGX_OK : NGX_ERROR;
}


/* schedule <id> every=<time>|cron=<fields> target=<name> ... */

char *
ngx_http_submission_schedule(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_http_submission_manager_conf_t *mcf = conf;

    char                          *rv;
    const char                    *why;
    ngx_str_t                     *value;
    ngx_uint_t                     i;
    sm_schedule_row_t             *row, *rows;
    ngx_http_submission_schedule_t   rp;

    value = cf->args->elts;

    ngx_memzero(&rp, sizeof(ngx_http_submission_schedule_t));

    rp.id = value[1];

    for (i = 2; i < cf->args->nelts; i++) {
        rv = ngx_http_submission_schedule_param(cf, &value[i], &rp);
        if (rv != NGX_CONF_OK) {
            return rv;
        }
    }

    if (rp.payload.data && rp.payload_file.data) {
        return "has both \"payload=\" and \"payload_file=\"";
    }

    row = ngx_array_push(&mcf->schedules);
    if (row == NULL) {
        return NGX_CONF_ERROR;
    }

    ngx_memzero(row, sizeof(sm_schedule_row_t));

    row->op = SM_SCHEDULE_OP_PUT;
    row->id = ngx_http_submission_str(&rp.id);
    row->actor.name = sm_str_c("configuration");
    row->actor.address = sm_str_c("");
    row->configured = 1;

    why = sm_schedule_id_check(row->id);

    if (why) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "the id of schedule \"%V\" %s", &rp.id, why);
        return NGX_CONF_ERROR;
    }

    rows = mcf->schedules.elts;

    for (i = 0; i < mcf->schedules.nelts - 1; i++) {
        if (sm_str_eq(rows[i].id, row->id)) {
            ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                               "duplicate schedule \"%V\"", &rp.id);
            return NGX_CONF_ERROR;
        }
    }

    if (ngx_http_submission_schedule_every(cf, &rp.every) != NGX_OK
        || ngx_http_submission_schedule_start(cf, &rp) != NGX_OK
        || ngx_http_submission_schedule_read(cf, &rp) != NGX_OK
        || ngx_http_submission_schedule_row(cf, &rp, row) != NGX_OK)
    {
        return NGX_CONF_ERROR;
    }

    return NGX_CONF_OK;
}


ngx_int_t
ngx_http_submission_schedule_check(ngx_conf_t *cf,
    ngx_http_submission_manager_conf_t *mcf)
{
    ngx_uint_t       i;
    sm_schedule_row_t  *rows;

    rows = mcf->schedules.elts;

    for (i = 0; i < mcf->schedules.nelts; i++) {

        if (ngx_http_submission_target_client(mcf, rows[i].target) == NULL) {
            ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                          "schedule \"%*s\" of submission_manager \"%V\" in "
                          "%s:%ui has the target \"%*s\", which it does not "
                          "define",
                          rows[i].id.len, rows[i].id.data, &mcf->name,
                          mcf->file, mcf->line, rows[i].target.len,
                          rows[i].target.data);
            return NGX_ERROR;
        }
    }

    return NGX_OK;
}
