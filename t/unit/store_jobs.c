
/*
 * Jobs on every store: which intents a batch takes, what becomes of them, and
 * how far the job is then.  Broken by: a batch that is not fenced, or that is
 * written without the job's place, or the place without it; a job that meets
 * what it has made, or what came after it; a cancel of what is in flight; an
 * intent that is replayed twice or left out; a job that goes on after it was
 * stopped; a row that the store refuses and that stops the rest; a change
 * without its entry in the audit.
 */

#include <unistd.h>

#include "store.h"


static const sm_fence_t  a1 = { sm_str("a"), 1 };
static const sm_fence_t  b1 = { sm_str("b"), 1 };

static const sm_actor_t  ann = { sm_str("ann"), sm_str("192.0.2.7") };


static void
open_leader(fixture_t *f)
{
    fixture_open(f);
    lead(f, "a", 3600000, 1);
}


/* intents <name>1 to <name>n, which have ended so if "status" is given */

static void
put(fixture_t *f, const char *name, int n, const sm_contract_t *contract,
    const char *status)
{
    int   i;
    char  id[256];

    for (i = 1; i <= n; i++) {
        (void) snprintf(id, sizeof(id), "%s%d", name, i);

        must(outcome(f, id, contract, id) == SM_SUBMIT_CREATED);

        if (status) {
            sql(f, "UPDATE submission_intents SET status = '%s', "
                "completed_at = created_at, next_attempt_at = NULL, "
                "exhausted_reason = 'one_shot' WHERE intent_id = '%s'",
                status, id);
        }
    }
}


static void
request(sm_job_row_t *row, sm_job_kind_e kind, const char *body)
{
    static sm_arena_t  arena;
    sm_json_error_t    err;

    sm_arena_free(&arena);
    memset(&arena, 0, sizeof(arena));

    memset(row, 0, sizeof(sm_job_row_t));

    row->request.kind = kind;
    row->actor = ann;

    if (sm_job_request_parse(&arena, sm_str_c(body), &row->request, &err)
        != 0)
    {
        printf("Bail out! %s: %s\n", body, err.message);
        exit(1);
    }
}


static int
add(fixture_t *f, sm_job_kind_e kind, const char *body)
{
    sm_job_row_t  row;

    request(&row, kind, body);

    return sm_store_jobs_add(&f->store, new_call(f), &row, 1) == 0
           ? (int) row.outcome : -1;
}


static const sm_contract_t *
contract(void *data, sm_str_t target)
{
    static const sm_contract_t  *all[] = { &sms, &push };

    size_t  i;

    for (i = 0; i < 2; i++) {
        if (data == NULL && sm_str_eq(target, all[i]->target)) {
            return all[i];
        }
    }

    return NULL;
}


static int
work(fixture_t *f, const sm_fence_t *fence, size_t limit, sm_job_work_t *w)
{
    memset(w, 0, sizeof(sm_job_work_t));

    w->limit = limit;
    w->contract = contract;

    return sm_store_job_work(&f->store, new_call(f), fence, w);
}


/* all batches of all jobs; how many there were */

static int
finish(fixture_t *f, size_t limit)
{
    int            n;
    sm_job_work_t  w;

    for (n = 0; n < 100; n++) {
        if (work(f, &a1, limit, &w) != 0) {
            printf("Bail out! %s\n", f->call.error);
            exit(1);
        }

        if (w.job.id.data == NULL) {
            return n;
        }
    }

    printf("Bail out! the jobs do not end\n");
    exit(1);
}


static const char *
job(fixture_t *f, const char *id)
{
    return sql_text(f, "SELECT state || ' ' || done_count || ' ' || "
                    "skipped_count || ' ' || coalesce(last_error, '-') "
                    "FROM submission_jobs WHERE job_id = '%s'", id);
}


/* "a~j of a, ...": the replays */

static const char *
replays(fixture_t *f)
{
    const char  *text;

    text = sql_text(f, "SELECT group_concat(t, ', ') FROM (SELECT intent_id || "
                    "' of ' || replay_of AS t FROM submission_intents "
                    "WHERE replay_of IS NOT NULL ORDER BY intent_id) AS a");

    return text ? text : "";
}


