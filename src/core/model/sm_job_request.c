
/*
 * The request for a job: the body that was sent, and the document that is
 * stored.
 */

#include <stdio.h>

#include "sm_job.h"
#include "sm_search.h"
#include "sm_time.h"


/* The keys of the body; that of a cancel has neither of the last two. */

enum {
    SM_JOB_KEY_ID = 0,
    SM_JOB_KEY_FILTER,
    SM_JOB_KEY_LIMIT,
    SM_JOB_KEY_DRY_RUN,
    SM_JOB_KEY_CONTRACT,
    SM_JOB_KEY_AGAIN,
    SM_JOB_KEYS
};

static const sm_json_field_t  sm_job_replay_fields[] = {
    { "id", SM_JSON_STRING, 0 },
    { "filter", SM_JSON_OBJECT, 1 },
    { "limit", SM_JSON_NUMBER, 0 },
    { "dryRun", SM_JSON_BOOL, 0 },
    { "contract", SM_JSON_STRING, 0 },
    { "again", SM_JSON_BOOL, 0 },
    { NULL, 0, 0 }
};

static const sm_json_field_t  sm_job_cancel_fields[] = {
    { "id", SM_JSON_STRING, 0 },
    { "filter", SM_JSON_OBJECT, 1 },
    { "limit", SM_JSON_NUMBER, 0 },
    { "dryRun", SM_JSON_BOOL, 0 },
    { NULL, 0, 0 }
};

_Static_assert(sm_nelts(sm_job_replay_fields) == SM_JOB_KEYS + 1
               && sm_nelts(sm_job_cancel_fields) == SM_JOB_KEYS - 1,
               "a row for each key");


enum {
    SM_JOB_BY_TARGET = 0,
    SM_JOB_BY_STATUS,
    SM_JOB_BY_REASON,
    SM_JOB_BY_FROM,
    SM_JOB_BY_TO,
    SM_JOB_BY_PREFIX,
    SM_JOB_BYS
};

static const sm_json_field_t  sm_job_filter_fields[] = {
    { "target", SM_JSON_STRING, 0 },
    { "status", SM_JSON_STRING, 0 },
    { "reason", SM_JSON_STRING, 0 },
    { "from", SM_JSON_STRING, 0 },
    { "to", SM_JSON_STRING, 0 },
    { "idPrefix", SM_JSON_STRING, 0 },
    { NULL, 0, 0 }
};

_Static_assert(sm_nelts(sm_job_filter_fields) == SM_JOB_BYS + 1,
               "a row for each key of a filter");


static int
sm_job_no_memory(sm_json_error_t *err)
{
    err->key = NULL;
    err->no_memory = 1;
    err->message[0] = '\0';

    return -1;
}


/* Checks the rules of each kind of jobs, before those of any list. */

static int
sm_job_check_kind(sm_job_kind_e kind, const sm_list_row_t *row,
    sm_json_error_t *err)
{
    if (kind == SM_JOB_REPLAY) {

        if (row->status == SM_STATUS_PENDING) {
            return sm_json_fault(err, "status", "must not be \"pending\": what "
                                 "has not ended cannot be replayed");
        }

        if (row->status == SM_STATUS_NONE && row->reason.data == NULL
            && row->prefix.data == NULL)
        {
            return sm_json_fault(err, "filter", "must have \"status\", "
                                 "\"reason\" or \"idPrefix\": what was "
                                 "accepted would be replayed, too");
        }

        return 0;
    }

    if (row->status != SM_STATUS_NONE && row->status != SM_STATUS_PENDING) {
        return sm_json_fault(err, "status", "must be \"pending\", or not be "
                             "there: what has ended cannot be canceled");
    }

    if (row->reason.data) {
        return sm_json_fault(err, "reason", "cannot be that of a pending "
                             "intent: what has ended cannot be canceled");
    }

    return 0;
}


