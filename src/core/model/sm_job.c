
#include "sm_job.h"
#include "sm_cursor.h"
#include "sm_schedule.h"


static const sm_str_t  sm_job_kind_names[] = {
    [SM_JOB_REPLAY] = sm_str("replay"),
    [SM_JOB_CANCEL] = sm_str("cancel")
};

_Static_assert(sm_nelts(sm_job_kind_names) == SM_JOB_KINDS,
               "a name for each kind of jobs");

static const sm_names_t  sm_job_kinds = {
    sm_job_kind_names, SM_JOB_KINDS, SM_JOB_KINDS
};


static const sm_str_t  sm_job_state_names[] = {
    [SM_JOB_NONE] = sm_null_str,
    [SM_JOB_RUNNING] = sm_str("running"),
    [SM_JOB_DONE] = sm_str("done"),
    [SM_JOB_STOPPED] = sm_str("stopped"),
    [SM_JOB_FAILED] = sm_str("failed")
};

_Static_assert(sm_nelts(sm_job_state_names) == SM_JOB_STATES,
               "a name for each state of a job");

static const sm_names_t  sm_job_states = {
    sm_job_state_names, SM_JOB_STATES, SM_JOB_NONE
};


const sm_field_t  sm_job_fields[] = {
    sm_field(sm_job_t, id, "job_id", TEXT, "id", SM_FIELD_ALWAYS),
    sm_field_name(sm_job_t, kind,
                  "kind", "kind", SM_FIELD_ALWAYS, &sm_job_kinds),
    sm_field_name(sm_job_t, state,
                  "state", "state", SM_FIELD_ALWAYS, &sm_job_states),
    sm_field_hidden(sm_job_t, doc, "filter", TEXT),
    sm_field(sm_job_t, limit, "max_intents", INT, "limit", SM_FIELD_NULL),
    sm_field_hidden(sm_job_t, position, "position", TEXT),
    sm_field_hidden(sm_job_t, seen, "seen_count", INT),
    sm_field(sm_job_t, done, "done_count", INT, "done", SM_FIELD_ALWAYS),
    sm_field(sm_job_t, skipped,
             "skipped_count", INT, "skipped", SM_FIELD_ALWAYS),
    sm_field(sm_job_t, error, "last_error", TEXT, "lastError", 0),
    sm_field(sm_job_t, created_at,
             "created_at", TIME, "createdAt", SM_FIELD_ALWAYS),
    sm_field(sm_job_t, modified_at,
             "last_modified_at", TIME, "updatedAt", SM_FIELD_ALWAYS),
    sm_field(sm_job_t, completed_at, "completed_at", TIME, "completedAt", 0),
    sm_field(sm_job_t, actor, "actor", TEXT, "actor", SM_FIELD_NULL),
    sm_null_field
};


/* The document of a job, as it is stored. */

const sm_json_field_t  sm_job_doc_fields[] = {
    { "filter", SM_JSON_OBJECT, 1 },
    { "contract", SM_JSON_STRING, 0 },
    { "again", SM_JSON_BOOL, 0 },
    { NULL, 0, 0 }
};


sm_str_t
sm_job_kind_name(sm_job_kind_e kind)
{
    return sm_names_name(&sm_job_kinds, kind);
}


sm_str_t
sm_job_state_name(sm_job_state_e state)
{
    return sm_job_state_names[state];
}


/*
 * A number is refused, because "a~1" is the first replay of "a", and not its
 * replay by a job "1".
 */

const char *
sm_job_id_check(sm_str_t id)
{
    size_t       i;
    const char  *fault;

    fault = sm_id_check(id);

    if (fault) {
        return fault;
    }

    if (sm_utf8_length(id) > SM_JOB_ID_MAX) {
        return "must not be longer than 64 characters";
    }

    /*
     * The ids of a job's replays end with the id of the job, and must not look
     * like those of occurrences.
     */

    if (sm_schedule_timed(id)) {
        return "must not end as the id of an occurrence of a schedule does";
    }

    for (i = 0; i < id.len; i++) {
        if (id.data[i] < '0' || id.data[i] > '9') {
            return NULL;
        }
    }

    return "must not be a number";
}


int
sm_job_resume(const sm_job_t *job, sm_list_row_t *row)
{
    sm_str_t     number;
    const char  *space;

    /*
     * Intents of the job's own time are included, because a store's clock may
     * have only milliseconds.
     */

    if (row->by != SM_LIST_ID && (row->to == 0 || row->to > job->created_at)) {
        row->to = job->created_at + 1;
    }

    if (job->position.data == NULL) {
        return 0;
    }

    space = memchr(job->position.data, ' ', job->position.len);

    if (space == NULL) {
        return -1;
    }

    number.data = job->position.data;
    number.len = space - number.data;

    row->after_id.data = space + 1;
    row->after_id.len = job->position.len - number.len - 1;

    return sm_parse_uint(number, SM_TIME_MAX, &row->after_at) != 0
           || sm_id_check(row->after_id) ? -1 : 0;
}