static const char *
count(fixture_t *f, const char *status)
{
    return sql_text(f, "SELECT count(*) || '' FROM submission_intents "
                    "WHERE status = '%s'", status);
}


static void
test_replay(void)
{
    fixture_t      f;
    sm_job_work_t  w;

    open_leader(&f);

    put(&f, "a", 5, &sms, "exhausted");
    put(&f, "b", 2, &push, "exhausted");
    put(&f, "c", 2, &sms, "rejected");
    put(&f, "d", 2, &sms, "accepted");
    put(&f, "e", 2, &sms, NULL);

    sql(&f, "UPDATE submission_intents SET traceparent = 't', "
        "tracestate = 's' WHERE intent_id = 'a3'");

    is_int(add(&f, SM_JOB_REPLAY, "{\"id\":\"j\",\"filter\":"
               "{\"status\":\"exhausted\",\"target\":\"sms\"}}"),
           SM_JOB_CREATED, "a job");

    is_int(work(&f, &b1, 2, &w), -1, "somebody else's fence");
    is_str(job(&f, "j"), "running 0 0 -", "it is where it was");

    is_int(work(&f, &a1, 2, &w), 0, "a batch");
    is_int(w.done, 2, "of two");
    is_int(w.state, SM_JOB_RUNNING, "and not the last");
    is_str(job(&f, "j"), "running 2 0 -", "its progress is stored");
    is_str(replays(&f), "a1~j of a1, a2~j of a2", "those");

    is_int(finish(&f, 2), 2, "two more");
    is_str(job(&f, "j"), "done 5 0 -", "all of them");
    is_str(replays(&f), "a1~j of a1, a2~j of a2, a3~j of a3, a4~j of a4, "
           "a5~j of a5", "each once, and no others");
    is_str(sql_text(&f, "SELECT group_concat(t, ' ') FROM (SELECT DISTINCT "
                    "submission_target || ' ' || status AS t FROM "
                    "submission_intents WHERE replay_of IS NOT NULL) AS a"),
           "sms pending", "they are pending");
    is_str(sql_text(&f, "SELECT count(*) || '' FROM submission_intents AS n "
                    "JOIN submission_intents AS o ON o.intent_id = n.replay_of "
                    "AND o.payload = n.payload "
                    "AND o.payload_hash = n.payload_hash"),
           "5", "with the bytes of the old");
    is_str(sql_text(&f, "SELECT group_concat(t, ' ') FROM (SELECT intent_id || "
                    "' ' || traceparent || tracestate AS t FROM "
                    "submission_intents WHERE replay_of IS NOT NULL AND "
                    "traceparent IS NOT NULL) AS a"),
           "a3~j ts", "and its trace");

    is_str(sql_text(&f, "SELECT group_concat(t, ', ') FROM (SELECT actor || "
                    "' ' || action || ' ' || object || ' ' || detail AS t "
                    "FROM submission_audit) AS a"),
           "ann replay_job j {\"filter\":{\"target\":\"sms\","
           "\"status\":\"exhausted\"}}", "one entry in the audit");

    is_int(finish(&f, 2), 0, "there is nothing to do any more");

    fixture_done(&f);
}


/* a batch copies 4 MB of payloads, however many intents it may have */

static void
test_bound(void)
{
    size_t            i;
    char             *bytes;
    fixture_t         f;
    sm_job_work_t     w;
    sm_submit_row_t   r;

    static const char  *ids[] = { "a1", "a2", "a3", "a4", "a5" };

    open_leader(&f);

    bytes = malloc(1500000);
    must(bytes != NULL);
    memset(bytes, '7', 1500000);

    for (i = 0; i < 5; i++) {
        row_bytes(&r, ids[i], &sms, bytes, 1500000);
        must(submit(&f, &r, 1) == 0 && r.outcome == SM_SUBMIT_CREATED);
    }

    free(bytes);
    sql(&f, "UPDATE submission_intents SET status = 'exhausted', completed_at = "
        "created_at, next_attempt_at = NULL, exhausted_reason = 'one_shot'");

    is_int(add(&f, SM_JOB_REPLAY, "{\"id\":\"j\",\"filter\":"
               "{\"status\":\"exhausted\",\"target\":\"sms\"}}"),
           SM_JOB_CREATED, "a job");

    is_int(work(&f, &a1, 1000, &w), 0, "a batch");
    is_int(w.done, 2, "of two, since the payloads are large");
    is_int(w.state, SM_JOB_RUNNING, "and not the last");
    is_int(finish(&f, 1000), 2, "two more");
    is_str(job(&f, "j"), "done 5 0 -", "all of them");
    is_str(replays(&f), "a1~j of a1, a2~j of a2, a3~j of a3, a4~j of a4, "
           "a5~j of a5", "each once");

    fixture_done(&f);
}