static int
sm_job_check(sm_job_kind_e kind, sm_list_row_t *row, sm_json_error_t *err)
{
    const char  *why, *field;

    if (row->status == SM_STATUS_NONE && row->target.data == NULL
        && row->reason.data == NULL && row->prefix.data == NULL
        && row->from == 0 && row->to == 0)
    {
        return sm_json_fault(err, "filter", "must not be empty");
    }

    if (row->prefix.data
        && (row->status != SM_STATUS_NONE || row->target.data
            || row->reason.data || row->from || row->to))
    {
        return sm_json_fault(err, "idPrefix", "cannot be combined with other "
                             "keys: its list is in the order of ids");
    }

    if (sm_job_check_kind(kind, row, err) != 0) {
        return -1;
    }

    row->asc = 1;
    row->by = row->prefix.data ? SM_LIST_ID
              : kind == SM_JOB_REPLAY ? SM_LIST_COMPLETED : SM_LIST_CREATED;

    if (kind == SM_JOB_CANCEL && row->prefix.data == NULL) {
        row->status = SM_STATUS_PENDING;
    }

    why = sm_search_check(row, &field);

    if (why == NULL) {
        return 0;
    }

    err->key = field;
    err->no_memory = 0;

    (void) snprintf(err->message, sizeof(err->message), "%s", why);

    return -1;
}


static int
sm_job_filter_time(const sm_json_value_t *v, unsigned key, int64_t *at,
    sm_json_error_t *err)
{
    const char  *fault;

    if (v[key].type == 0) {
        return 0;
    }

    fault = sm_time_parse(v[key].text, at);

    return fault ? sm_json_fault(err, sm_job_filter_fields[key].name, fault)
                 : 0;
}


static int
sm_job_filter(sm_arena_t *arena, sm_job_kind_e kind, sm_str_t doc,
    sm_list_row_t *row, sm_json_error_t *err)
{
    char            *buf;
    const char      *fault;
    sm_json_value_t  v[SM_JOB_BYS];

    memset(row, 0, sizeof(sm_list_row_t));

    if (sm_json_object(arena, doc, sm_job_filter_fields, v, err) != 0) {
        return -1;
    }

    if (v[SM_JOB_BY_TARGET].type) {
        row->target = v[SM_JOB_BY_TARGET].text;
        fault = sm_target_check(row->target);

        if (fault) {
            return sm_json_fault(err, "target", "must be the name of a target");
        }
    }

    if (v[SM_JOB_BY_STATUS].type) {
        row->status = sm_status_by_name(v[SM_JOB_BY_STATUS].text);

        if (row->status == SM_STATUS_NONE) {
            return sm_json_fault(err, "status", "must be \"pending\", "
                                 "\"accepted\", \"rejected\", \"exhausted\" or "
                                 "\"canceled\"");
        }
    }

    if (v[SM_JOB_BY_REASON].type) {
        row->reason = v[SM_JOB_BY_REASON].text;

        if (sm_id_text_check(row->reason)) {
            return sm_json_fault(err, "reason", "must be that of a rejection "
                                 "or of an exhaustion");
        }
    }

    if (sm_job_filter_time(v, SM_JOB_BY_FROM, &row->from, err) != 0
        || sm_job_filter_time(v, SM_JOB_BY_TO, &row->to, err) != 0)
    {
        return -1;
    }

    if (v[SM_JOB_BY_PREFIX].type) {
        buf = sm_arena_alloc(arena,
                             SM_SEARCH_PREFIX(v[SM_JOB_BY_PREFIX].text.len));
        if (buf == NULL) {
            return sm_job_no_memory(err);
        }

        fault = sm_search_prefix(row, v[SM_JOB_BY_PREFIX].text, buf);

        if (fault) {
            return sm_json_fault(err, "idPrefix", fault);
        }
    }

    return sm_job_check(kind, row, err);
}


static void
sm_job_doc_str(sm_out_t *out, const char **comma, const char *key, sm_str_t s)
{
    if (s.data == NULL) {
        return;
    }

    sm_out_c(out, *comma);
    sm_out_c(out, "\"");
    sm_out_c(out, key);
    sm_out_c(out, "\":");
    sm_json_out_str(out, s);

    *comma = ",";
}


static void
sm_job_doc_time(sm_out_t *out, const char **comma, const char *key, int64_t at)
{
    if (at == 0) {
        return;
    }

    sm_out_c(out, *comma);
    sm_out_c(out, "\"");
    sm_out_c(out, key);
    sm_out_c(out, "\":");
    sm_json_out_time(out, at);

    *comma = ",";
}


