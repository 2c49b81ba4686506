
/*
 * Jobs without a store: what a request may ask for, what is stored of it, and
 * which intents are the job's.  Broken by: a filter that the search would refuse,
 * or that would replay what was accepted; a document that differs for the same
 * request; a list without an end; a place that is read otherwise than it was
 * written; a job that takes what it has made.
 */

#include "sm_job.h"
#include "tap.h"


static sm_arena_t  arena;


static int
parse(sm_job_kind_e kind, const char *body, sm_job_request_t *req,
    sm_json_error_t *err)
{
    memset(req, 0xff, sizeof(sm_job_request_t));
    memset(err, 0, sizeof(sm_json_error_t));

    req->kind = kind;

    return sm_job_request_parse(&arena, sm_str_c(body), req, err);
}


static void
test_refused(void)
{
    size_t            i;
    sm_json_error_t   err;
    sm_job_request_t  req;

    static const struct {
        sm_job_kind_e  kind;
        const char    *body;
        const char    *key;
    } t[] = {
        { SM_JOB_REPLAY, "{\"filter\":{}}", "filter" },
        { SM_JOB_CANCEL, "{\"filter\":{}}", "filter" },
        { SM_JOB_REPLAY, "{}", "filter" },
        { SM_JOB_REPLAY, "{\"filter\":{\"target\":\"t\"}}", "filter" },
        { SM_JOB_REPLAY, "{\"filter\":{\"from\":\"2026-01-01T00:00:00Z\"}}",
          "filter" },
        { SM_JOB_REPLAY, "{\"filter\":{\"status\":\"pending\"}}", "status" },
        { SM_JOB_REPLAY, "{\"filter\":{\"status\":\"x\"}}", "status" },
        { SM_JOB_REPLAY, "{\"filter\":{\"status\":\"canceled\","
          "\"reason\":\"x\"}}", "reason" },
        { SM_JOB_CANCEL, "{\"filter\":{\"status\":\"canceled\"}}", "status" },
        { SM_JOB_CANCEL, "{\"filter\":{\"reason\":\"x\"}}", "reason" },
        { SM_JOB_REPLAY, "{\"filter\":{\"reason\":\"\"}}", "reason" },
        { SM_JOB_CANCEL, "{\"filter\":{\"target\":\"\"}}", "target" },
        { SM_JOB_CANCEL, "{\"filter\":{\"from\":\"now\"}}", "from" },
        { SM_JOB_CANCEL, "{\"filter\":{\"to\":\"now\"}}", "to" },
        { SM_JOB_CANCEL, "{\"filter\":{\"from\":\"2026-01-02T00:00:00Z\","
          "\"to\":\"2026-01-01T00:00:00Z\"}}", "to" },
        { SM_JOB_CANCEL, "{\"filter\":{\"idPrefix\":\"\"}}", "idPrefix" },
        { SM_JOB_CANCEL, "{\"filter\":{\"idPrefix\":\"a\",\"target\":\"t\"}}",
          "idPrefix" },
        { SM_JOB_REPLAY, "{\"filter\":{\"idPrefix\":\"a\"},\"limit\":0}",
          "limit" },
        { SM_JOB_REPLAY, "{\"filter\":{\"idPrefix\":\"a\"},\"limit\":-1}",
          "limit" },
        { SM_JOB_REPLAY, "{\"filter\":{\"idPrefix\":\"a\"},"
          "\"limit\":1000000001}", "limit" },
        { SM_JOB_REPLAY, "{\"filter\":{\"idPrefix\":\"a\"},\"id\":\" \"}",
          "id" },
        { SM_JOB_REPLAY, "{\"filter\":{\"idPrefix\":\"a\"},\"id\":\"007\"}",
          "id" },
        { SM_JOB_REPLAY, "{\"filter\":{\"idPrefix\":\"a\"},"
          "\"contract\":\"new\"}", "contract" },
        { SM_JOB_REPLAY, "{\"filter\":{\"idPrefix\":\"a\"},"
          "\"dryRun\":1}", "dryRun" },
        { SM_JOB_CANCEL, "{\"filter\":{\"idPrefix\":\"a\"},"
          "\"contract\":\"original\"}", "contract" },
        { SM_JOB_CANCEL, "{\"filter\":{\"status\":\"pending\"},"
          "\"again\":true}", "again" },
        { SM_JOB_REPLAY, "{\"filter\":{\"status\":\"rejected\"},"
          "\"again\":1}", "again" },
        { SM_JOB_CANCEL, "{\"filter\":{\"by\":\"created\"}}", "by" }
    };

    for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        is_int(parse(t[i].kind, t[i].body, &req, &err), -1, "%s is refused",
               t[i].body);
        is_str(err.key, t[i].key, "for its: %s", err.message);
        is_int(err.no_memory, 0, "which is no lack of memory");
    }
}