/* what it has made ends so, too, before the job is over */

static void
test_own(void)
{
    fixture_t      f;
    sm_job_work_t  w;

    open_leader(&f);

    put(&f, "a", 4, &sms, "exhausted");

    must(add(&f, SM_JOB_REPLAY, "{\"id\":\"t\",\"again\":true,\"filter\":"
             "{\"reason\":\"one_shot\"}}") == SM_JOB_CREATED);
    must(add(&f, SM_JOB_REPLAY, "{\"id\":\"p\",\"again\":true,\"filter\":"
             "{\"idPrefix\":\"a\"}}") == SM_JOB_CREATED);

    must(work(&f, &a1, 2, &w) == 0 && w.done > 0);
    must(work(&f, &a1, 2, &w) == 0 && w.done > 0);

    sql(&f, "UPDATE submission_intents SET status = 'exhausted', "
        "completed_at = created_at, next_attempt_at = NULL, "
        "exhausted_reason = 'one_shot' WHERE replay_of IS NOT NULL");

    /* the clock was set back: nothing but its id tells */

    sql(&f, "UPDATE submission_intents SET created_at = (SELECT "
        "min(o.created_at) FROM submission_intents AS o), completed_at = "
        "(SELECT max(o.created_at) FROM submission_intents AS o "
        "WHERE o.replay_of IS NULL) WHERE replay_of IS NOT NULL");

    must(finish(&f, 2) > 0);

    is_str(sql_text(&f, "SELECT count(*) || '' FROM submission_intents "
                    "WHERE intent_id LIKE '%%~t~t' OR intent_id LIKE '%%~p~p'"),
           "0", "no job replays what it has made");
    is_str(sql_text(&f, "SELECT count(*) || '' FROM submission_intents "
                    "WHERE replay_of IN ('a1', 'a2', 'a3', 'a4')"),
           "8", "both replay what was there");

    fixture_done(&f);
}


static void
test_skips(void)
{
    fixture_t  f;
    char       id[256];

    open_leader(&f);

    put(&f, "a", 5, &sms, "rejected");
    put(&f, "a1~j", 1, &sms, NULL);             /* no such id, a1~j1 */

    sql(&f, "UPDATE submission_intents SET stripped_at = created_at, "
        "payload = %s WHERE intent_id = 'a2'", on_sqlite() ? "''" : "''");
    sql(&f, "UPDATE submission_intents SET submission_target = 'gone' "
        "WHERE intent_id = 'a3'");
    must(outcome(&f, "a4~j", &sms, "x") == SM_SUBMIT_CREATED);

    memset(id, 'x', 199);
    id[199] = '\0';
    put(&f, id, 1, &sms, "rejected");           /* of 200 characters */

    must(add(&f, SM_JOB_REPLAY, "{\"id\":\"j\",\"filter\":"
             "{\"status\":\"rejected\"}}") == SM_JOB_CREATED);
    must(finish(&f, 100) > 0);

    is_str(job(&f, "j"), "done 3 3 -", "no payload, no target, no id");
    is_str(sql_text(&f, "SELECT count(*) || '' FROM submission_intents "
                    "WHERE intent_id LIKE 'j~%%' AND replay_of LIKE 'xxx%%'"),
           "1", "a long id gives a hash");

    must(add(&f, SM_JOB_REPLAY, "{\"id\":\"o\",\"contract\":\"original\","
             "\"filter\":{\"status\":\"rejected\"}}") == SM_JOB_CREATED);
    must(finish(&f, 100) > 0);

    is_str(job(&f, "o"), "done 2 4 -", "with its own contract, without a "
           "target, and not what was replayed");
    is_str(sql_text(&f, "SELECT submission_target || ' ' || gateway_url FROM "
                    "submission_intents WHERE intent_id = 'a3~o'"),
           sql_text(&f, "SELECT submission_target || ' ' || gateway_url FROM "
                    "submission_intents WHERE intent_id = 'a3'"),
           "as it was");

    fixture_done(&f);
}


