
/*
 * /v1/replays and /v1/cancels: jobs, their progress, and their end.
 */

#include "ngx_http_submission_access.h"
#include "ngx_http_submission_reply.h"
#include "ngx_http_submission_routes.h"

#include "sm_cursor.h"

#include <sys/random.h>


#define NGX_HTTP_SUBMISSION_JOBS_ID  8          /* random bytes */


/* Takes the id of a job from the path. */

static ngx_int_t
ngx_http_submission_jobs_path(ngx_http_submission_ctx_t *ctx, sm_str_t *id,
    sm_json_error_t *err)
{
    *id = sm_trim(ctx->id);

    return ngx_http_submission_api_check(err, "the job id", "id",
                                         sm_job_id_check(*id));
}


/* Makes an id for a job that was posted without one. */

static ngx_int_t
ngx_http_submission_jobs_new_id(ngx_http_request_t *r, sm_str_t *id)
{
    u_char  *p, bytes[NGX_HTTP_SUBMISSION_JOBS_ID];
    size_t   i;

    if (getrandom(bytes, sizeof(bytes), GRND_NONBLOCK) != sizeof(bytes)) {
        for (i = 0; i < sizeof(bytes); i++) {
            bytes[i] = (u_char) ngx_random();
        }
    }

    p = ngx_pnalloc(r->pool, 1 + 2 * sizeof(bytes));
    if (p == NULL) {
        return NGX_ERROR;
    }

    p[0] = 'j';
    (void) ngx_hex_dump(p + 1, bytes, sizeof(bytes));

    id->data = (char *) p;
    id->len = 1 + 2 * sizeof(bytes);

    return NGX_OK;
}