static void
is_doc(sm_job_kind_e kind, const char *body, const char *doc)
{
    int               rc;
    sm_json_error_t   err;
    sm_job_request_t  req;

    rc = parse(kind, body, &req, &err);
    is_int(rc, 0, "%s: %s", body, err.message);

    if (rc == 0) {
        is_mem(req.doc.data, req.doc.len, doc, strlen(doc), "its document");
    }
}


static void
test_doc(void)
{
    sm_json_error_t   err;
    sm_job_request_t  req;

    is_doc(SM_JOB_REPLAY, "{\"filter\":{\"reason\":\"a\\\"b\",\"target\":"
           "\"t\"}}", "{\"filter\":{\"target\":\"t\",\"reason\":\"a\\\"b\"}}");
    is_doc(SM_JOB_REPLAY, "{\"again\":true,\"contract\":\"original\","
           "\"filter\":{\"status\":\"exhausted\"}}",
           "{\"filter\":{\"status\":\"exhausted\"},"
           "\"contract\":\"original\",\"again\":true}");
    is_doc(SM_JOB_REPLAY, "{\"again\":false,\"filter\":{\"status\":"
           "\"exhausted\"}}", "{\"filter\":{\"status\":\"exhausted\"}}");
    is_doc(SM_JOB_REPLAY, "{\"contract\":\"original\",\"filter\":{\"status\":"
           "\"rejected\",\"to\":\"2026-02-02T13:00:00+01:00\"}}",
           "{\"filter\":{\"status\":\"rejected\",\"to\":"
           "\"2026-02-02T12:00:00.000000Z\"},\"contract\":\"original\"}");
    is_doc(SM_JOB_CANCEL, "{\"filter\":{\"target\":\"t\"}}",
           "{\"filter\":{\"target\":\"t\",\"status\":\"pending\"}}");
    is_doc(SM_JOB_CANCEL, "{\"filter\":{\"idPrefix\":\"a\"}}",
           "{\"filter\":{\"idPrefix\":\"a\"}}");

    is_int(parse(SM_JOB_CANCEL, "{\"id\":\" x \",\"limit\":7,\"dryRun\":true,"
                 "\"filter\":{\"target\":\"t\"}}", &req, &err), 0, "the rest");
    ok(sm_str_eq(req.id, sm_str_c("x")), "an id without spaces");
    is_int(req.limit, 7, "a limit");
    is_int(req.dry_run, 1, "a dry run");

    is_int(parse(SM_JOB_CANCEL, "{\"dryRun\":false,\"filter\":"
                 "{\"target\":\"t\"}}", &req, &err), 0, "without it");
    ok(req.id.data == NULL && req.limit == 0 && !req.dry_run, "there is none");
}