/* what the store skips when a batch is written does not count for the limit */

static void
test_limit(void)
{
    fixture_t  f;

    open_leader(&f);

    put(&f, "a", 5, &sms, "rejected");
    must(outcome(&f, "a2~j", &sms, "x") == SM_SUBMIT_CREATED);
    must(outcome(&f, "a3~j", &sms, "x") == SM_SUBMIT_CREATED);

    must(add(&f, SM_JOB_REPLAY, "{\"id\":\"j\",\"limit\":3,\"filter\":"
             "{\"status\":\"rejected\"}}") == SM_JOB_CREATED);
    must(finish(&f, 100) > 0);

    is_str(job(&f, "j"), "done 3 2 -", "three are replayed");
    is_str(replays(&f), "a1~j of a1, a4~j of a4, a5~j of a5", "these");

    fixture_done(&f);
}


/* G9: what was replayed is replayed again only on purpose */

static void
test_again(void)
{
    fixture_t       f;
    sm_job_row_t    row;
    sm_job_item_t   items[2];
    sm_job_batch_t  batch;

    open_leader(&f);

    put(&f, "a", 6, &sms, "rejected");

    must(add(&f, SM_JOB_REPLAY, "{\"id\":\"j\",\"limit\":2,\"filter\":"
             "{\"status\":\"rejected\"}}") == SM_JOB_CREATED);
    must(finish(&f, 100) > 0);
    is_str(job(&f, "j"), "done 2 0 -", "two of them");

    request(&row, SM_JOB_REPLAY, "{\"dryRun\":true,\"filter\":"
            "{\"status\":\"rejected\"}}");
    must(sm_store_job_count(&f.store, new_call(&f), &row) == 0);
    is_int(row.count, 4, "four are left");
    is_int(row.replayed, 2, "and two were replayed");
    is_mem(row.sample[0].data, row.sample[0].len, "a3", 2, "the sample");

    must(add(&f, SM_JOB_REPLAY, "{\"id\":\"k\",\"limit\":3,\"filter\":"
             "{\"status\":\"rejected\"}}") == SM_JOB_CREATED);
    must(finish(&f, 2) > 0);
    is_str(job(&f, "k"), "done 3 2 -", "what is skipped does not count");
    is_str(replays(&f), "a1~j of a1, a2~j of a2, a3~k of a3, a4~k of a4, "
           "a5~k of a5", "each once");

    request(&row, SM_JOB_REPLAY, "{\"dryRun\":true,\"again\":true,\"filter\":"
            "{\"status\":\"rejected\"}}");
    must(sm_store_job_count(&f.store, new_call(&f), &row) == 0);
    is_int(row.count, 6, "on purpose all are found");
    is_int(row.replayed, 0, "and none is skipped");

    must(add(&f, SM_JOB_REPLAY, "{\"id\":\"l\",\"again\":true,\"filter\":"
             "{\"status\":\"rejected\"}}") == SM_JOB_CREATED);
    must(finish(&f, 4) > 0);
    is_str(job(&f, "l"), "done 6 0 -", "and replayed");
    is_int(sql_int(&f, "SELECT sum(replay_count) FROM submission_intents"), 11,
           "as the first know");

    /* what was replayed after the batch was read, and before it is written */

    put(&f, "b", 2, &sms, "exhausted");
    must(add(&f, SM_JOB_REPLAY, "{\"id\":\"m\",\"filter\":"
             "{\"status\":\"exhausted\"}}") == SM_JOB_CREATED);
    sql(&f, "UPDATE submission_intents SET replay_count = 1 "
        "WHERE intent_id = 'b1'");

    memset(items, 0, sizeof(items));
    memset(&batch, 0, sizeof(batch));

    items[0].id = sm_str_c("b1");
    items[0].new_id = sm_str_c("b1~m");
    items[1].id = sm_str_c("b2");
    items[1].new_id = sm_str_c("b2~m");

    batch.kind = SM_JOB_REPLAY;
    batch.id = sm_str_c("m");
    batch.seen_after = 2;
    batch.state = SM_JOB_RUNNING;
    batch.items = items;
    batch.n = 2;

    must(sm_store_job_apply(&f.store, new_call(&f), &a1, &batch) == 0);
    is_int(batch.done, 1, "it is left out");
    is_str(job(&f, "m"), "running 1 1 -", "and counted as skipped");
    is_int(sql_int(&f, "SELECT count(*) FROM submission_intents "
                   "WHERE intent_id = 'b1~m'"), 0, "there is no other replay");

    fixture_done(&f);
}


