
/*
 * Schedules: PUT, GET and DELETE /v1/schedules/{id}, GET /v1/schedules, and
 * POST to /pause, /resume, /run and /preview of one.
 */

#include "ngx_http_submission_access.h"
#include "ngx_http_submission_reply.h"
#include "ngx_http_submission_routes.h"
#include "ngx_http_submission_submit.h"

#include "sm_tag.h"


_Static_assert(NGX_HTTP_SUBMISSION_OP_SCHEDULE_PREVIEW
               - NGX_HTTP_SUBMISSION_OP_SCHEDULE_GET
               == SM_SCHEDULE_OP_PREVIEW - SM_SCHEDULE_OP_GET,
               "operations in the order of sm_schedule_op_e");


/* What the body of each operation may have. */

static const sm_json_field_t
    ngx_http_submission_schedules_fields[SM_SCHEDULE_OP_RUN + 1][2] =
{
    [SM_SCHEDULE_OP_PAUSE] = { { "reason", SM_JSON_STRING, 0 } },
    [SM_SCHEDULE_OP_RUN] = { { SM_FIELD_ID, SM_JSON_STRING, 0 } }
};


static ngx_int_t
ngx_http_submission_schedules_after(ngx_http_submission_ctx_t *ctx,
    void *field, sm_str_t value)
{
    sm_str_t  *after = field;

    *after = value;

    return sm_schedule_id_check(value) ? NGX_DECLINED : NGX_OK;
}


static const ngx_http_submission_arg_t  ngx_http_submission_schedules_args[] = {

    { "limit", ngx_http_submission_arg_limit,
      offsetof(sm_schedule_list_t, limit),
      NGX_HTTP_SUBMISSION_ARG_EXPECTED_LIMIT },

    { "after", ngx_http_submission_schedules_after,
      offsetof(sm_schedule_list_t, after),
      NGX_HTTP_SUBMISSION_ARG_EXPECTED_NEXT },

    { NULL, NULL, 0, NULL }
};


const ngx_http_submission_input_t  ngx_http_submission_schedules_list_input = {
    .args = ngx_http_submission_schedules_args
};


static void
ngx_http_submission_schedules_init(ngx_http_submission_ctx_t *ctx)
{
    sm_schedule_row_t  *row = ctx->row;

    row->op = SM_SCHEDULE_OP_GET + (ctx->route->op
                                    - NGX_HTTP_SUBMISSION_OP_SCHEDULE_GET);
    row->contract = ngx_http_submission_target_contract_thread;
    row->data = ctx->manager->conf;
}


/* Takes a condition, if there is one. */

static ngx_int_t
ngx_http_submission_schedules_tags(ngx_table_elt_t *h, const char *name,
    sm_str_t *tags, sm_json_error_t *err)
{
    if (h == NULL) {
        return NGX_OK;
    }

    *tags = ngx_http_submission_str(&h->value);

    return ngx_http_submission_api_check(err, NULL, name,
               sm_tags_have(*tags, 0, 0) == -1
               ? "must be \"*\" or a list of entity tags, each in quotes"
               : NULL);
}


/* Takes what all of them have: the id, the conditions, and who asks. */

static ngx_int_t
ngx_http_submission_schedules_take(ngx_http_submission_ctx_t *ctx,
    sm_arena_t *arena, sm_str_t body, sm_json_error_t *err)
{
    sm_schedule_row_t  *row = ctx->row;

    ngx_http_request_t  *r;

    r = ctx->request;

    row->id = ctx->id;

    if (ngx_http_submission_api_check(err, "the id of the schedule", "id",
                                      sm_schedule_id_check(row->id))
        != NGX_OK)
    {
        return NGX_DECLINED;
    }

    /* nginx's own filter knows nothing of our tags */

    r->disable_not_modified = 1;

    if (ngx_http_submission_schedules_tags(r->headers_in.if_match, "If-Match",
                                           &row->if_match, err)
        != NGX_OK
        || ngx_http_submission_schedules_tags(r->headers_in.if_none_match,
                                              "If-None-Match",
                                              &row->if_none_match, err)
           != NGX_OK)
    {
        return NGX_DECLINED;
    }

    return ngx_http_submission_access_actor(r, &row->actor);
}


/* GET and DELETE have no body. */

const ngx_http_submission_input_t  ngx_http_submission_schedules_get_input = {
    .init = ngx_http_submission_schedules_init,
    .take = ngx_http_submission_schedules_take
};