static void
test_list(void)
{
    sm_job_t         job;
    sm_str_t         position;
    sm_list_row_t    row;
    sm_job_terms_t   terms;
    sm_json_error_t  err;

    memset(&job, 0, sizeof(job));
    job.created_at = 1000;

    is_int(sm_job_list(&arena, SM_JOB_REPLAY, sm_str_c("{\"filter\":"
                       "{\"status\":\"rejected\"},\"contract\":\"original\"}"),
                       &row, &terms, &err), 0, "a list of replays");
    ok(row.by == SM_LIST_COMPLETED && row.asc && terms.original
       && !terms.again
       && row.status == SM_STATUS_REJECTED, "by the end, oldest first");

    is_int(sm_job_list(&arena, SM_JOB_REPLAY, sm_str_c("{\"filter\":"
                       "{\"status\":\"rejected\"},\"again\":true}"),
                       &row, &terms, &err), 0, "once more");
    ok(terms.again && !terms.original, "and nothing else");

    is_int(sm_job_resume(&job, &row), 0, "from the beginning");
    ok(row.after_id.data == NULL && row.to == 1001, "to the job's own time");

    is_int(sm_job_position(&arena, &row, 900, sm_str_c("a b"), &position), 0,
           "a place");
    job.position = position;
    is_int(sm_job_resume(&job, &row), 0, "is one");
    ok(row.after_at == 900 && sm_str_eq(row.after_id, sm_str_c("a b")),
       "to go on from");

    job.position = sm_str_c("x");
    is_int(sm_job_resume(&job, &row), -1, "another is none");
    job.position = sm_str_c("x y");
    is_int(sm_job_resume(&job, &row), -1, "nor is this");

    is_int(sm_job_list(&arena, SM_JOB_CANCEL, sm_str_c("{\"filter\":"
                       "{\"target\":\"t\",\"to\":"
                       "\"1970-01-01T00:00:00.000500Z\"}}"), &row, &terms,
                       &err), 0, "a list of cancels");
    job.position.data = NULL;
    is_int(sm_job_resume(&job, &row), 0, "from the beginning");
    ok(row.by == SM_LIST_CREATED && row.status == SM_STATUS_PENDING
       && row.to == 500 && !terms.original, "by the beginning, to its end");

    is_int(sm_job_list(&arena, SM_JOB_CANCEL, sm_str_c("{\"filter\":"
                       "{\"idPrefix\":\"p\"}}"), &row, &terms, &err), 0,
           "a list of ids");
    is_int(sm_job_resume(&job, &row), 0, "from the beginning");
    ok(row.by == SM_LIST_ID && row.to == 0
       && row.status == SM_STATUS_NONE, "has no times");

    is_int(sm_job_list(&arena, SM_JOB_CANCEL, sm_str_c("{\"filter\":{}}"),
                       &row, &terms, &err), -1, "what is not understood");
    is_int(sm_job_list(&arena, SM_JOB_CANCEL, sm_str_c("x"), &row, &terms,
                       &err), -1, "nor that");
}


static void
test_fits(void)
{
    size_t          i;
    sm_job_t        job;
    sm_intent_t     intent;
    sm_job_terms_t  terms;

    static const struct {
        sm_job_kind_e  kind;
        sm_status_e    status;
        unsigned       in_flight, stripped;
        int64_t        created_at;
        const char    *id, *of, *target;
        sm_job_fit_e   fit;
        int64_t        replays;
        unsigned       again;
    } t[] = {
        { SM_JOB_CANCEL, SM_STATUS_PENDING, 0, 0, 5, "a", "", "t",
          SM_JOB_TAKE, 0, 0 },
        { SM_JOB_CANCEL, SM_STATUS_PENDING, 1, 0, 5, "a", "", "t",
          SM_JOB_SKIP, 0, 0 },
        { SM_JOB_CANCEL, SM_STATUS_ACCEPTED, 0, 0, 5, "a", "", "t",
          SM_JOB_PASS, 0, 0 },
        { SM_JOB_CANCEL, SM_STATUS_PENDING, 0, 0, 11, "a", "", "t",
          SM_JOB_PASS, 0, 0 },
        { SM_JOB_CANCEL, SM_STATUS_PENDING, 0, 0, 5, "a", "", "hidden t",
          SM_JOB_PASS, 0, 0 },
        { SM_JOB_REPLAY, SM_STATUS_PENDING, 0, 0, 5, "a", "", "t",
          SM_JOB_PASS, 0, 0 },
        { SM_JOB_REPLAY, SM_STATUS_REJECTED, 0, 0, 5, "a", "", "t",
          SM_JOB_TAKE, 0, 0 },
        { SM_JOB_REPLAY, SM_STATUS_REJECTED, 0, 1, 5, "a", "", "t",
          SM_JOB_SKIP, 0, 0 },
        { SM_JOB_REPLAY, SM_STATUS_REJECTED, 0, 0, 5, "a~j", "a", "t",
          SM_JOB_PASS, 0, 0 },
        { SM_JOB_REPLAY, SM_STATUS_REJECTED, 0, 0, 5, "j~0123", "a", "t",
          SM_JOB_PASS, 0, 0 },
        { SM_JOB_REPLAY, SM_STATUS_REJECTED, 0, 0, 5, "a~j", "", "t",
          SM_JOB_TAKE, 0, 0 },
        { SM_JOB_REPLAY, SM_STATUS_REJECTED, 0, 0, 5, "a~k", "a", "t",
          SM_JOB_TAKE, 0, 0 },
        { SM_JOB_REPLAY, SM_STATUS_REJECTED, 0, 0, 5, "xj", "a", "t",
          SM_JOB_TAKE, 0, 0 },
        { SM_JOB_REPLAY, SM_STATUS_REJECTED, 0, 0, 5, "a", "", "t",
          SM_JOB_BEFORE, 2, 0 },
        { SM_JOB_REPLAY, SM_STATUS_REJECTED, 0, 0, 5, "a", "", "t",
          SM_JOB_TAKE, 2, 1 },
        { SM_JOB_REPLAY, SM_STATUS_REJECTED, 0, 1, 5, "a", "", "t",
          SM_JOB_SKIP, 2, 0 }
    };

    for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        memset(&job, 0, sizeof(job));
        memset(&intent, 0, sizeof(intent));

        job.kind = t[i].kind;
        job.id = sm_str_c("j");
        job.created_at = 10;

        intent.status = t[i].status;
        intent.in_flight = t[i].in_flight;
        intent.stripped = t[i].stripped;
        intent.created_at = t[i].created_at;
        intent.id = sm_str_c(t[i].id);
        intent.replay_of = sm_str_c(t[i].of);
        intent.target = sm_str_c(t[i].target);
        intent.replay_count = t[i].replays;

        terms.original = 0;
        terms.again = t[i].again;

        is_int(sm_job_fits(&job, &terms, &intent), t[i].fit, "row %zu", i);
    }
}