static void
test_cancel(void)
{
    fixture_t       f;
    sm_job_work_t   w;
    sm_begin_row_t  b;

    open_leader(&f);

    put(&f, "a", 6, &sms, NULL);
    put(&f, "b", 2, &push, NULL);
    put(&f, "c", 2, &sms, "accepted");

    memset(&b, 0, sizeof(b));
    b.id = sm_str_c("a3");

    must(sm_store_attempts_begin(&f.store, new_call(&f), &a1, &b, 1) == 0);
    must(b.outcome == SM_BEGIN_BEGUN);

    is_int(add(&f, SM_JOB_CANCEL, "{\"id\":\"j\",\"filter\":"
               "{\"target\":\"sms\"}}"), SM_JOB_CREATED, "a job");

    (void) usleep(2000);                        /* a clock of milliseconds */
    put(&f, "late", 1, &sms, NULL);

    is_int(work(&f, &a1, 4, &w), 0, "a batch");
    is_int(w.done, 3, "of four, one of which is in flight");
    is_int(w.n, 3, "the others");
    is_int(w.items[0].done && w.items[1].done && w.items[2].done, 1,
           "are known as canceled");
    is_str(job(&f, "j"), "running 3 1 -", "its progress");

    must(finish(&f, 4) > 0);

    is_str(job(&f, "j"), "done 5 1 -", "all of the target");
    is_str(count(&f, "canceled"), "5", "are canceled");
    is_str(count(&f, "accepted"), "2", "what had ended is as it was");
    is_str(sql_text(&f, "SELECT status FROM submission_intents "
                    "WHERE intent_id = 'late1'"), "pending",
           "what came after the job is not its");
    is_str(sql_text(&f, "SELECT count(*) || '' FROM submission_intents WHERE "
                    "status = 'canceled' AND (next_attempt_at IS NOT NULL OR "
                    "completed_at IS NULL)"), "0", "none has an attempt to come");

    must(add(&f, SM_JOB_CANCEL, "{\"id\":\"p\",\"filter\":"
             "{\"idPrefix\":\"b\"}}") == SM_JOB_CREATED);
    must(finish(&f, 1) > 0);

    is_str(job(&f, "p"), "done 2 0 -", "by a prefix");

    fixture_done(&f);
}


/* an item that is in flight only when the batch is written */

static void
test_races(void)
{
    fixture_t       f;
    sm_job_t        j;
    sm_job_item_t   items[2];
    sm_job_batch_t  batch;
    sm_begin_row_t  b;

    open_leader(&f);

    put(&f, "a", 2, &sms, NULL);

    must(add(&f, SM_JOB_CANCEL, "{\"id\":\"j\",\"filter\":"
             "{\"status\":\"pending\"}}") == SM_JOB_CREATED);

    memset(&b, 0, sizeof(b));
    b.id = sm_str_c("a2");
    must(sm_store_attempts_begin(&f.store, new_call(&f), &a1, &b, 1) == 0);

    must(sm_store_job_next(&f.store, new_call(&f), &a1, &j) == 0);
    is_int(j.id.len, 1, "the job");

    memset(items, 0, sizeof(items));
    memset(&batch, 0, sizeof(batch));

    items[0].id = sm_str_c("a1");
    items[1].id = sm_str_c("a2");

    batch.kind = SM_JOB_CANCEL;
    batch.id = sm_str_c("j");
    batch.seen = 1;
    batch.seen_after = 3;
    batch.state = SM_JOB_RUNNING;
    batch.items = items;
    batch.n = 2;

    is_int(sm_store_job_apply(&f.store, new_call(&f), &a1, &batch), 0,
           "a batch from a place where the job is not");
    is_int(batch.applied, 0, "is not applied");
    is_str(count(&f, "canceled"), "0", "and changes nothing");

    batch.seen = 0;
    batch.seen_after = 2;

    is_int(sm_store_job_apply(&f.store, new_call(&f), &b1, &batch), -1,
           "of somebody who does not lead");
    is_str(count(&f, "canceled"), "0", "it changes nothing");

    is_int(sm_store_job_apply(&f.store, new_call(&f), &a1, &batch), 0,
           "from its place");
    is_int(batch.applied, 1, "it is applied");
    is_int(batch.done, 1, "to what is not in flight");
    is_int(items[0].done && !items[1].done, 1, "which is told");
    is_str(job(&f, "j"), "running 1 1 -", "and stored");

    is_int(sm_store_job_apply(&f.store, new_call(&f), &a1, &batch), 0,
           "again");
    is_int(batch.applied, 0, "it is not applied again");
    is_str(job(&f, "j"), "running 1 1 -", "nor counted");

    fixture_done(&f);
}