static ngx_int_t
ngx_http_submission_schedules_put_take(ngx_http_submission_ctx_t *ctx,
    sm_arena_t *arena, sm_str_t body, sm_json_error_t *err)
{
    sm_schedule_row_t  *row = ctx->row;

    ngx_int_t                      rc;
    sm_schedule_rule_t             rule;
    ngx_http_submission_target_t  *target;

    rc = ngx_http_submission_schedules_take(ctx, arena, body, err);
    if (rc != NGX_OK) {
        return rc;
    }

    if (sm_schedule_parse(arena, body, &rule, &row->target, &row->payload, err)
        != 0)
    {
        return NGX_DECLINED;
    }

    rc = ngx_http_submission_submit_target(ctx, row->target, &target, err);
    if (rc != NGX_OK) {
        return rc;
    }

    return sm_schedule_body(arena, &rule, &row->body) == 0 ? NGX_OK : NGX_ERROR;
}


/* A preview is of what a PUT would make. */

const ngx_http_submission_input_t  ngx_http_submission_schedules_put_input = {
    .init = ngx_http_submission_schedules_init,
    .take = ngx_http_submission_schedules_put_take
};


static ngx_int_t
ngx_http_submission_schedules_act_take(ngx_http_submission_ctx_t *ctx,
    sm_arena_t *arena, sm_str_t body, sm_json_error_t *err)
{
    sm_schedule_row_t  *row = ctx->row;

    ngx_int_t        rc;
    sm_json_value_t  text;

    rc = ngx_http_submission_schedules_take(ctx, arena, body, err);
    if (rc != NGX_OK) {
        return rc;
    }

    text.type = 0;

    rc = ngx_http_submission_body_object(arena, body,
                              ngx_http_submission_schedules_fields[row->op],
                                         &text, err);

    if (rc != NGX_OK || text.type == 0) {
        return rc;
    }

    if (row->op == SM_SCHEDULE_OP_PAUSE) {
        return ngx_http_submission_api_clean(ctx->request->pool, text.text,
                                             SM_SCHEDULE_REASON_MAX,
                                             &row->reason);
    }

    row->intent_id = sm_trim(text.text);

    return ngx_http_submission_api_check(err, NULL, SM_FIELD_ID,
                                         sm_id_check(row->intent_id));
}


/* Pause, resume and run may have one text in a body. */

const ngx_http_submission_input_t  ngx_http_submission_schedules_act_input = {
    .init = ngx_http_submission_schedules_init,
    .take = ngx_http_submission_schedules_act_take
};


/* A run that is tried again keeps the time of its first try. */

void
ngx_http_submission_schedules_again(void *data, const void *tried)
{
    sm_schedule_row_t        *row = data;
    const sm_schedule_row_t  *before = tried;

    row->first = before->first;
}


ngx_int_t
ngx_http_submission_schedules_list_reply(ngx_http_request_t *r,
    const void *data)
{
    const sm_schedule_list_t  *row = data;

    size_t    i;
    sm_out_t  out;

    ngx_http_submission_out(&out, r->pool);

    sm_out_c(&out, "{\"schedules\":[");

    for (i = 0; i < row->n; i++) {
        sm_out_c(&out, i ? "," : "");
        sm_schedule_out(&out, &row->rows[i], &row->rules[i]);
    }

    sm_out_c(&out, "],\"next\":");

    if (row->more) {
        sm_json_out_str(&out, row->rows[row->n - 1].id);

    } else {
        sm_out_c(&out, "null");
    }

    sm_out_c(&out, "}\n");

    return ngx_http_submission_reply_send(r, NGX_HTTP_OK, &out);
}


/* The target of a schedule that is run by hand is not configured here. */

static ngx_int_t
ngx_http_submission_schedules_no_target(ngx_http_request_t *r,
    const sm_schedule_row_t *row)
{
    ngx_http_submission_ctx_t  *ctx;

    ctx = ngx_http_get_module_ctx(r, ngx_http_submission_module);

    if (ngx_http_submission_board_perhaps(ctx->manager->conf,
                                          row->schedule.target))
    {
        return ngx_http_submission_reply_not_yet(r, "target_not_here_yet",
                   "another instance has the target of the schedule, and this "
                   "one does not have it yet", NULL);
    }

    return ngx_http_submission_reply_error(r, NGX_HTTP_CONFLICT,
               "unknown_target", "the target of the schedule is not "
               "configured any more", NULL);
}


/* A client that may not see payloads elsewhere does not see them here. */