static void
test_new_id(void)
{
    char      id[201], expected[64];
    sm_str_t  new_id;

    static const char  hash[] = "0123456789abcdef0123456789abcdef";

    is_int(sm_job_new_id(&arena, sm_str_c("a"), sm_str_c("j"), hash, &new_id),
           0, "an id");
    ok(sm_str_eq(new_id, sm_str_c("a~j")), "of both");

    memset(id, 'x', 200);
    id[200] = '\0';
    (void) snprintf(expected, sizeof(expected), "j~%s", hash);

    is_int(sm_job_new_id(&arena, sm_str_c(id), sm_str_c("j"), hash, &new_id),
           0, "an id that is too long");
    ok(sm_str_eq(new_id, sm_str_c(expected)), "is a hash");

    id[198] = '\0';
    is_int(sm_job_new_id(&arena, sm_str_c(id), sm_str_c("j"), hash, &new_id),
           0, "one that is not");
    is_int(new_id.len, 200, "is as long as can be");
}


static void
test_out(void)
{
    char      buf[2048];
    sm_job_t  job;
    sm_out_t  out;

    static const char  expected[] =
        "{\"id\":\"j\",\"kind\":\"cancel\",\"state\":\"failed\","
        "\"filter\":{\"idPrefix\":\"p\"},\"limit\":3,\"matched\":3,"
        "\"done\":2,\"skipped\":1,\"lastError\":\"why\","
        "\"createdAt\":\"1970-01-01T00:00:00.000001Z\","
        "\"updatedAt\":\"1970-01-01T00:00:00.000002Z\","
        "\"completedAt\":\"1970-01-01T00:00:00.000003Z\",\"actor\":\"ann\"}";

    memset(&job, 0, sizeof(job));

    job.kind = SM_JOB_CANCEL;
    job.id = sm_str_c("j");
    job.doc = sm_str_c("{\"filter\":{\"idPrefix\":\"p\"}}");
    job.limit = 3;
    job.state = SM_JOB_FAILED;
    job.done = 2;
    job.skipped = 1;
    job.error = sm_str_c("why");
    job.actor = sm_str_c("ann");
    job.created_at = 1;
    job.modified_at = 2;
    job.completed_at = 3;

    sm_out_init(&out, buf, sizeof(buf) - 1);
    sm_job_out(&out, &job);

    is_int(out.full, 0, "it fits");
    is_mem(out.start, out.last - out.start, expected, strlen(expected),
           "a job");

    /* what is no kind that this module knows; SQL Server's = takes "replay " */

    job.kind = SM_JOB_KINDS;

    sm_out_init(&out, buf, sizeof(buf) - 1);
    sm_job_out(&out, &job);

    ok(memcmp(buf, "{\"id\":\"j\",\"kind\":\"\",", 20) == 0,
       "a kind without a name");
    is_int(sm_job_kind_name(job.kind).len, 0, "has none");

    job.kind = SM_JOB_CANCEL;
    job.doc = sm_str_c("?");

    sm_out_init(&out, buf, sizeof(buf) - 1);
    sm_job_out(&out, &job);
    *out.last = '\0';

    is_int(out.full, 0, "it fits without a document");
    ok(strstr(buf, "\"filter\":{},") != NULL, "which is empty then");
}


int
main(void)
{
    test_refused();
    test_doc();
    test_list();
    test_fits();
    test_new_id();
    test_out();

    sm_arena_free(&arena);

    return done_testing();
}