static void
test_ids(void)
{
    fixture_t      f;
    sm_job_row_t   row;
    sm_jobs_row_t  list;

    open_leader(&f);

    is_int(add(&f, SM_JOB_CANCEL, "{\"id\":\"j\",\"limit\":3,\"filter\":"
               "{\"status\":\"pending\"}}"), SM_JOB_CREATED, "a job");
    is_int(add(&f, SM_JOB_CANCEL, "{\"limit\":3,\"filter\":"
               "{\"status\":\"pending\"},\"id\":\"j\"}"), SM_JOB_SAME,
           "the same again");
    is_int(add(&f, SM_JOB_CANCEL, "{\"id\":\"j\",\"limit\":4,\"filter\":"
               "{\"status\":\"pending\"}}"), SM_JOB_CONFLICT, "another limit");
    is_int(add(&f, SM_JOB_CANCEL, "{\"id\":\"j\",\"limit\":3,\"filter\":"
               "{\"target\":\"sms\"}}"), SM_JOB_CONFLICT,
           "another filter");
    is_int(add(&f, SM_JOB_REPLAY, "{\"id\":\"j\",\"filter\":"
               "{\"status\":\"rejected\"}}"), SM_JOB_CREATED, "another kind");
    is_int(add(&f, SM_JOB_REPLAY, "{\"id\":\"k\",\"filter\":"
               "{\"status\":\"rejected\"}}"), SM_JOB_CREATED, "another id");
    is_int(add(&f, SM_JOB_REPLAY, "{\"id\":\"k\",\"contract\":\"original\","
               "\"filter\":{\"status\":\"rejected\"}}"), SM_JOB_CONFLICT,
           "another contract");

    memset(&list, 0, sizeof(list));
    list.kind = SM_JOB_REPLAY;
    list.limit = 1;

    must(sm_store_jobs_list(&f.store, new_call(&f), &list, 1) == 0);
    is_int(list.n, 1, "a page");
    is_int(list.more, 1, "and there is more");
    is_int(list.jobs[0].id.data[0], 'k', "the newest first");
    is_int(list.jobs[0].state, SM_JOB_RUNNING, "it runs");
    is_int(list.jobs[0].actor.len, 3, "somebody made it");

    list.after_at = list.jobs[0].created_at;
    list.after_id = sm_str_c("k");

    must(sm_store_jobs_list(&f.store, new_call(&f), &list, 1) == 0);
    is_int(list.n, 1, "the next page");
    is_int(list.more, 0, "is the last");
    is_int(list.jobs[0].id.data[0], 'j', "the other one");

    request(&row, SM_JOB_CANCEL, "{\"id\":\"j\",\"filter\":"
            "{\"status\":\"pending\"}}");

    must(sm_store_jobs_stop(&f.store, new_call(&f), &row, 1) == 0);
    is_int(row.outcome, SM_JOB_CREATED, "it is stopped");
    is_int(row.job.state, SM_JOB_STOPPED, "so it is");

    must(sm_store_jobs_stop(&f.store, new_call(&f), &row, 1) == 0);
    is_int(row.outcome, SM_JOB_SAME, "again");

    request(&row, SM_JOB_CANCEL, "{\"id\":\"none\",\"filter\":"
            "{\"status\":\"pending\"}}");

    must(sm_store_jobs_stop(&f.store, new_call(&f), &row, 1) == 0);
    is_int(row.outcome, SM_JOB_NOT_FOUND, "one that is not there");

    is_str(sql_text(&f, "SELECT group_concat(t, ' ') FROM (SELECT action || "
                    "':' || object AS t FROM submission_audit ORDER BY seq) "
                    "AS a"),
           "cancel_job:j replay_job:j replay_job:k cancel_job_stop:j",
           "what was changed is in the audit, once");

    fixture_done(&f);
}