int
sm_job_position(sm_arena_t *arena, const sm_list_row_t *row, int64_t at,
    sm_str_t id, sm_str_t *position)
{
    sm_out_t  out;

    sm_out_init_arena(&out, arena);

    sm_out_int(&out, row->by == SM_LIST_ID ? 0 : at);
    sm_out_c(&out, " ");
    sm_out_str(&out, id);

    return sm_out_done(&out, position);
}


/*
 * Returns whether the job has made the intent, or it came after the job.  The
 * time says so, unless the store's clock was set back; then the id does.
 */

static int
sm_job_made(const sm_job_t *job, const sm_intent_t *intent)
{
    sm_str_t  id;

    if (intent->created_at > job->created_at) {
        return 1;
    }

    id = intent->id;

    if (intent->replay_of.len == 0 || id.len <= job->id.len) {
        return 0;
    }

    if (id.data[job->id.len] == '~'
        && memcmp(id.data, job->id.data, job->id.len) == 0)
    {
        return 1;
    }

    id.data += id.len - job->id.len;
    id.len = job->id.len;

    return id.data[-1] == '~' && sm_str_eq(id, job->id);
}


/* A target with a space in its name is a webhook's, and hidden. */

sm_job_fit_e
sm_job_fits(const sm_job_t *job, const sm_job_terms_t *terms,
    const sm_intent_t *intent)
{
    if (memchr(intent->target.data, ' ', intent->target.len)
        || (job->created_at && sm_job_made(job, intent)))
    {
        return SM_JOB_PASS;
    }

    if (job->kind == SM_JOB_CANCEL) {
        return intent->status != SM_STATUS_PENDING ? SM_JOB_PASS
               : intent->in_flight ? SM_JOB_SKIP : SM_JOB_TAKE;
    }

    return intent->status == SM_STATUS_PENDING ? SM_JOB_PASS
           : intent->stripped ? SM_JOB_SKIP
           : intent->replay_count && !terms->again ? SM_JOB_BEFORE
           : SM_JOB_TAKE;
}


int
sm_job_new_id(sm_arena_t *arena, sm_str_t id, sm_str_t job, const char *hash,
    sm_str_t *new_id)
{
    sm_out_t  out;

    sm_out_init_arena(&out, arena);

    sm_out_str(&out, id);
    sm_out_c(&out, "~");
    sm_out_str(&out, job);

    if (sm_out_done(&out, new_id) != 0) {
        return -1;
    }

    if (sm_id_check(*new_id) == NULL) {
        return 0;
    }

    sm_out_rewind(&out);

    sm_out_str(&out, job);
    sm_out_c(&out, "~");
    sm_out_bytes(&out, hash, SM_JOB_HASH);

    return sm_out_done(&out, new_id);
}


int
sm_job_detail(sm_arena_t *arena, const sm_job_request_t *req, sm_str_t *detail)
{
    sm_out_t  out;

    sm_out_init_arena(&out, arena);

    if (req->limit && req->doc.len) {
        sm_out_bytes(&out, req->doc.data, req->doc.len - 1);
        sm_out_c(&out, ",\"limit\":");
        sm_out_int(&out, req->limit);
        sm_out_c(&out, "}");

    } else {
        sm_out_str(&out, req->doc);
    }

    return sm_out_done(&out, detail);
}


sm_job_e
sm_job_outcome(const sm_job_request_t *req, const sm_job_t *job,
    unsigned created)
{
    if (created) {
        return SM_JOB_CREATED;
    }

    return sm_str_eq(req->doc, job->doc) && req->limit == job->limit
           ? SM_JOB_SAME : SM_JOB_CONFLICT;
}


/* Somebody else may have written what is not a document into the table. */

static void
sm_job_out_doc(sm_out_t *out, sm_str_t doc)
{
    int              rc;
    sm_arena_t       arena;
    sm_json_error_t  err;
    sm_json_value_t  v[SM_JOB_DOC_KEYS];

    memset(&arena, 0, sizeof(sm_arena_t));

    rc = sm_json_object(&arena, doc, sm_job_doc_fields, v, &err);

    sm_out_c(out, ",\"filter\":");

    if (rc == 0) {
        sm_out_str(out, v[SM_JOB_DOC_FILTER].raw);

    } else {
        sm_out_c(out, "{}");
    }

    if (rc == 0 && v[SM_JOB_DOC_CONTRACT].type) {
        sm_out_c(out, ",\"contract\":");
        sm_out_str(out, v[SM_JOB_DOC_CONTRACT].raw);
    }

    if (rc == 0 && v[SM_JOB_DOC_AGAIN].type) {
        sm_out_c(out, ",\"again\":");
        sm_out_str(out, v[SM_JOB_DOC_AGAIN].raw);
    }

    sm_arena_free(&arena);
}


void
sm_job_out(sm_out_t *out, const sm_job_t *job)
{
    const sm_field_t  *rest;

    sm_out_c(out, "{");
    rest = sm_out_fields_to(out, sm_job_fields, job, "filter");
    sm_job_out_doc(out, job->doc);
    rest = sm_out_fields_to(out, rest, job, "done_count");
    sm_out_c(out, ",\"matched\":");
    sm_out_int(out, job->done + job->skipped);
    sm_out_fields(out, rest, job);
    sm_out_c(out, "}");
}