static int
sm_job_doc(sm_arena_t *arena, const sm_list_row_t *row,
    const sm_job_terms_t *terms, sm_str_t *doc)
{
    sm_out_t     out;
    const char  *comma;

    sm_out_init_arena(&out, arena);

    comma = "";

    sm_out_c(&out, "{\"filter\":{");
    sm_job_doc_str(&out, &comma, "target", row->target);
    sm_job_doc_str(&out, &comma, "status", sm_status_name(row->status));
    sm_job_doc_str(&out, &comma, "reason", row->reason);
    sm_job_doc_time(&out, &comma, "from", row->from);
    sm_job_doc_time(&out, &comma, "to", row->to);
    sm_job_doc_str(&out, &comma, "idPrefix", row->prefix);
    sm_out_c(&out, terms->original ? "},\"contract\":\"original\"" : "}");
    sm_out_c(&out, terms->again ? ",\"again\":true}" : "}");

    return sm_out_done(&out, doc);
}


static int
sm_job_request_rest(const sm_json_value_t *v, sm_job_request_t *req,
    sm_job_terms_t *terms, sm_json_error_t *err)
{
    const char  *fault;

    static const sm_str_t  contract = sm_str("original");

    if (v[SM_JOB_KEY_ID].type) {
        req->id = sm_trim(v[SM_JOB_KEY_ID].text);
        fault = sm_job_id_check(req->id);

        if (fault) {
            return sm_json_fault(err, "id", fault);
        }
    }

    if (v[SM_JOB_KEY_LIMIT].type
        && (sm_parse_uint(v[SM_JOB_KEY_LIMIT].raw, SM_JOB_LIMIT_MAX,
                          &req->limit)
            != 0
            || req->limit == 0))
    {
        return sm_json_fault(err, "limit", "must be a whole number between 1 "
                             "and 1000000000");
    }

    req->dry_run = sm_json_is_true(&v[SM_JOB_KEY_DRY_RUN]);

    memset(terms, 0, sizeof(sm_job_terms_t));

    if (req->kind == SM_JOB_CANCEL) {
        return 0;
    }

    terms->original = v[SM_JOB_KEY_CONTRACT].type != 0;
    terms->again = sm_json_is_true(&v[SM_JOB_KEY_AGAIN]);

    if (terms->original && !sm_str_eq(v[SM_JOB_KEY_CONTRACT].text, contract)) {
        return sm_json_fault(err, "contract", "must be \"original\", or not be "
                             "there");
    }

    return 0;
}


int
sm_job_request_parse(sm_arena_t *arena, sm_str_t body, sm_job_request_t *req,
    sm_json_error_t *err)
{
    sm_list_row_t    row;
    sm_job_kind_e    kind;
    sm_job_terms_t   terms;
    sm_json_value_t  v[SM_JOB_KEYS];

    kind = req->kind;

    memset(req, 0, sizeof(sm_job_request_t));

    req->kind = kind;

    if (sm_json_object(arena, body, kind == SM_JOB_REPLAY
                                    ? sm_job_replay_fields
                                    : sm_job_cancel_fields, v, err)
        != 0
        || sm_job_request_rest(v, req, &terms, err) != 0
        || sm_job_filter(arena, kind, v[SM_JOB_KEY_FILTER].raw, &row, err) != 0)
    {
        return -1;
    }

    return sm_job_doc(arena, &row, &terms, &req->doc) == 0
           ? 0 : sm_job_no_memory(err);
}


int
sm_job_list(sm_arena_t *arena, sm_job_kind_e kind, sm_str_t doc,
    sm_list_row_t *row, sm_job_terms_t *terms, sm_json_error_t *err)
{
    sm_json_value_t  v[SM_JOB_DOC_KEYS];

    if (sm_json_object(arena, doc, sm_job_doc_fields, v, err) != 0) {
        return -1;
    }

    terms->original = v[SM_JOB_DOC_CONTRACT].type != 0;
    terms->again = sm_json_is_true(&v[SM_JOB_DOC_AGAIN]);

    return sm_job_filter(arena, kind, v[SM_JOB_DOC_FILTER].raw, row, err);
}