static void
test_stop(void)
{
    fixture_t      f;
    sm_job_row_t   row;
    sm_job_work_t  w;

    open_leader(&f);

    put(&f, "a", 6, &sms, NULL);

    must(add(&f, SM_JOB_CANCEL, "{\"id\":\"l\",\"limit\":2,\"filter\":"
             "{\"status\":\"pending\"}}") == SM_JOB_CREATED);
    must(finish(&f, 100) > 0);
    is_str(job(&f, "l"), "done 2 0 -", "a limit");

    must(add(&f, SM_JOB_CANCEL, "{\"id\":\"j\",\"filter\":"
             "{\"status\":\"pending\"}}") == SM_JOB_CREATED);
    must(work(&f, &a1, 1, &w) == 0);

    request(&row, SM_JOB_CANCEL, "{\"id\":\"j\",\"filter\":"
            "{\"status\":\"pending\"}}");
    must(sm_store_jobs_stop(&f.store, new_call(&f), &row, 1) == 0);

    is_int(finish(&f, 100), 0, "nothing is done for a stopped job");
    is_str(job(&f, "j"), "stopped 1 0 -", "it is where it was");
    is_str(count(&f, "canceled"), "3", "and the others are as they were");

    must(add(&f, SM_JOB_CANCEL, "{\"id\":\"bad\",\"filter\":"
             "{\"status\":\"pending\"}}") == SM_JOB_CREATED);
    must(add(&f, SM_JOB_CANCEL, "{\"id\":\"good\",\"filter\":"
             "{\"status\":\"pending\"}}") == SM_JOB_CREATED);
    sql(&f, "UPDATE submission_jobs SET filter = '{\"filter\":{\"x\":1}}' "
        "WHERE job_id = 'bad'");

    must(finish(&f, 100) > 0);
    ok(strncmp(job(&f, "bad"), "failed 0 0 ", 11) == 0, "one that is not "
       "understood fails: %s", job(&f, "bad"));
    is_str(job(&f, "good"), "done 3 0 -", "and is in nobody's way");

    fixture_done(&f);
}


/* the store refuses one of them */

static void
test_poison(void)
{
    fixture_t  f;

    open_leader(&f);

    put(&f, "a", 5, &sms, "rejected");

    sql_refuse(&f, "no_a3", "BEFORE INSERT", "submission_intents",
               "new.intent_id LIKE 'a3~j'", "no a3");

    must(add(&f, SM_JOB_REPLAY, "{\"id\":\"j\",\"filter\":"
             "{\"status\":\"rejected\"}}") == SM_JOB_CREATED);
    must(finish(&f, 100) > 0);

    is_str(job(&f, "j"), "done 4 1 -", "it is skipped, and the others are not");
    is_str(replays(&f), "a1~j of a1, a2~j of a2, a4~j of a4, a5~j of a5",
           "each once");

    sql_drop_trigger(&f, "no_a3", "submission_intents");

    fixture_done(&f);
}


/*
 * The same with a limit: half of the batch is written, and of that half one is
 * skipped by the store when the limit ends it.  What comes after it is not
 * passed over.
 */