static ngx_int_t
ngx_http_submission_schedules_show(ngx_http_request_t *r, ngx_uint_t status,
    const sm_schedule_row_t *row)
{
    u_char         *tag;
    sm_out_t        out;
    sm_schedule_t   schedule;

    schedule = row->schedule;

    if (row->op != SM_SCHEDULE_OP_GET
        || !ngx_http_submission_access_payloads(r))
    {
        schedule.payload.len = 0;
    }

    tag = ngx_pnalloc(r->pool, NGX_INT64_LEN + sizeof("\"\""));

    if (tag == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    *ngx_sprintf(tag, "\"%L\"", schedule.revision) = '\0';

    if (row->op != SM_SCHEDULE_OP_DELETE
        && ngx_http_submission_reply_header(r, "ETag", (char *) tag) != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    ngx_http_submission_out(&out, r->pool);

    sm_schedule_out(&out, &schedule, &row->rule);
    sm_out_c(&out, "\n");

    return ngx_http_submission_reply_send(r, status, &out);
}


static ngx_int_t
ngx_http_submission_schedules_preview(ngx_http_request_t *r,
    const sm_schedule_row_t *row)
{
    size_t    i;
    sm_out_t  out;

    ngx_http_submission_out(&out, r->pool);

    sm_out_c(&out, "{\"times\":[");

    for (i = 0; i < row->ntimes; i++) {
        sm_out_c(&out, i ? "," : "");
        sm_json_out_time(&out, row->times[i] * SM_SCHEDULE_SECOND);
    }

    sm_out_c(&out, "]}\n");

    return ngx_http_submission_reply_send(r, NGX_HTTP_OK, &out);
}


ngx_int_t
ngx_http_submission_schedules_reply(ngx_http_request_t *r, const void *data)
{
    const sm_schedule_row_t  *row = data;

    switch (row->outcome) {

    case SM_SCHEDULE_CREATED:
        return ngx_http_submission_schedules_show(r, NGX_HTTP_CREATED, row);

    case SM_SCHEDULE_SAME:
        return ngx_http_submission_reply_intent(r, &row->intent, 1);

    case SM_SCHEDULE_DONE:
        return row->op == SM_SCHEDULE_OP_RUN
               ? ngx_http_submission_reply_intent(r, &row->intent, 0)
               : row->op == SM_SCHEDULE_OP_PREVIEW
               ? ngx_http_submission_schedules_preview(r, row)
               : ngx_http_submission_schedules_show(r, NGX_HTTP_OK, row);

    case SM_SCHEDULE_CHANGED:
        return ngx_http_submission_reply_error(r, NGX_HTTP_PRECONDITION_FAILED,
                   "precondition_failed", "the schedule is not what "
                   "\"If-Match\" or \"If-None-Match\" expects: read it again",
                   NULL);

    case SM_SCHEDULE_CONFIGURED:
        return ngx_http_submission_reply_error(r, NGX_HTTP_CONFLICT,
                   "schedule_configured", "the schedule is in the "
                   "configuration of nginx: change it there, and reload",
                   NULL);

    case SM_SCHEDULE_NO_ZONE:
        return ngx_http_submission_reply_error(r, NGX_HTTP_BAD_REQUEST,
                   "invalid_request", "\"timeZone\" must be a name of the IANA "
                   "database such as \"Europe/Stockholm\"", "timeZone");

    case SM_SCHEDULE_NO_TIME:
        return ngx_http_submission_reply_error(r, NGX_HTTP_BAD_REQUEST,
                   "invalid_request", "no time of the schedule is to come, "
                   "before \"endAt\" or at all", "endAt");

    case SM_SCHEDULE_NO_TARGET:
        return ngx_http_submission_schedules_no_target(r, row);

    case SM_SCHEDULE_CONFLICT:
        return ngx_http_submission_reply_error(r, NGX_HTTP_CONFLICT,
                   "idempotency_conflict", "another intent has the id of this "
                   "run", SM_FIELD_ID);

    case SM_SCHEDULE_RESERVED:
        return ngx_http_submission_reply_error(r, NGX_HTTP_CONFLICT,
                   "reserved_id", "\"" SM_FIELD_ID "\" has the form of an "
                   "occurrence of another schedule", SM_FIELD_ID);

    default: /* SM_SCHEDULE_NOT_FOUND */
        return ngx_http_submission_reply_error(r, NGX_HTTP_NOT_FOUND,
                   "not_found", "there is no such schedule", NULL);
    }
}