static ngx_int_t
ngx_http_submission_jobs_add_take(ngx_http_submission_ctx_t *ctx,
    sm_arena_t *arena, sm_str_t body, sm_json_error_t *err)
{
    sm_job_row_t  *row = ctx->row;

    row->request.kind = ctx->route->kind;

    if (sm_job_request_parse(arena, body, &row->request, err) != 0) {
        return NGX_DECLINED;
    }

    if (row->request.id.data == NULL
        && ngx_http_submission_jobs_new_id(ctx->request, &row->request.id)
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    return ngx_http_submission_access_actor(ctx->request, &row->actor);
}


const ngx_http_submission_input_t  ngx_http_submission_jobs_add_input = {
    .take = ngx_http_submission_jobs_add_take
};


static ngx_int_t
ngx_http_submission_jobs_stop_take(ngx_http_submission_ctx_t *ctx,
    sm_arena_t *arena, sm_str_t body, sm_json_error_t *err)
{
    sm_job_row_t  *row = ctx->row;

    row->request.kind = ctx->route->kind;

    if (ngx_http_submission_body_nothing(arena, body, err) != NGX_OK
        || ngx_http_submission_jobs_path(ctx, &row->request.id, err) != NGX_OK)
    {
        return NGX_DECLINED;
    }

    return ngx_http_submission_access_actor(ctx->request, &row->actor);
}


const ngx_http_submission_input_t  ngx_http_submission_jobs_stop_input = {
    .take = ngx_http_submission_jobs_stop_take
};


void
ngx_http_submission_jobs_stop_again(void *data, const void *tried)
{
    sm_job_row_t  *row = data;

    row->tried = 1;
}


/*
 * Tells of a job that was stopped.  A call that has failed may have stopped it,
 * and then the next one finds it so.
 */

void
ngx_http_submission_jobs_stop_note(ngx_http_submission_manager_t *manager,
    const void *data)
{
    const sm_job_row_t  *row = data;

    u_char            buf[SM_FEED_BYTES];
    sm_str_t          text, kind;
    const sm_actor_t  *actor;

    static const sm_str_t  none;

    if (row->outcome != SM_JOB_CREATED
        && !(row->tried && row->outcome == SM_JOB_SAME
             && row->job.state == SM_JOB_STOPPED))
    {
        return;
    }

    kind = sm_job_kind_name(row->request.kind);
    actor = &row->actor;

    text.data = (char *) buf;
    text.len = ngx_snprintf(buf, sizeof(buf), "The %*s job %*s was stopped%s"
                            "%*s: %L intent%s, and %L %s skipped.", kind.len,
                            kind.data, row->job.id.len, row->job.id.data,
                            actor->name.len ? " by " : "", actor->name.len,
                            actor->name.data, row->job.done,
                            row->job.done == 1 ? "" : "s", row->job.skipped,
                            row->job.skipped == 1 ? "was" : "were")
               - buf;

    if (row->tried
        && ngx_http_submission_event_said(manager, SM_FEED_JOB_STOPPED, text))
    {
        return;
    }

    ngx_http_submission_event(manager, SM_FEED_JOB_STOPPED, none, "%*s",
                              text.len, text.data);
}


/* A dry run only reads.  Each job is a transaction of its own. */

int
ngx_http_submission_jobs_add_thread(sm_store_t *store, sm_call_t *call,
    void *rows, size_t n)
{
    size_t         i;
    sm_job_row_t  *row;

    for (i = 0; i < n; i++) {
        row = (sm_job_row_t *) rows + i;

        if (row->request.dry_run ? sm_store_job_count(store, call, row)
                                 : sm_store_jobs_add(store, call, row, 1))
        {
            return -1;
        }
    }

    return 0;
}


static ngx_int_t
ngx_http_submission_jobs_one(ngx_http_request_t *r, const sm_job_t *job)
{
    sm_out_t  out;

    ngx_http_submission_out(&out, r->pool);

    sm_job_out(&out, job);
    sm_out_c(&out, "\n");

    return ngx_http_submission_reply_send(r, NGX_HTTP_OK, &out);
}


static ngx_int_t
ngx_http_submission_jobs_not_found(ngx_http_request_t *r)
{
    return ngx_http_submission_reply_error(r, NGX_HTTP_NOT_FOUND, "not_found",
                                           "there is no such job", NULL);
}


static ngx_int_t
ngx_http_submission_jobs_counted(ngx_http_request_t *r,
    const sm_job_row_t *row)
{
    size_t    i;
    sm_out_t  out;

    ngx_http_submission_out(&out, r->pool);

    sm_out_c(&out, "{\"dryRun\":true,\"count\":");
    sm_out_int(&out, row->count);

    if (row->request.kind == SM_JOB_REPLAY) {
        sm_out_c(&out, ",\"replayed\":");
        sm_out_int(&out, row->replayed);
    }

    sm_out_c(&out, row->bounded ? ",\"countIsBound\":true,\"sample\":["
                                : ",\"countIsBound\":false,\"sample\":[");

    for (i = 0; i < row->nsample; i++) {
        sm_out_c(&out, i ? "," : "");
        sm_json_out_str(&out, row->sample[i]);
    }

    sm_out_c(&out, "]}\n");

    return ngx_http_submission_reply_send(r, NGX_HTTP_OK, &out);
}


/* Answers to what adds a job, and to what stops one. */

ngx_int_t
ngx_http_submission_jobs_reply(ngx_http_request_t *r, const void *data)
{
    const sm_job_row_t  *row = data;

    if (row->request.dry_run) {
        return ngx_http_submission_jobs_counted(r, row);
    }

    switch (row->outcome) {

    case SM_JOB_SAME:

        if (ngx_http_submission_reply_replayed(r) != NGX_OK) {
            return NGX_HTTP_INTERNAL_SERVER_ERROR;
        }

        /* fall through */

    case SM_JOB_CREATED:
        return ngx_http_submission_jobs_one(r, &row->job);

    case SM_JOB_CONFLICT:
        return ngx_http_submission_reply_error(r, NGX_HTTP_CONFLICT,
                   "idempotency_conflict", "another job has this id", "id");

    default: /* SM_JOB_NOT_FOUND */
        return ngx_http_submission_jobs_not_found(r);
    }
}


static void
ngx_http_submission_jobs_init(ngx_http_submission_ctx_t *ctx)
{
    sm_jobs_row_t  *row = ctx->row;

    row->kind = ctx->route->kind;
}


static ngx_int_t
ngx_http_submission_jobs_after(ngx_http_submission_ctx_t *ctx, void *field,
    sm_str_t value)
{
    sm_jobs_row_t  *row = ctx->row;

    char  *buf;

    buf = ngx_pnalloc(ctx->request->pool, value.len + 1);
    if (buf == NULL) {
        return NGX_ERROR;
    }

    return sm_cursor_parse(value, buf, &row->after_at, &row->after_id) == 0
           && row->after_at ? NGX_OK : NGX_DECLINED;
}


static const ngx_http_submission_arg_t  ngx_http_submission_jobs_args[] = {

    { "limit", ngx_http_submission_arg_limit,
      offsetof(sm_jobs_row_t, limit),
      NGX_HTTP_SUBMISSION_ARG_EXPECTED_LIMIT },

    { "after", ngx_http_submission_jobs_after, 0,
      NGX_HTTP_SUBMISSION_ARG_EXPECTED_NEXT },

    { NULL, NULL, 0, NULL }
};


const ngx_http_submission_input_t  ngx_http_submission_jobs_list_input = {
    .args = ngx_http_submission_jobs_args,
    .init = ngx_http_submission_jobs_init
};


static ngx_int_t
ngx_http_submission_jobs_get_take(ngx_http_submission_ctx_t *ctx,
    sm_arena_t *arena, sm_str_t body, sm_json_error_t *err)
{
    sm_jobs_row_t  *row = ctx->row;

    row->limit = 1;

    return ngx_http_submission_jobs_path(ctx, &row->id, err);
}


const ngx_http_submission_input_t  ngx_http_submission_jobs_get_input = {
    .init = ngx_http_submission_jobs_init,
    .take = ngx_http_submission_jobs_get_take
};


ngx_int_t
ngx_http_submission_jobs_list_reply(ngx_http_request_t *r, const void *data)
{
    const sm_jobs_row_t  *row = data;

    size_t           i;
    sm_out_t         out;
    const sm_job_t  *last;

    if (row->id.data) {
        return row->n ? ngx_http_submission_jobs_one(r, &row->jobs[0])
                      : ngx_http_submission_jobs_not_found(r);
    }

    ngx_http_submission_out(&out, r->pool);

    sm_out_c(&out, "{\"jobs\":[");

    for (i = 0; i < row->n; i++) {
        sm_out_c(&out, i ? "," : "");
        sm_job_out(&out, &row->jobs[i]);
    }

    if (row->more) {
        last = &row->jobs[row->n - 1];

        sm_out_c(&out, "],\"next\":\"");
        sm_cursor_out(&out, last->created_at, last->id);
        sm_out_c(&out, "\"}\n");

    } else {
        sm_out_c(&out, "],\"next\":null}\n");
    }

    return ngx_http_submission_reply_send(r, NGX_HTTP_OK, &out);
}