static void
test_poison_limit(void)
{
    int        i, n, taken;
    char       id[16], expected[64];
    fixture_t  f;

    for (taken = 2; taken < 8; taken++) {

        open_leader(&f);

        put(&f, "a", 9, &sms, "rejected");
        put(&f, "b", 3, &sms, "rejected");
        (void) snprintf(id, sizeof(id), "a%d~j", taken);
        must(outcome(&f, id, &sms, "x") == SM_SUBMIT_CREATED);

        sql_refuse(&f, "no_a1", "BEFORE INSERT", "submission_intents",
                   "new.intent_id LIKE 'a1~j'", "no a1");

        must(add(&f, SM_JOB_REPLAY, "{\"id\":\"j\",\"limit\":4,\"filter\":"
                 "{\"status\":\"rejected\"}}") == SM_JOB_CREATED);
        must(finish(&f, 12) > 0);

        for (i = 2, n = 0; n < 4; i++) {
            if (i != taken) {
                (void) snprintf(expected + 3 * n++, 8, "a%d ", i % 10);
            }
        }

        expected[3 * n - 1] = '\0';

        is_str(sql_text(&f, "SELECT group_concat(t, ' ') FROM (SELECT replay_of "
                        "AS t FROM submission_intents WHERE replay_of IS NOT "
                        "NULL ORDER BY replay_of) AS a"),
               expected, "a%d is skipped, and nothing after it", taken);

        sql_drop_trigger(&f, "no_a1", "submission_intents");
        fixture_done(&f);
    }
}


static void
test_count(void)
{
    fixture_t     f;
    sm_job_row_t  row;

    open_leader(&f);

    put(&f, "a", 12, &sms, "rejected");
    put(&f, "b", 3, &sms, NULL);

    request(&row, SM_JOB_REPLAY, "{\"dryRun\":true,\"filter\":"
            "{\"status\":\"rejected\"}}");
    must(sm_store_job_count(&f.store, new_call(&f), &row) == 0);
    is_int(row.count, 12, "all are counted");
    is_int(row.nsample, SM_JOB_SAMPLE, "and some are shown");
    is_int(row.bounded, 0, "there are no more");

    request(&row, SM_JOB_REPLAY, "{\"dryRun\":true,\"limit\":5,\"filter\":"
            "{\"status\":\"rejected\"}}");
    must(sm_store_job_count(&f.store, new_call(&f), &row) == 0);
    is_int(row.count, 5, "up to a limit");
    is_int(row.bounded, 0, "which is the caller's own");

    request(&row, SM_JOB_CANCEL, "{\"dryRun\":true,\"filter\":"
            "{\"idPrefix\":\"b\"}}");
    must(sm_store_job_count(&f.store, new_call(&f), &row) == 0);
    is_int(row.count, 3, "by a prefix");

    request(&row, SM_JOB_CANCEL, "{\"dryRun\":true,\"filter\":"
            "{\"idPrefix\":\"a\"}}");
    must(sm_store_job_count(&f.store, new_call(&f), &row) == 0);
    is_int(row.count, 0, "what has ended is not canceled");

    is_str(sql_text(&f, "SELECT count(*) || '' FROM submission_jobs"), "0",
           "no job is made");

    fixture_done(&f);
}


/* G16: whoever is to be told of a cancel is told of those of a job, too */

static void
test_webhooks(void)
{
    fixture_t      f;
    sm_contract_t  told;

    open_leader(&f);

    told = sms;
    told.notify = sm_str_c("canceled:ops rejected:ops");

    put(&f, "w", 3, &told, NULL);
    put(&f, "q", 2, &sms, NULL);

    must(add(&f, SM_JOB_CANCEL, "{\"id\":\"j\",\"filter\":"
                                "{\"target\":\"sms\"}}")
         == SM_JOB_CREATED);
    must(finish(&f, 2) > 0);

    is_str(count(&f, "canceled"), "5", "all are canceled");
    is_str(sql_text(&f, "SELECT group_concat(t, ' ') FROM (SELECT event_of "
                    "AS t FROM submission_intents WHERE event_of IS NOT NULL "
                    "AND submission_target = 'webhook ops' "
                    "ORDER BY event_of) AS e"),
           "w1 w2 w3", "and the webhooks of those that have one are told");

    fixture_done(&f);
}


int
main(void)
{
    test_replay();
    test_own();
    test_skips();
    test_limit();
    test_again();
    test_cancel();
    test_races();
    test_ids();
    test_stop();
    test_poison();
    test_poison_limit();
    test_bound();
    test_count();
    test_webhooks();

    return done_testing();
}
