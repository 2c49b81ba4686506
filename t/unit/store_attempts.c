
/*
 * The executor's operations on the embedded store, each outcome of each, on a
 * clock that the test sets.  Broken by: a condition that a statement lacks, so
 * that what is done, not due, in flight or another's is tried or changed; a
 * fence that is not looked at; a cursor that skips or repeats; an attempt that
 * is counted and not appended, or appended and not counted; an attempt in
 * doubt that is forgotten, or sent again against its contract; a row that
 * fails others; a statement that reads more as history grows.
 */

#include "plans.h"
#include "sql_clock.h"
#include "sm_policy.h"
#include "sm_sqlite_sql.h"


static const sm_contract_t  once = {
    .target = sm_str("once"), .gateway_type = SM_GATEWAY_HTTP,
    .gateway_url = sm_str("https://pay/v1"), .policy = SM_POLICY_ONE_SHOT,
    .terminal_outcomes = sm_str("http_400 http_422"), .retry_delay = 5000,
    .retry_backoff = 100
};

static const sm_fence_t  a1 = { sm_str("a"), 1 };
static const sm_fence_t  a2 = { sm_str("a"), 2 };


static void
put(fixture_t *f, const char *id, const sm_contract_t *contract)
{
    must(outcome(f, id, contract, id) == SM_SUBMIT_CREATED);
}


/*
 * An intent: status, last outcome and its reason, why it is exhausted, how
 * many attempts; when it was completed, modified, is due; epoch, holder and
 * time in flight.  Times are milliseconds after START.
 */

static const char *
intent(fixture_t *f, const char *id)
{
    return sql_text(f, "SELECT concat_ws_(status, final_outcome_status, "
                    "final_outcome_reason, exhausted_reason, attempt_count, "
                    "completed_at / 1000 - %lld, "
                    "last_modified_at / 1000 - %lld, "
                    "next_attempt_at / 1000 - %lld, inflight_epoch, "
                    "inflight_holder, inflight_at / 1000 - %lld) "
                    "FROM submission_intents "
                    "WHERE lease_name = 'main' AND intent_id = '%s'",
                    START, START, START, START, id);
}


/* its attempts: number, epoch, holder, start, end, outcome, reason, error */

static const char *
attempts(fixture_t *f, const char *id)
{
    const char  *text;

    text = sql_text(f, "SELECT group_concat(t, ', ') FROM (SELECT "
                    "concat_ws_(attempt_number, lease_epoch, holder_id, "
                    "started_at / 1000 - %lld, finished_at / 1000 - %lld, "
                    "outcome_status, outcome_reason, error) AS t "
                    "FROM submission_attempts "
                    "WHERE lease_name = 'main' AND intent_id = '%s' "
                    "ORDER BY attempt_number) AS a", START, START, id);

    return text ? text : "";
}


/* the values with a space between, "-" for NULL */

static void
concat_ws(sqlite3_context *context, int argc, sqlite3_value **argv)
{
    int          i;
    char         buf[1024];
    size_t       len;
    const char  *text;

    for (i = 0, len = 0; i < argc; i++) {
        text = (const char *) sqlite3_value_text(argv[i]);
        len += snprintf(buf + len, sizeof(buf) - len, "%s%s", i ? " " : "",
                        text ? text : "-");
        must(len < sizeof(buf));
    }

    sqlite3_result_text(context, buf, (int) len, SQLITE_TRANSIENT);
}


static int
concat_ws_set(sqlite3 *db, char **error, const void *api)
{
    (void) error;
    (void) api;

    return sqlite3_create_function(db, "concat_ws_", -1, SQLITE_UTF8, NULL,
                                   concat_ws, NULL, NULL);
}


/* all that the executor could have changed */

static char *
everything(fixture_t *f)
{
    return strdup(sql_text(f, "SELECT (SELECT group_concat(concat_ws_("
        "lease_name, intent_id, status, final_outcome_status, attempt_count, "
        "completed_at, last_modified_at, next_attempt_at, inflight_epoch, "
        "inflight_holder, inflight_at)) FROM (SELECT * FROM submission_intents "
        "ORDER BY lease_name, intent_id) AS i) || ' / ' || "
        "(SELECT count(*) FROM submission_attempts)"));
}


static sm_begin_e
begin(fixture_t *f, const sm_fence_t *fence, const char *id,
    sm_begin_row_t *r)
{
    memset(r, 0xff, sizeof(sm_begin_row_t));
    r->id = sm_str_c(id);

    must(sm_store_attempts_begin(&f->store, new_call(f), fence, r, 1) == 0);
    must(f->call.now == now_ms * US);

    return r->outcome;
}


static void
end_row(sm_complete_row_t *r, const char *id, int64_t number,
    sm_outcome_e outcome, sm_status_e status)
{
    memset(r, 0, sizeof(sm_complete_row_t));

    r->id = sm_str_c(id);
    r->number = number;
    r->epoch = 1;
    r->holder = sm_str_c("a");
    r->started_at = now_ms * US - 2 * US;
    r->finished_at = now_ms * US - US;
    r->outcome = outcome;
    r->status = status;
    r->delay = 5000;

    r->applied = 7;
    r->next_attempt_at = 7;
}


static unsigned
complete(fixture_t *f, const sm_fence_t *fence, sm_complete_row_t *r)
{
    must(sm_store_attempts_complete(&f->store, new_call(f), fence, r, 1) == 0);
    must(f->call.now == now_ms * US);

    return r->applied;
}


static void
test_begin(void)
{
    fixture_t       f;
    sm_begin_row_t  r, two[2];

    leader_open(&f, HOUR);

    put(&f, "x", &push);
    is_str(intent(&f, "x"), "pending - - - 0 - 0 0 - - -", "as submitted");

    now_ms = START + 10;
    is_int(begin(&f, &a1, "x", &r), SM_BEGIN_BEGUN, "begun");
    is_str(intent(&f, "x"), "pending - - - 0 - 10 - 1 a 10", "in flight");
    is_int(r.number, 1, "the first attempt");
    is_int(r.due_at, START * US, "due since it came");
    is_int(r.created_at, START * US, "it came");
    is_mem(r.id.data, r.id.len, "x", 1, "its id");
    is_mem(r.payload.data, r.payload.len, "x", 1, "its payload");

    is_mem(r.contract.target.data, r.contract.target.len, "push", 4,
           "its contract: target");
    is_int(r.contract.gateway_type, SM_GATEWAY_PUSH, "gateway type");
    is_mem(r.contract.gateway_url.data, r.contract.gateway_url.len,
           "http://push", 11, "gateway URL");
    is_int(r.contract.policy, SM_POLICY_MAX_ATTEMPTS, "policy");
    is_int(r.contract.max_attempts, 3, "attempts");
    is_int(r.contract.max_acceptance_seconds, 0, "no deadline");
    is_int(r.contract.terminal_outcomes.len, 0, "no terminal outcome");
    is_int(r.contract.retry_delay, 1000, "delay");
    is_int(r.contract.retry_max, 60000, "largest delay");
    is_int(r.contract.retry_backoff, 250, "backoff");
    is_int(r.contract.retry_jitter, 20, "jitter");

    is_int(begin(&f, &a1, "x", &r), SM_BEGIN_GONE, "in flight: gone");
    is_int(begin(&f, &a1, "nobody", &r), SM_BEGIN_GONE, "unknown: gone");
    is_int(begin(&f, &a1, "X", &r), SM_BEGIN_GONE, "in capitals: unknown");

    put(&f, "y", &sms);
    sql(&f, "UPDATE submission_intents SET next_attempt_at = %lld, "
        "attempt_count = 4 WHERE intent_id = 'y'", (START + 500) * US);

    now_ms = START + 499;
    is_int(begin(&f, &a1, "y", &r), SM_BEGIN_EARLY, "a moment too early");
    is_int(r.due_at, (START + 500) * US, "it says when");
    is_str(intent(&f, "y"), "pending - - - 4 - 10 500 - - -", "as it was");

    now_ms = START + 500;
    is_int(begin(&f, &a1, "y", &r), SM_BEGIN_BEGUN, "when it is due");
    is_int(r.number, 5, "the count is the authority for the number");
    is_int(r.due_at, (START + 500) * US, "due since then");
    is_mem(r.contract.terminal_outcomes.data, r.contract.terminal_outcomes.len,
           "invalid_request invalid_message", 31, "terminal outcomes");
    is_int(r.contract.max_acceptance_seconds, 30, "deadline");

    put(&f, "z", &sms);
    memset(two, 0, sizeof(two));
    two[0].id = two[1].id = sm_str_c("z");
    is_int(sm_store_attempts_begin(&f.store, new_call(&f), &a1, two, 2), 0,
           "one id twice in a batch");
    ok(two[0].outcome == SM_BEGIN_BEGUN && two[1].outcome == SM_BEGIN_GONE,
       "is begun once");

    is_int(sm_store_attempts_begin(&f.store, new_call(&f), &a1, NULL, 0), 0,
           "no row at all");

    fixture_done(&f);
}


static void
test_gone(void)
{
    size_t          i;
    fixture_t       f, other;
    sm_begin_row_t  r;

    static const char  *sets[] = {
        "status = 'accepted'", "status = 'rejected'", "status = 'exhausted'",
        "status = 'cancelled'", "next_attempt_at = NULL", "inflight_epoch = 1",
        "inflight_epoch = 0"
    };

    leader_open(&f, HOUR);
    put(&f, "x", &push);

    for (i = 0; i < sizeof(sets) / sizeof(sets[0]); i++) {
        sql(&f, "UPDATE submission_intents SET status = 'pending', "
            "next_attempt_at = 1, inflight_epoch = NULL");
        sql(&f, "UPDATE submission_intents SET %s", sets[i]);

        is_int(begin(&f, &a1, "x", &r), SM_BEGIN_GONE, "gone: %s", sets[i]);
        is_int(sql_int(&f, "SELECT inflight_at IS NULL AND last_modified_at "
                       "= %lld FROM submission_intents", START * US), 1,
               "and as it was");
        is_str(f.call.error, "", "nothing is wrong");
    }

    other = f;
    store_open(&other, "main2", 10000);
    lead(&other, "a", HOUR, 1);
    put(&other, "theirs", &push);

    is_int(begin(&f, &a1, "theirs", &r), SM_BEGIN_GONE, "another manager's");
    is_int(begin(&other, &a1, "theirs", &r), SM_BEGIN_BEGUN, "is its own");

    store_close(&other);
    fixture_done(&f);
}


static void
test_expired(void)
{
    fixture_t       f;
    sm_begin_row_t  r;

    leader_open(&f, HOUR);

    put(&f, "x", &sms);
    put(&f, "y", &sms);
    put(&f, "z", &push);

    now_ms = START + 29999;
    is_int(begin(&f, &a1, "x", &r), SM_BEGIN_BEGUN, "before its deadline");

    now_ms = START + 30000;
    is_int(begin(&f, &a1, "y", &r), SM_BEGIN_EXPIRED, "at its deadline");
    is_str(intent(&f, "y"),
           "exhausted - - deadline_exceeded 0 30000 30000 - - - -",
           "exhausted, and no attempt");
    is_int(r.created_at, START * US, "when it came");
    is_mem(r.contract.target.data, r.contract.target.len, "sms", 3,
           "which target");
    is_str(attempts(&f, "y"), "", "nothing is appended");

    is_int(begin(&f, &a1, "y", &r), SM_BEGIN_GONE, "that is final");
    is_int(begin(&f, &a1, "z", &r), SM_BEGIN_BEGUN, "others have no deadline");

    fixture_done(&f);
}


/* in bulk: what has passed its deadline ends, whatever its next attempt is due */

static void
test_expire(void)
{
    size_t             i;
    fixture_t          f;
    sm_begin_row_t     b, r[8];
    sm_complete_row_t  c;

    static const char *const  ids[] = {
        "x", "later", "flying", "young", "push", "none", "odd", "x"
    };

    leader_open(&f, HOUR);

    put(&f, "x", &sms);
    put(&f, "later", &sms);
    put(&f, "flying", &sms);
    put(&f, "push", &push);
    put(&f, "odd", &sms);

    is_int(begin(&f, &a1, "flying", &b), SM_BEGIN_BEGUN, "one is in flight");
    is_int(begin(&f, &a1, "later", &b), SM_BEGIN_BEGUN, "and one was");
    end_row(&c, "later", 1, SM_OUTCOME_ERROR, SM_STATUS_PENDING);
    c.delay = 60000;
    is_int(complete(&f, &a1, &c), 1, "its next attempt is after its deadline");

    sql(&f, "UPDATE submission_intents SET max_acceptance_seconds = NULL "
        "WHERE intent_id = 'odd'");

    now_ms = START + 10000;
    put(&f, "young", &sms);

    memset(r, 0, sizeof(r));

    for (i = 0; i < sm_nelts(ids); i++) {
        r[i].id = sm_str_c(ids[i]);
    }

    now_ms = START + 29999;
    must(sm_store_attempts_expire(&f.store, new_call(&f), &a1, r, 8) == 0);
    is_int(f.call.now, now_ms * US, "SQL's time");
    is_int(r[0].outcome, SM_BEGIN_EARLY, "not yet");
    is_int(r[0].due_at, START * US, "it is as due as it was");
    is_str(intent(&f, "x"), "pending - - - 0 - 0 0 - - -", "nothing changed");

    now_ms = START + 30000;
    must(sm_store_attempts_expire(&f.store, new_call(&f), &a1, r, 8) == 0);

    is_int(r[0].outcome, SM_BEGIN_EXPIRED, "at its deadline");
    is_int(r[0].created_at, START * US, "when it came");
    is_int(r[0].number, 1, "it was never tried");
    is_str(intent(&f, "x"),
           "exhausted - - deadline_exceeded 0 30000 30000 - - - -",
           "exhausted, and no attempt");

    is_int(r[1].outcome, SM_BEGIN_EXPIRED, "one that is due later");
    is_int(r[1].number, 2, "it was tried once");

    is_int(r[2].outcome, SM_BEGIN_GONE, "not one that is in flight");
    is_int(r[3].outcome, SM_BEGIN_EARLY, "nor one that came later");
    is_int(r[3].due_at, (START + 10000) * US, "and is due");
    is_int(r[4].outcome, SM_BEGIN_EARLY, "nor one without a deadline");
    is_int(r[5].outcome, SM_BEGIN_GONE, "one that is not there");
    is_int(r[6].outcome, SM_BEGIN_EARLY, "no deadline is none");
    is_int(r[7].outcome, SM_BEGIN_GONE, "and each once");

    must(sm_store_attempts_expire(&f.store, new_call(&f), &a1, r, 0) == 0);

    now_ms = START + 40000;
    is_int(begin(&f, &a1, "young", &b), SM_BEGIN_EXPIRED,
           "a turn ends it, too");

    fixture_done(&f);
}


/* the deadlines of a page, and the one that leaves out what has passed them */

static void
test_page_deadlines(void)
{
    size_t     i;
    fixture_t  f;
    sm_page_t  page;

    leader_open(&f, HOUR);

    put(&f, "a", &sms);
    put(&f, "b", &push);
    put(&f, "c", &sms);
    sql(&f, "UPDATE submission_intents SET max_acceptance_seconds = NULL "
        "WHERE intent_id = 'c'");
    put(&f, "d", &sms);
    sql(&f, "UPDATE submission_intents SET max_acceptance_seconds "
        "= 9000000000000000000 WHERE intent_id = 'd'");

    now_ms = START + 20000;
    put(&f, "e", &sms);
    now_ms = START + 30000;

    memset(&page, 0, sizeof(sm_page_t));
    page.limit = 10;
    must(sm_store_queue_page(&f.store, new_call(&f), &a1, &page) == 0);

    is_int(page.n, 5, "all");
    is_int(page.rows[0].deadline, (START + 30000) * US, "a deadline");

    for (i = 1; i < 4; i++) {
        ok(page.rows[i].deadline == INT64_MAX, "%.*s has none",
           (int) page.rows[i].id.len, page.rows[i].id.data);
    }

    is_int(page.rows[4].deadline, (START + 50000) * US, "another one");

    page.order = SM_PAGE_LIVE;
    must(sm_store_queue_page(&f.store, new_call(&f), &a1, &page) == 0);
    is_int(page.n, 4, "but for the one that has passed");
    is_mem(page.rows[0].id.data, page.rows[0].id.len, "b", 1, "the first");
    is_int(page.rows[3].deadline, (START + 50000) * US, "and the last");

    now_ms = START + 29999;
    must(sm_store_queue_page(&f.store, new_call(&f), &a1, &page) == 0);
    is_int(page.n, 5, "a millisecond before that");

    fixture_done(&f);
}


/* returns a copy: the text is gone with the next call */

static sm_str_t
refused_is(const sm_str_t *refused, const char *why)
{
    static char  text[512];

    (void) snprintf(text, sizeof(text), "%.*s", (int) refused->len,
                    refused->data ? refused->data : "");

    ok(strncmp(text, "its contract is not understood: ", 32) == 0
       && strstr(text, why) != NULL, "and why: %s", text);

    return sm_str_c(text);
}


/*
 * What a contract holds that this version does not know: a batch goes on with
 * its other rows, and that one is given back or stays in doubt, and shows why.
 */

static void
test_contracts(void)
{
    size_t             i;
    sm_str_t           why;
    fixture_t          f;
    sm_recovered_t     recovered;
    sm_begin_row_t     r[3];
    sm_complete_row_t  done;

    static const struct {
        const char  *set;
        const char  *error;
        int          only;              /* other stores have types */
    } t[] = {
        { "policy = 'twice'", "policy \"twice\" is unknown", 0 },
        { "policy = ''", "policy \"\" is unknown", 0 },
        { "policy = x'00ff'", "policy \"", 1 },
        { "policy = hex(zeroblob(5000))", "policy \"0000", 1 },
        { "gateway_type = 'fax'", "gateway type \"fax\" is unknown", 0 },
        { "policy = 'deadline'", "the deadline must be", 0 },
        { "policy = 'deadline', max_acceptance_seconds = 9223372036854775807",
          "the deadline must be", 0 },
        { "max_attempts = NULL", "the number of attempts must be", 0 },
        { "max_attempts = 'many'", "the number of attempts must be", 1 },
        { "retry_delay_ms = 9223372036854775807, retry_max_ms = 0",
          "the retry delay must be", 0 },
        { "retry_backoff_pct = -1", "the backoff factor must be", 0 },
        { "retry_jitter_pct = 101", "the jitter must be", 0 },
        { "gateway_url = ''", "the gateway URL must be", 0 },
        { "gateway_url = 'nowhere'", "the gateway URL must be", 0 },

        /* what SQL took for understood, and C did not */

        { "gateway_url = 'http://a/?b=c'", "the gateway URL must be", 0 },
        { "gateway_url = 'http://a/$b'", "the gateway URL must be", 0 },
        { "retry_schedule = '1000 soon'", "each retry delay must be", 0 },
        { "retry_schedule = '0'", "each retry delay must be", 0 },
        { "notify = 'accepted:\"'", "the list of webhooks has", 0 },
        { "policy = 'deadline', max_acceptance_seconds = 0",
          "the deadline must be", 0 },
        { "policy = 'deadline', max_acceptance_seconds = -1",
          "the deadline must be", 0 }
    };

    leader_open(&f, HOUR);

    for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {

        if (t[i].only && !on_sqlite()) {
            continue;
        }

        sql(&f, "DELETE FROM submission_intents");
        sql(&f, "DELETE FROM submission_attempts");

        put(&f, "x", &push);
        put(&f, "y", &push);
        put(&f, "z", &push);
        sql(&f, "UPDATE submission_intents SET %s WHERE intent_id = 'y'",
            t[i].set);

        memset(r, 0, sizeof(r));
        r[0].id = sm_str_c("x");
        r[1].id = sm_str_c("y");
        r[2].id = sm_str_c("z");

        is_int(sm_store_attempts_begin(&f.store, new_call(&f), &a1, r, 3), 0,
               "begin: %s", t[i].set);
        is_int(f.call.status, SM_STORE_OK, "the call went well");
        is_str(f.call.error, "", "no other row has part in it");
        ok(r[0].outcome == SM_BEGIN_BEGUN && r[2].outcome == SM_BEGIN_BEGUN
           && r[0].refused.data == NULL && r[2].refused.data == NULL,
           "the others are begun");
        is_int(r[1].outcome, SM_BEGIN_BEGUN, "that one is, too");
        why = refused_is(&r[1].refused, t[i].error);

        /* it is given back, and shows why */

        end_row(&done, "y", 1, SM_OUTCOME_NONE, SM_STATUS_PENDING);
        done.error = why;
        done.delay = SM_REFUSED_DELAY;
        is_int(complete(&f, &a1, &done), 1, "it is given back");
        is_str(intent(&f, "y"), "pending - unsent - 0 - 0 3600000 - - -",
               "for an hour; nothing is counted");
        is_str(attempts(&f, "y"), "", "and nothing is appended");
        is_int(sql_int(&f, "SELECT count(*) FROM submission_intents "
                       "WHERE intent_id = 'y' AND last_error "
                       "LIKE 'its contract is not understood: %%'"), 1,
               "its error says why");
        is_int(begin(&f, &a1, "y", &r[1]), SM_BEGIN_EARLY,
               "it is not tried again soon");

        /* it was begun by a version that knew, and is in doubt now */

        sql(&f, "UPDATE submission_intents SET next_attempt_at = NULL, "
            "last_error = NULL, "
            "inflight_epoch = 0, inflight_holder = 'b', inflight_at = %lld",
            START * US);

        is_int(sm_store_attempts_recover(&f.store, new_call(&f), &a1,
                                         NULL, 0, 1, 0,
                                         &recovered), 0, "recover");
        is_int(recovered.attempts, 2, "the others");
        ok(strstr(f.call.error, "intent \"y\" is in doubt, and stays so: its "
                  "contract is not understood: ") != NULL
           && strstr(f.call.error, t[i].error) != NULL,
           "and why not that one: %s", f.call.error);
        is_str(intent(&f, "y"), "pending - unknown - 0 - 0 - 0 b 0",
               "it stays in doubt");
        is_str(attempts(&f, "y"), "", "and nothing is appended");
        is_int(sql_int(&f, "SELECT count(*) FROM submission_intents "
                       "WHERE intent_id = 'y' AND last_error "
                       "LIKE 'its contract is not understood: %%'"), 1,
               "its error says why");
    }

    fixture_done(&f);
}


/* a contract of a newer version is not begun, says so, and is said once */

static void
test_newer(void)
{
    size_t          i;
    fixture_t       f;
    sm_begin_row_t  r[2];

    leader_open(&f, HOUR);

    put(&f, "x", &push);
    put(&f, "y", &push);
    sql(&f, "UPDATE submission_intents SET contract_version = %d "
        "WHERE intent_id = 'y'", SM_CONTRACT_VERSION + 1);
    sql(&f, "UPDATE submission_intents SET contract_version = %d "
        "WHERE intent_id = 'x'", SM_CONTRACT_VERSION);

    for (i = 0; i < 2; i++) {
        memset(r, 0, sizeof(r));
        r[0].id = sm_str_c("x");
        r[1].id = sm_str_c("y");

        is_int(sm_store_attempts_begin(&f.store, new_call(&f), &a1, r, 2), 0,
               "begin");
        is_str(f.call.error, "", "without an error");
        is_int(r[0].outcome, i ? SM_BEGIN_GONE : SM_BEGIN_BEGUN,
               "the other one is begun");
        is_int(r[1].outcome, SM_BEGIN_GONE, "that one is not");
        ok(r[1].newer && !r[0].newer, "it is left to a newer module");

        if (i == 0) {
            (void) refused_is(&r[1].refused, "it is of version 2");

        } else {
            ok(r[1].refused.data == NULL, "why is said once");
        }

        is_str(intent(&f, "y"), "pending - unsent - 0 - 0 0 - - -",
               "as it was, but for why");
        is_int(sql_int(&f, "SELECT count(*) FROM submission_intents "
                       "WHERE intent_id = 'y' AND last_error "
                       "LIKE '%%contract%%of version 2%%'"), 1,
               "but for its error");
    }

    fixture_done(&f);
}


/* nor does it end at its deadline: a newer module may know of a longer one */

static void
test_newer_expire(void)
{
    char            why[512];
    size_t          i;
    fixture_t       f;
    sm_begin_row_t  r[3];

    leader_open(&f, HOUR);

    put(&f, "x", &sms);
    put(&f, "y", &sms);
    put(&f, "z", &sms);
    sql(&f, "UPDATE submission_intents SET contract_version = %d, "
        "next_attempt_at = %lld WHERE intent_id = 'y'",
        SM_CONTRACT_VERSION + 1, (START + HOUR) * US);
    sql(&f, "UPDATE submission_intents SET contract_version = %d "
        "WHERE intent_id = 'z'", SM_CONTRACT_VERSION + 1);
    sql(&f, "UPDATE submission_intents SET contract_version = %d "
        "WHERE intent_id = 'x'", SM_CONTRACT_VERSION);

    now_ms = START + 30000;
    is_int(begin(&f, &a1, "z", &r[2]), SM_BEGIN_GONE, "a turn leaves it");

    for (i = 0; i < 2; i++) {
        memset(r, 0, sizeof(r));
        r[0].id = sm_str_c("x");
        r[1].id = sm_str_c("y");
        r[2].id = sm_str_c("z");

        must(sm_store_attempts_expire(&f.store, new_call(&f), &a1, r, 3) == 0);
        is_str(f.call.error, "", "without an error");
        is_int(r[0].outcome, i ? SM_BEGIN_GONE : SM_BEGIN_EXPIRED,
               "the other one has ended");
        is_int(r[1].outcome, SM_BEGIN_GONE, "that one has not");
        is_int(r[1].due_at, 0, "and is not due again");
        ok(r[1].newer && r[2].newer && !r[0].newer,
           "it is left to a newer module");
        ok(r[2].refused.data == NULL, "a turn has said why");

        (void) snprintf(why, sizeof(why), "%.*s", (int) r[1].refused.len,
                        r[1].refused.data ? r[1].refused.data : "");
        ok(i ? r[1].refused.data == NULL : strstr(why, "of version 2") != NULL,
           "why is said once: %s", why);

        is_str(intent(&f, "y"), "pending - unsent - 0 - 0 3600000 - - -",
               "as it was, but for why");
        is_int(sql_int(&f, "SELECT count(*) FROM submission_intents "
                       "WHERE status = 'pending' AND last_error "
                       "LIKE '%%contract%%of version 2%%'"), 2,
               "but for its error");
    }

    fixture_done(&f);
}


/* an intent whose deadline has passed ends, whatever else is damaged */

static void
test_expired_damaged(void)
{
    fixture_t       f;
    sm_begin_row_t  r;

    leader_open(&f, HOUR);
    put(&f, "late", &sms);
    sql(&f, "UPDATE submission_intents SET gateway_type = 'fax', "
        "created_at = %lld", (START - HOUR) * US);

    is_int(begin(&f, &a1, "late", &r), SM_BEGIN_EXPIRED, "it is too late");
    is_str(intent(&f, "late"), "exhausted - - deadline_exceeded 0 0 0 - - - -",
           "and it has ended");

    fixture_done(&f);
}


static void
test_complete(void)
{
    fixture_t          f;
    sm_get_row_t       got;
    sm_begin_row_t     b;
    sm_complete_row_t  r;

    leader_open(&f, HOUR);
    put(&f, "x", &push);

    is_int(begin(&f, &a1, "x", &b), SM_BEGIN_BEGUN, "begin");

    now_ms = START + 100;
    end_row(&r, "x", 1, SM_OUTCOME_ERROR, SM_STATUS_PENDING);
    r.error = sm_str_c("connection refused");
    is_int(complete(&f, &a1, &r), 1, "an error, to be tried again");
    is_int(r.next_attempt_at, (START + 5100) * US, "when");
    is_str(intent(&f, "x"), "pending error - - 1 - 100 5100 - - -",
           "due again, and not in flight");
    is_str(attempts(&f, "x"), "1 1 a 98 99 error - connection refused",
           "the attempt is appended");

    is_int(complete(&f, &a1, &r), 0, "once more: not in flight");
    is_int(r.next_attempt_at, 0, "nothing is due");
    is_str(intent(&f, "x"), "pending error - - 1 - 100 5100 - - -",
           "nothing has changed");

    now_ms = START + 5100;
    is_int(begin(&f, &a1, "x", &b), SM_BEGIN_BEGUN, "begin again");
    is_int(b.number, 2, "attempt 2");
    is_int(b.due_at, (START + 5100) * US, "due since then");

    now_ms = START + 5200;
    end_row(&r, "x", 2, SM_OUTCOME_REJECTED, SM_STATUS_PENDING);
    r.reason = sm_str_c("busy");
    r.delay = 1;
    is_int(complete(&f, &a1, &r), 1, "a rejection that is not terminal");
    is_str(intent(&f, "x"), "pending rejected busy - 2 - 5200 5201 - - -",
           "due in a millisecond");

    memset(&got, 0, sizeof(got));
    got.id = sm_str_c("x");
    is_int(sm_store_intents_get(&f.store, new_call(&f), &got, 1), 0, "get");
    ok(got.found && got.intent.rejected_reason.data == NULL,
       "a pending intent has no rejectedReason");
    is_int(got.intent.attempt_count, 2, "two attempts");

    now_ms = START + 6000;
    is_int(begin(&f, &a1, "x", &b), SM_BEGIN_BEGUN, "begin again");
    end_row(&r, "x", 3, SM_OUTCOME_REJECTED, SM_STATUS_REJECTED);
    r.reason = sm_str_c("invalid_token");
    is_int(complete(&f, &a1, &r), 1, "a terminal rejection");
    is_int(r.next_attempt_at, 0, "nothing is due");
    is_str(intent(&f, "x"),
           "rejected rejected invalid_token - 3 6000 6000 - - - -", "rejected");
    is_str(attempts(&f, "x"), "1 1 a 98 99 error - connection refused, "
           "2 1 a 5198 5199 rejected busy -, "
           "3 1 a 5998 5999 rejected invalid_token -", "numbered");

    is_int(sm_store_intents_get(&f.store, new_call(&f), &got, 1), 0, "get");
    is_mem(got.intent.rejected_reason.data, got.intent.rejected_reason.len,
           "invalid_token", 13, "a rejected intent has its rejectedReason");

    put(&f, "y", &push);
    is_int(begin(&f, &a1, "y", &b), SM_BEGIN_BEGUN, "begin another one");
    end_row(&r, "y", 1, SM_OUTCOME_ACCEPTED, SM_STATUS_ACCEPTED);
    is_int(complete(&f, &a1, &r), 1, "accepted");
    is_str(intent(&f, "y"), "accepted accepted - - 1 6000 6000 - - - -",
           "accepted");

    put(&f, "z", &once);
    is_int(begin(&f, &a1, "z", &b), SM_BEGIN_BEGUN, "begin another one");
    end_row(&r, "z", 1, SM_OUTCOME_REJECTED, SM_STATUS_EXHAUSTED);
    r.exhausted = SM_EXHAUSTED_ONE_SHOT;
    r.reason = sm_str_c("http_404");
    is_int(complete(&f, &a1, &r), 1, "rejected, and exhausted");
    is_str(intent(&f, "z"),
           "exhausted rejected http_404 one_shot 1 6000 6000 - - - -",
           "exhausted");

    memset(&got, 0, sizeof(got));
    got.id = sm_str_c("z");
    is_int(sm_store_intents_get(&f.store, new_call(&f), &got, 1), 0, "get");
    ok(got.intent.rejected_reason.data == NULL,
       "an exhausted intent has no rejectedReason");
    is_mem(got.intent.exhausted_reason.data, got.intent.exhausted_reason.len,
           "one_shot", 8, "but why it is exhausted");

    fixture_done(&f);
}


/* what is not this attempt in flight is not changed */

static void
test_not_applied(void)
{
    char               *before, *after;
    size_t              i;
    fixture_t           f;
    sm_begin_row_t      b;
    sm_complete_row_t   r;

    static const struct {
        const char  *id;
        int64_t      number;
        int64_t      epoch;
        const char  *holder;
        const char  *what;
    } t[] = {
        { "y", 1, 1, "a", "an intent that is not in flight" },
        { "nobody", 1, 1, "a", "no intent" },
        { "x", 2, 1, "a", "the next attempt" },
        { "x", 0, 1, "a", "no attempt" },
        { "x", 1, 0, "a", "an older epoch" },
        { "x", 1, 2, "a", "a newer epoch" },
        { "x", 1, 1, "b", "another holder" },
        { "x", 1, 1, "", "no holder" }
    };

    static const char  *terminal[] = { "accepted", "rejected", "exhausted" };

    leader_open(&f, HOUR);
    put(&f, "x", &push);
    put(&f, "y", &push);

    is_int(begin(&f, &a1, "x", &b), SM_BEGIN_BEGUN, "begin");
    before = everything(&f);
    now_ms = START + 100;

    for (i = 0; i < 2 * sizeof(t) / sizeof(t[0]); i++) {
        end_row(&r, t[i / 2].id, t[i / 2].number,
                i % 2 ? SM_OUTCOME_NONE : SM_OUTCOME_ERROR, SM_STATUS_PENDING);
        r.epoch = t[i / 2].epoch;
        r.holder = sm_str_c(t[i / 2].holder);

        is_int(complete(&f, &a1, &r), 0, "not applied: %s", t[i / 2].what);
        is_int(r.next_attempt_at, 0, "nothing is due");

        after = everything(&f);
        is_str(after, before, "nothing has changed");
        free(after);
    }

    free(before);

    for (i = 0; i < 6; i++) {
        sql(&f, "UPDATE submission_intents SET status = '%s' "
            "WHERE intent_id = 'x'", terminal[i / 2]);
        before = everything(&f);

        end_row(&r, "x", 1, i % 2 ? SM_OUTCOME_NONE : SM_OUTCOME_ACCEPTED,
                SM_STATUS_ACCEPTED);
        is_int(complete(&f, &a1, &r), 0, "%s is final", terminal[i / 2]);

        after = everything(&f);
        is_str(after, before, "nothing has changed");
        free(after);
        free(before);
    }

    fixture_done(&f);
}


/* what is shown of the last attempt, or of why the next one was not sent */

static const char *
last(fixture_t *f, const char *id)
{
    sm_get_row_t  row;
    static char   text[256];

    memset(&row, 0, sizeof(row));
    row.id = sm_str_c(id);

    must(sm_store_intents_get(&f->store, new_call(f), &row, 1) == 0);
    must(row.found);

    (void) snprintf(text, sizeof(text), "%.*s: %.*s",
                    (int) row.intent.last_reason.len,
                    row.intent.last_reason.data ? row.intent.last_reason.data
                                                : "",
                    (int) row.intent.last_error.len,
                    row.intent.last_error.data ? row.intent.last_error.data
                                               : "");

    return text;
}


static void
test_last(void)
{
    size_t             i;
    fixture_t          f;
    sm_begin_row_t     b;
    sm_complete_row_t  r;

    static const struct {
        sm_outcome_e  outcome;
        const char   *reason, *error, *shown;
    } t[] = {
        { SM_OUTCOME_NONE, NULL, NULL, ": " },
        { SM_OUTCOME_NONE, NULL, "no name", "unsent: no name" },
        { SM_OUTCOME_ERROR, NULL, "HTTP 500", "error: HTTP 500" },
        { SM_OUTCOME_UNKNOWN, "timed_out", "late", "timed_out: late" },
        { SM_OUTCOME_NONE, NULL, NULL, "timed_out: late" },
        { SM_OUTCOME_NONE, NULL, "no route", "unsent: no route" },
        { SM_OUTCOME_ERROR, "busy", "HTTP 429", "busy: HTTP 429" }
    };

    leader_open(&f, HOUR);
    put(&f, "x", &push);

    is_str(last(&f, "x"), ": ", "nothing was tried");

    for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        now_ms += 10000;
        is_int(begin(&f, &a1, "x", &b), SM_BEGIN_BEGUN, "begin %zu", i);

        end_row(&r, "x", b.number, t[i].outcome, SM_STATUS_PENDING);

        if (t[i].reason) {
            r.reason = sm_str_c(t[i].reason);
        }

        if (t[i].error) {
            r.error = sm_str_c(t[i].error);
        }

        is_int(complete(&f, &a1, &r), 1, "end %zu", i);
        is_str(last(&f, "x"), t[i].shown, "row %zu", i);
    }

    now_ms += 10000;
    is_int(begin(&f, &a1, "x", &b), SM_BEGIN_BEGUN, "the last");
    end_row(&r, "x", b.number, SM_OUTCOME_REJECTED, SM_STATUS_REJECTED);
    r.reason = sm_str_c("closed");
    is_int(complete(&f, &a1, &r), 1, "ends it");
    is_str(last(&f, "x"), ": ", "which has a reason of its own then");

    fixture_done(&f);
}


static void
test_return(void)
{
    fixture_t          f;
    sm_begin_row_t     b;
    sm_complete_row_t  r;

    leader_open(&f, HOUR);
    put(&f, "x", &once);

    now_ms = START + 50;
    is_int(begin(&f, &a1, "x", &b), SM_BEGIN_BEGUN, "begin");

    now_ms = START + 100;
    end_row(&r, "x", 1, SM_OUTCOME_NONE, SM_STATUS_NONE);
    r.delay = 0;
    is_int(complete(&f, &a1, &r), 1, "given back");
    is_int(r.next_attempt_at, (START + 50) * US, "it is due");
    is_str(intent(&f, "x"), "pending - - - 0 - 100 50 - - -",
           "as if it had not been begun");
    is_str(attempts(&f, "x"), "", "nothing is appended");

    is_int(complete(&f, &a1, &r), 0, "once more: not in flight");

    is_int(begin(&f, &a1, "x", &b), SM_BEGIN_BEGUN, "begin again");
    is_int(b.number, 1, "the same attempt");

    now_ms = START + 200;
    end_row(&r, "x", 1, SM_OUTCOME_NONE, SM_STATUS_PENDING);
    is_int(complete(&f, &a1, &r), 1, "given back, for later");
    is_int(r.next_attempt_at, (START + 5200) * US, "it is due then");
    is_str(intent(&f, "x"), "pending - - - 0 - 200 5200 - - -",
           "as if it had not been begun");
    is_int(begin(&f, &a1, "x", &b), SM_BEGIN_EARLY, "and not before");

    now_ms = START + 5200;
    is_int(begin(&f, &a1, "x", &b), SM_BEGIN_BEGUN, "begin then");
    is_int(b.number, 1, "the same attempt, still");

    fixture_done(&f);
}


enum { PAGE, DUE, LIVE, DOUBT, BEGIN, COMPLETE, TURN, EXPIRE, RECOVER, OPS };

static const char  *ops[] = {
    "queue_page", "queue_page by due time", "queue_page of the live",
    "attempts_in_doubt", "attempts_begin", "attempts_complete",
    "attempts_turn", "attempts_expire", "attempts_recover"
};


/* the status of the call */

static int
operation(fixture_t *f, int op, const sm_fence_t *fence)
{
    int                rc;
    size_t             n;
    sm_page_t          page;
    sm_doubt_row_t    *doubts;
    sm_recovered_t     recovered;
    sm_begin_row_t     b;
    sm_complete_row_t  r;

    memset(&page, 0, sizeof(sm_page_t));
    memset(&b, 0, sizeof(sm_begin_row_t));

    page.order = op == DUE ? SM_PAGE_DUE
                 : op == LIVE ? SM_PAGE_LIVE : SM_PAGE_MODIFIED;
    page.limit = 10;
    b.id = sm_str_c("new");
    end_row(&r, "flying", 1, SM_OUTCOME_ACCEPTED, SM_STATUS_ACCEPTED);
    r.epoch = 2;

    switch (op) {
    case DOUBT:
        rc = sm_store_attempts_in_doubt(&f->store, new_call(f), fence, NULL,
                                        10, &doubts, &n);
        break;
    case BEGIN:
        rc = sm_store_attempts_begin(&f->store, new_call(f), fence, &b, 1);
        break;
    case COMPLETE:
        rc = sm_store_attempts_complete(&f->store, new_call(f), fence, &r, 1);
        break;
    case TURN:
        rc = sm_store_attempts_turn(&f->store, new_call(f), fence, &r, 1, &b,
                                    1);
        break;
    case EXPIRE:
        rc = sm_store_attempts_expire(&f->store, new_call(f), fence, &b, 1);
        break;
    case RECOVER:
        rc = sm_store_attempts_recover(&f->store, new_call(f), fence,
                                       NULL, 0, 10, 0, &recovered);
        break;
    default:
        rc = sm_store_queue_page(&f->store, new_call(f), fence, &page);
    }

    must(rc == (f->call.status == SM_STORE_OK ? 0 : -1));

    return f->call.status;
}


static void
test_fences(void)
{
    int         op, connections;
    char       *before, *after;
    size_t      i;
    fixture_t   f, other;
    sm_fence_t  fence;

    static const struct {
        const char  *holder;
        int64_t      epoch;
        int64_t      at;
        const char  *what;
    } t[] = {
        { "b", 2, 0, "another holder" },
        { "A", 2, 0, "in capitals" },
        { "a ", 2, 0, "with a space" },
        { "", 2, 0, "no holder" },
        { "a", 1, 0, "an older epoch" },
        { "a", 3, 0, "a newer epoch" },
        { "a", 2, HOUR, "at the end" },
        { "a", 2, HOUR + 1, "after it" }
    };

    now_ms = START;
    fixture_open(&f);

    for (op = 0; op < OPS; op++) {
        is_int(operation(&f, op, &a1), SM_STORE_LEASE_LOST,
               "%s without a lease", ops[op]);
    }

    other = f;
    store_open(&other, "main2", 10000);
    lead(&other, "a", 1, 1);
    now_ms = START + 1;
    lead(&other, "a", HOUR, 2);

    for (op = 0; op < OPS; op++) {
        is_int(operation(&f, op, &a2), SM_STORE_LEASE_LOST,
               "%s with another's lease", ops[op]);
    }

    store_close(&other);

    now_ms = START;
    lead(&f, "a", 1, 1);
    now_ms = START + 1;
    lead(&f, "a", HOUR - 1, 2);

    put(&f, "new", &push);
    put(&f, "flying", &push);
    put(&f, "doubt", &push);
    sql(&f, "UPDATE submission_intents SET next_attempt_at = NULL, "
        "inflight_epoch = 2, inflight_holder = 'a', inflight_at = created_at "
        "WHERE intent_id = 'flying'");
    sql(&f, "UPDATE submission_intents SET next_attempt_at = NULL, "
        "inflight_epoch = 1, inflight_holder = 'a', inflight_at = created_at "
        "WHERE intent_id = 'doubt'");

    before = everything(&f);
    connections = sql_clock_opened;

    for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        fence.holder = sm_str_c(t[i].holder);
        fence.epoch = t[i].epoch;

        for (op = 0; op < OPS; op++) {
            now_ms = START + (t[i].at ? t[i].at : 2);

            is_int(operation(&f, op, &fence), SM_STORE_LEASE_LOST, "%s: %s",
                   ops[op], t[i].what);
            is_int(f.call.now, now_ms * US, "SQL's time");
            ok(strncmp(f.call.error, "LEASE_LOST: ", 12) == 0, "in words");
        }
    }

    is_int(sql_clock_opened, connections, "no connection was lost");

    after = everything(&f);
    is_str(after, before, "and nothing has changed");
    free(after);
    free(before);

    now_ms = START + HOUR - 1;

    for (op = 0; op < OPS; op++) {
        is_int(operation(&f, op, &a2), SM_STORE_OK, "%s: the holder, a moment "
               "before the end", ops[op]);
    }

    is_int(sql_int(&f, "SELECT count(*) FROM submission_intents WHERE "
                   "intent_id = 'new' AND inflight_epoch = 2"), 1, "begun");
    is_int(sql_int(&f, "SELECT count(*) FROM submission_attempts"), 2,
           "completed, and recovered");

    fixture_done(&f);
}


typedef struct {
    fixture_t  *f;
    int         op;
    int         status;
} waiter_t;


static void *
wait_thread(void *data)
{
    waiter_t  *w = data;

    w->status = operation(w->f, w->op, &a2);

    return NULL;
}


/* the lease is lost while a call waits for its turn to write */

static void
test_waiting(void)
{
    char       *before, *after;
    waiter_t    w;
    fixture_t   f;
    pthread_t   thread;
    sql_conn_t  db;

    for (w.op = BEGIN; w.op < OPS; w.op++) {
        now_ms = START;
        fixture_open(&f);
        lead(&f, "a", 1, 1);
        now_ms = START + 1;
        lead(&f, "a", HOUR, 2);

        put(&f, "new", &push);
        put(&f, "flying", &push);
        put(&f, "doubt", &push);
        sql(&f, "UPDATE submission_intents SET next_attempt_at = NULL, "
            "inflight_epoch = iif(intent_id = 'doubt', 1, 2), "
            "inflight_holder = 'a', inflight_at = created_at "
            "WHERE intent_id IN ('flying', 'doubt')");
        before = everything(&f);

        db = sql_open(&f);
        sql_lock(db);

        w.f = &f;
        must(pthread_create(&thread, NULL, wait_thread, &w) == 0);
        (void) usleep(200000);

        sql_run(db, "UPDATE submission_manager_leases SET lease_epoch = 3");
        sql_run(db, "COMMIT");
        sql_close(db);
        must(pthread_join(thread, NULL) == 0);

        is_int(w.status, SM_STORE_LEASE_LOST, "%s: lost while it waited",
               ops[w.op]);

        after = everything(&f);
        is_str(after, before, "nothing has changed");
        free(after);
        free(before);

        fixture_done(&f);
    }
}


/* in that transaction, in the language that procedures have there */

static void
server_fenced(sql_conn_t db, const char *text)
{
    if (on_babelfish()) {
        tds_run(db.server, text);

    } else {
        server_run(db.server, text);
    }
}


/* a transaction that has passed the fence, as a procedure of a server does */

static sql_conn_t
pass_fence(fixture_t *f)
{
    char        string[1024];
    sql_conn_t  db;

    if (on_sqlite()) {
        db = sql_open(f);
        sql_lock(db);
        return db;
    }

    memset(&db, 0, sizeof(sql_conn_t));

    server_string(string, sizeof(string), f->database, NULL, NULL);
    db.server = on_babelfish() ? tds_connect(string) : server_connect(string);

    server_fenced(db, "BEGIN TRANSACTION");
    server_fenced(db, on_babelfish()
               ? "DECLARE @now datetime2(6); EXECUTE "
                 "submission.submission_fence N'main', N'a', 1, @now OUTPUT"
               : "SELECT submission.submission_fence('main', 'a', 1)");

    return db;
}


typedef struct {
    fixture_t     *f;
    sm_lease_t     lease;
    volatile int   done;
} acquirer_t;


static void *
acquire_thread(void *data)
{
    acquirer_t  *a = data;
    sm_call_t    call;

    memset(&call, 0, sizeof(sm_call_t));

    must(sm_store_lease_acquire(&a->f->store, &call, sm_str_c("b"), HOUR,
                                &a->lease)
         == 0);

    sm_arena_free(&call.arena);
    a->done = 1;

    return NULL;
}


/*
 * G2: while a fenced transaction is open between its fence and its commit,
 * nobody else acquires the lease, though it is over; then its epoch writes
 * nothing any more.
 */

static void
test_held_open(void)
{
    sm_str_t    url;
    fixture_t   f;
    pthread_t   thread;
    sql_conn_t  db;
    acquirer_t  a;

    leader_open(&f, HOUR);
    put(&f, "new", &push);

    db = pass_fence(&f);
    now_ms = START + HOUR;
    is_int(sm_store_lease_watch(&f.store, new_call(&f), &a.lease, &url), 0,
           "a fenced transaction is open");
    ok(a.lease.expires_at <= now_ms * US, "and the lease is over");

    memset(&a, 0, sizeof(acquirer_t));
    a.f = &f;
    must(pthread_create(&thread, NULL, acquire_thread, &a) == 0);

    (void) usleep(500000);
    ok(!a.done, "another's acquire waits for it");

    if (db.server) {
        server_fenced(db, "UPDATE submission.submission_intents "
                      "SET attempt_count = 7 WHERE intent_id = 'new'");
        server_fenced(db, "COMMIT TRANSACTION");

        if (on_babelfish()) {
            tds_disconnect(db.server);

        } else {
            server_disconnect(db.server);
        }

    } else {
        sql_run(db, "UPDATE submission_intents SET attempt_count = 7");
        sql_run(db, "COMMIT");
        sql_close(db);
    }

    must(pthread_join(thread, NULL) == 0);

    ok(a.lease.held, "when that is committed it is acquired");
    is_int(a.lease.epoch, 2, "in the next epoch");
    is_int(sql_int(&f, "SELECT attempt_count FROM submission_intents"), 7,
           "what was written before is there");
    is_int(operation(&f, BEGIN, &a1), SM_STORE_LEASE_LOST,
           "what the old epoch begins then is refused");
    is_int(operation(&f, COMPLETE, &a1), SM_STORE_LEASE_LOST,
           "and what it would complete");

    fixture_done(&f);
}


/* goes through all pages, and says whether what comes is in order */

static size_t
walk(fixture_t *f, sm_page_e order, size_t limit, int64_t from, int *wrong)
{
    char       id[64];
    size_t     i, total;
    int64_t    at;
    sm_page_t  page;

    memset(&page, 0, sizeof(sm_page_t));

    page.order = order;
    page.limit = limit;
    page.after_at = from;

    *wrong = 0;
    at = INT64_MIN;
    id[0] = '\0';

    for (total = 0; /* void */; total += page.n) {

        must(sm_store_queue_page(&f->store, new_call(f), &a1, &page) == 0);
        must(f->call.now == now_ms * US && page.n <= limit);

        for (i = 0; i < page.n; i++) {
            *wrong += page.rows[i].at < at
                      || (page.rows[i].at == at
                          && strcmp(page.rows[i].id.data, id) <= 0);

            at = page.rows[i].at;
            (void) snprintf(id, sizeof(id), "%.*s", (int) page.rows[i].id.len,
                            page.rows[i].id.data);
        }

        if (page.n < limit || total > 10000) {
            return total + page.n;
        }

        page.after_at = at;
        page.after_id = sm_str_c(id);
    }
}


/* how many have ended: of a target, or for a reason */

static size_t
recovered_ends(const sm_recovered_t *r, sm_str_t target, sm_exhausted_e why)
{
    size_t                      n;
    const sm_recovered_end_t   *end;

    for (n = 0, end = r->ended; end; end = end->next) {
        n += why ? end->exhausted == why : sm_str_eq(end->target, target);
    }

    return n;
}


/* "target attempts exhausted" of each target, in the order of names */

static const char *
recovered_targets(const sm_recovered_t *r)
{
    static char  text[256];

    char                          *p;
    size_t                         n;
    sm_str_t                       name, last;
    const sm_recovered_target_t   *t, *next;

    p = text;
    *p = '\0';
    last = sm_str_c("");

    for ( ;; ) {
        for (next = NULL, t = r->targets; t; t = t->next) {
            name = t->name;

            if (strncmp(name.data, last.data, name.len) > 0
                && (next == NULL
                    || strncmp(name.data, next->name.data, name.len) < 0))
            {
                next = t;
            }
        }

        if (next == NULL) {
            return text;
        }

        n = recovered_ends(r, next->name, SM_EXHAUSTED_NONE);

        p += sprintf(p, "%s%.*s %zu %zu", p == text ? "" : ", ",
                     (int) next->name.len, next->name.data, next->attempts, n);
        last = next->name;
    }
}


static void
test_pages(void)
{
    int        wrong;
    size_t     i;
    fixture_t  f, other;
    sm_page_t  page;

    static const size_t  limits[] = { 1, 3, 50, 499, 500, 501, 100000 };

    leader_open(&f, HOUR);

    memset(&page, 0, sizeof(sm_page_t));
    page.limit = 10;
    is_int(sm_store_queue_page(&f.store, new_call(&f), &a1, &page), 0,
           "a page of nothing");
    is_int(page.n, 0, "is empty");

    put(&f, "p", &push);
    put(&f, "q", &sms);
    sql(&f, "UPDATE submission_intents SET last_modified_at = 100, "
        "next_attempt_at = 900 WHERE intent_id = 'p'");
    sql(&f, "UPDATE submission_intents SET last_modified_at = 200, "
        "next_attempt_at = 800, attempt_count = 1 WHERE intent_id = 'q'");

    is_int(sm_store_queue_page(&f.store, new_call(&f), &a1, &page), 0,
           "by modification");
    must(page.n == 2);
    ok(page.rows[0].at == 100 && page.rows[0].due_at == 900
       && page.rows[1].at == 200 && page.rows[1].due_at == 800,
       "in that order, with due times");
    is_mem(page.rows[0].id.data, page.rows[0].id.len, "p", 1, "an id");
    is_mem(page.rows[0].target.data, page.rows[0].target.len, "push", 4,
           "its target");
    is_mem(page.rows[1].target.data, page.rows[1].target.len, "sms", 3,
           "another one's target");

    page.order = SM_PAGE_DUE;
    is_int(sm_store_queue_page(&f.store, new_call(&f), &a1, &page), 0,
           "by due time");
    must(page.n == 1);
    ok(page.rows[0].at == 800 && page.rows[0].due_at == 800,
       "retries alone, with due times");
    is_mem(page.rows[0].id.data, page.rows[0].id.len, "q", 1, "this one");

    /* 500 of one moment, one before it, two after it, and what is not due */

    sql(&f, "WITH RECURSIVE n (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n "
        "WHERE i < 500) INSERT INTO submission_intents "
        INTENT_COLUMNS " SELECT lease_name, "
        "'n' || (i * 7919 %% 1009), submission_target, payload_hash, "
        "gateway_type, gateway_url, policy, max_acceptance_seconds, "
        "max_attempts, terminal_outcomes, retry_delay_ms, retry_max_ms, "
        "retry_backoff_pct, retry_jitter_pct, status, NULL, NULL, NULL, "
        "attempt_count, created_at, NULL, 150, 850, NULL, NULL, NULL, payload "
        "FROM submission_intents, n WHERE intent_id = 'q'");
    sql(&f, "UPDATE submission_intents SET next_attempt_at = 900, "
        "attempt_count = 2 WHERE intent_id = 'p'");
    put(&f, "done", &sms);
    sql(&f, "UPDATE submission_intents SET next_attempt_at = NULL, "
        "last_modified_at = 150 WHERE intent_id = 'done'");

    other = f;
    store_open(&other, "main2", 10000);
    put(&other, "theirs", &push);
    sql(&f, "UPDATE submission_intents SET next_attempt_at = 850, "
        "last_modified_at = 150, attempt_count = 1 "
        "WHERE lease_name = 'main2'");

    for (i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
        is_int(walk(&f, SM_PAGE_MODIFIED, limits[i], 0, &wrong), 502,
               "pages of %zu: all are there", limits[i]);
        is_int(wrong, 0, "each once, in order");
        is_int(walk(&f, SM_PAGE_DUE, limits[i], 0, &wrong), 502,
               "by due time: all are there");
        is_int(wrong, 0, "each once, in order");
    }

    is_int(walk(&f, SM_PAGE_MODIFIED, 100, 150, &wrong), 501,
           "without an id: with all of that time");
    is_int(walk(&f, SM_PAGE_MODIFIED, 100, 151, &wrong), 1, "not before");
    is_int(walk(&f, SM_PAGE_DUE, 100, 850, &wrong), 501, "by due time too");
    is_int(walk(&f, SM_PAGE_DUE, 100, 851, &wrong), 1, "not before");

    store_close(&other);
    fixture_done(&f);
}


static void
test_recover(void)
{
    size_t          i;
    fixture_t       f;
    sm_recovered_t  r;
    sm_begin_row_t  b;

    static const size_t    pages[] = { 1, 2, 5, 6, 100, 0 };
    static const sm_str_t  all = sm_str("");

    for (i = 0; pages[i]; i++) {
        now_ms = START;
        fixture_open(&f);
        lead(&f, "b", 1000, 1);

        put(&f, "once", &once);
        put(&f, "sms", &sms);
        put(&f, "late", &sms);
        put(&f, "push", &push);
        put(&f, "last", &push);
        put(&f, "idle", &push);
        sql(&f, "UPDATE submission_intents SET attempt_count = 2 "
            "WHERE intent_id = 'last'");
        sql(&f, "UPDATE submission_intents SET created_at = %lld "
            "WHERE intent_id = 'late'", (START - 26000) * US);
        sql(&f, "INSERT INTO submission_manager_leases (lease_name, "
            "holder_id, lease_epoch, acquired_at, renewed_at, expires_at) "
            "SELECT 'main2', holder_id, 7, acquired_at, renewed_at, "
            "expires_at FROM submission_manager_leases");
        sql(&f, "INSERT INTO submission_intents "
            INTENT_COLUMNS " SELECT 'main2', intent_id, "
            "submission_target, payload_hash, gateway_type, gateway_url, "
            "policy, max_acceptance_seconds, max_attempts, terminal_outcomes, "
            "retry_delay_ms, retry_max_ms, retry_backoff_pct, "
            "retry_jitter_pct, status, NULL, NULL, NULL, 0, created_at, NULL, "
            "1, NULL, 1, 'x', 1, payload FROM submission_intents "
            "WHERE intent_id = 'push'");

        now_ms = START + 10;

        {
            sm_fence_t  b1 = { sm_str("b"), 1 };

            must(begin(&f, &b1, "once", &b) == SM_BEGIN_BEGUN);
            must(begin(&f, &b1, "sms", &b) == SM_BEGIN_BEGUN);
            must(begin(&f, &b1, "late", &b) == SM_BEGIN_BEGUN);
            must(begin(&f, &b1, "push", &b) == SM_BEGIN_BEGUN);
            must(begin(&f, &b1, "last", &b) == SM_BEGIN_BEGUN);
        }

        now_ms = START + 1000;
        lead(&f, "a", HOUR, 2);
        put(&f, "mine", &once);
        must(begin(&f, &a2, "mine", &b) == SM_BEGIN_BEGUN);

        now_ms = START + 2000;
        is_int(sm_store_attempts_recover(&f.store, new_call(&f), &a2, NULL, 0,
                                         pages[i], 12345, &r), 0,
               "recover, in pages of %zu", pages[i]);
        is_str(f.call.error, "", "nothing is wrong");
        is_int(f.call.now, now_ms * US, "SQL's time");
        is_int(r.attempts, 5, "what another epoch had in flight");
        is_int(r.retries, 2, "some are tried again");
        is_int(recovered_ends(&r, all, SM_EXHAUSTED_UNKNOWN), 1,
               "one must not be");
        is_int(recovered_ends(&r, all, SM_EXHAUSTED_DEADLINE), 1,
               "one is too late");
        is_int(recovered_ends(&r, all, SM_EXHAUSTED_MAX_ATTEMPTS), 1,
               "one was the last");
        is_int(recovered_ends(&r, all, SM_EXHAUSTED_ONE_SHOT), 0,
               "none was answered");
        is_str(recovered_targets(&r), "once 1 1, push 2 1, sms 2 1",
               "those of each target");

        is_str(intent(&f, "once"), "exhausted unknown leader_lost "
               "outcome_unknown 1 2000 2000 - - - -", "one shot: never again");
        is_str(attempts(&f, "once"), "1 1 b 10 2000 unknown leader_lost -",
               "its attempt, of the epoch and holder that began it");
        is_str(intent(&f, "sms"),
               "pending unknown leader_lost - 1 - 2000 7000 - - -",
               "deadline: after the delay");
        is_str(intent(&f, "late"), "exhausted unknown leader_lost "
               "deadline_exceeded 1 2000 2000 - - - -", "deadline: too late");
        is_str(intent(&f, "last"), "exhausted unknown leader_lost "
               "max_attempts 3 2000 2000 - - - -", "max_attempts: the last");
        is_str(attempts(&f, "last"), "3 1 b 10 2000 unknown leader_lost -",
               "the count is the authority for the number");
        is_int(sql_int(&f, "SELECT status = 'pending' AND attempt_count = 1 "
                       "AND next_attempt_at > last_modified_at "
                       "AND inflight_epoch IS NULL FROM submission_intents "
                       "WHERE lease_name = 'main' AND intent_id = 'push'"), 1,
               "max_attempts: later");

        is_str(intent(&f, "mine"), "pending - - - 0 - 1000 - 2 a 1000",
               "what this epoch has in flight is not in doubt");
        is_str(intent(&f, "idle"), "pending - - - 0 - 0 0 - - -",
               "what nobody began neither");
        is_int(sql_int(&f, "SELECT inflight_epoch FROM submission_intents "
                       "WHERE lease_name = 'main2'"), 1,
               "nor what is another manager's");

        is_int(sm_store_attempts_recover(&f.store, new_call(&f), &a2,
                                         NULL, 0, pages[i],
                                         1, &r), 0, "recover again");
        is_int(r.attempts, 0, "there is nothing left");
        is_int(begin(&f, &a2, "once", &b), SM_BEGIN_GONE,
               "what was one shot is not begun again");

        fixture_done(&f);
    }
}


/*
 * Whoever leads again knows what it has begun itself: that is not in doubt, and
 * is recorded under the new epoch as what it came to.
 */

static void
test_recover_known(void)
{
    size_t             i;
    fixture_t          f;
    sm_begin_row_t     b;
    sm_recovered_t     r;
    sm_complete_row_t  done;

    static const size_t  pages[] = { 1, 2, 100, 0 };

    for (i = 0; pages[i]; i++) {
        sm_known_row_t  known[] = {
            { sm_str("yours"), 1, 1, 1 },       /* another holder has it */
            { sm_str("sent"), 1, 1, 0 },
            { sm_str("gone"), 1, 1, 1 },        /* in flight nowhere */
            { sm_str("once"), 1, 1, 0 },
            { sm_str("again"), 2, 1, 1 },       /* another attempt of it is */
            { sm_str("older"), 1, 0, 1 }        /* as in another epoch */
        };

        now_ms = START;
        fixture_open(&f);
        lead(&f, "a", 1000, 1);

        put(&f, "once", &once);
        put(&f, "sent", &sms);
        put(&f, "yours", &sms);
        put(&f, "again", &push);
        put(&f, "older", &push);
        put(&f, "lost", &push);

        must(begin(&f, &a1, "once", &b) == SM_BEGIN_BEGUN);
        must(begin(&f, &a1, "sent", &b) == SM_BEGIN_BEGUN);
        must(begin(&f, &a1, "yours", &b) == SM_BEGIN_BEGUN);
        must(begin(&f, &a1, "again", &b) == SM_BEGIN_BEGUN);
        must(begin(&f, &a1, "older", &b) == SM_BEGIN_BEGUN);
        must(begin(&f, &a1, "lost", &b) == SM_BEGIN_BEGUN);
        sql(&f, "UPDATE submission_intents SET inflight_holder = 'b' "
            "WHERE intent_id = 'yours'");

        now_ms = START + 1000;
        lead(&f, "a", HOUR, 2);

        now_ms = START + 2000;
        is_int(sm_store_attempts_recover(&f.store, new_call(&f), &a2, known, 6,
                                         pages[i], 1, &r), 0,
               "recover what is not known, in pages of %zu", pages[i]);
        is_int(r.attempts, 4, "what is in doubt");
        is_int(known[1].in_flight, 1, "known, and in flight");
        is_int(known[3].in_flight, 1, "known, and in flight, too");
        is_int(known[0].in_flight + known[2].in_flight + known[4].in_flight
               + known[5].in_flight, 0, "the others are not");

        is_str(intent(&f, "once"), "pending - - - 0 - 0 - 1 a 0",
               "what is known stays in flight");
        is_int(begin(&f, &a2, "once", &b), SM_BEGIN_GONE,
               "so that it is not begun again");
        is_str(attempts(&f, "lost"), "1 1 a 0 2000 unknown leader_lost -",
               "what is not is unknown");

        end_row(&done, "once", 1, SM_OUTCOME_ACCEPTED, SM_STATUS_ACCEPTED);
        is_int(complete(&f, &a2, &done), 1, "it is recorded in the new epoch");
        is_str(attempts(&f, "once"), "1 1 a 1998 1999 accepted - -",
               "as an attempt of the old one");

        fixture_done(&f);
    }
}


/* what has ended is recorded and what is due is begun, in one transaction */

static void
test_turn(void)
{
    fixture_t          f;
    sm_begin_row_t     b[3];
    sm_complete_row_t  r[3];

    leader_open(&f, HOUR);

    put(&f, "done", &push);
    put(&f, "again", &push);
    put(&f, "unsent", &push);
    put(&f, "new", &push);
    put(&f, "later", &push);

    must(begin(&f, &a1, "done", b) == SM_BEGIN_BEGUN);
    must(begin(&f, &a1, "again", b) == SM_BEGIN_BEGUN);
    must(begin(&f, &a1, "unsent", b) == SM_BEGIN_BEGUN);

    sql(&f, "UPDATE submission_intents SET next_attempt_at = %lld "
        "WHERE intent_id = 'later'", (START + 700) * US);

    now_ms = START + 20;

    end_row(&r[0], "done", 1, SM_OUTCOME_ACCEPTED, SM_STATUS_ACCEPTED);
    end_row(&r[1], "again", 1, SM_OUTCOME_ERROR, SM_STATUS_PENDING);
    end_row(&r[2], "unsent", 1, SM_OUTCOME_NONE, SM_STATUS_PENDING);
    r[2].delay = 0;

    memset(b, 0xff, sizeof(b));
    b[0].id = sm_str_c("new");
    b[1].id = sm_str_c("nobody");
    b[2].id = sm_str_c("later");

    is_int(sm_store_attempts_turn(&f.store, new_call(&f), &a1, r, 3, b, 3), 0,
           "a turn");
    is_int(f.call.now, now_ms * US, "at SQL's time");

    ok(r[0].applied && r[1].applied && r[2].applied, "all is recorded");
    is_int(r[0].next_attempt_at, 0, "what is accepted is over");
    is_int(r[1].next_attempt_at, (START + 5020) * US, "an error is due again");
    is_int(r[2].next_attempt_at, START * US, "what was not sent is due");
    is_int(b[0].outcome, SM_BEGIN_BEGUN, "what is due is begun");
    is_mem(b[0].payload.data, b[0].payload.len, "new", 3, "with its payload");
    is_int(b[1].outcome, SM_BEGIN_GONE, "what is not there is gone");
    is_int(b[2].outcome, SM_BEGIN_EARLY, "what is not due is early");
    is_int(b[2].due_at, (START + 700) * US, "and when it is");

    is_str(intent(&f, "done"), "accepted accepted - - 1 20 20 - - - -",
           "in the store: recorded");
    is_str(intent(&f, "new"), "pending - - - 0 - 20 - 1 a 20", "begun");
    is_int(sql_int(&f, "SELECT count(*) FROM submission_attempts"), 2,
           "attempts appended");

    /* one that is refused on either side fails alone */

    must(begin(&f, &a1, "unsent", b) == SM_BEGIN_BEGUN);
    put(&f, "bad", &push);
    put(&f, "good", &push);

    sql_refuse(&f, "bad_turn", "BEFORE UPDATE", "submission_intents",
               "new.intent_id LIKE 'bad'", "not this one");

    end_row(&r[0], "new", 1, SM_OUTCOME_ACCEPTED, SM_STATUS_ACCEPTED);
    end_row(&r[1], "unsent", 1, SM_OUTCOME_ERROR, SM_STATUS_NONE);

    memset(b, 0, sizeof(b));
    b[0].id = sm_str_c("bad");
    b[1].id = sm_str_c("good");

    is_int(sm_store_attempts_turn(&f.store, new_call(&f), &a1, r, 2, b, 2), 0,
           "a turn with two that are refused");
    ok(r[0].applied && !r[1].applied, "the one is recorded, the other is not");
    is_int(b[0].outcome, SM_BEGIN_REFUSED, "the one is refused");
    is_int(b[1].outcome, SM_BEGIN_BEGUN, "the other is begun");
    is_str(intent(&f, "good"), "pending - - - 0 - 20 - 1 a 20", "in flight");
    is_str(intent(&f, "new"), "accepted accepted - - 1 20 20 - - - -",
           "recorded");

    /* a turn that fails leaves nothing behind */

    sql_drop_trigger(&f, "bad_turn", "submission_intents");

    end_row(&r[0], "good", 1, SM_OUTCOME_ACCEPTED, SM_STATUS_ACCEPTED);
    b[0].id = sm_str_c("bad");
    now_ms = START + HOUR;

    is_int(sm_store_attempts_turn(&f.store, new_call(&f), &a1, r, 1, b, 1), -1,
           "a turn when the lease is over");
    is_int(f.call.status, SM_STORE_LEASE_LOST, "is refused");
    is_str(intent(&f, "good"), "pending - - - 0 - 20 - 1 a 20",
           "nothing is recorded");
    is_str(intent(&f, "bad"), "pending - - - 0 - 20 20 - - -",
           "nothing is begun");

    fixture_done(&f);
}


/* a row that the store refuses fails alone */

static void
test_refused(void)
{
    char               ids[20][8];
    size_t             i, done;
    fixture_t          f;
    sm_recovered_t     recovered;
    sm_begin_row_t     b[20];
    sm_complete_row_t  r[20];

    leader_open(&f, HOUR);

    memset(b, 0, sizeof(b));

    for (i = 0; i < 20; i++) {
        (void) snprintf(ids[i], sizeof(ids[i]), "i%02zu", i);
        put(&f, ids[i], &push);
        b[i].id = sm_str_c(ids[i]);
    }

    sql_refuse(&f, "bad_begin", "BEFORE UPDATE", "submission_intents",
               "new.intent_id LIKE 'i07' AND new.inflight_epoch IS NOT NULL",
               "not this one");

    is_int(sm_store_attempts_begin(&f.store, new_call(&f), &a1, b, 20), 0,
           "begin with one that is refused");
    ok(strstr(f.call.error, "not this one") != NULL, "it says why");

    for (i = 0, done = 0; i < 20; i++) {
        done += b[i].outcome == SM_BEGIN_BEGUN;
    }

    is_int(done, 19, "the others are begun");
    is_int(b[7].outcome, SM_BEGIN_REFUSED, "that one is refused");
    ok(b[7].refused.data && strstr(b[7].refused.data, "not this one")
       && b[7].payload.data == NULL, "it says why, and is nothing else");
    is_int(sql_int(&f, "SELECT count(*) FROM submission_intents "
                   "WHERE inflight_epoch = 1"), 19, "and are in flight");

    sql_drop_trigger(&f, "bad_begin", "submission_intents");
    is_int(begin(&f, &a1, "i07", &b[7]), SM_BEGIN_BEGUN, "then that one too");

    /* one that is refused by the schema, one by its number, one by a status */

    sql_refuse(&f, "bad_end", "BEFORE INSERT", "submission_attempts",
               "new.error IS NOT NULL", "not that one");
    sql(&f, "INSERT INTO submission_attempts "
        ATTEMPT_COLUMNS " VALUES ('main', 'i11', 1, 1, 'a', "
        "1, 1, 'error', NULL, NULL)");

    for (i = 0; i < 20; i++) {
        end_row(&r[i], ids[i], 1, SM_OUTCOME_ERROR, SM_STATUS_PENDING);
    }

    r[0].error = sm_str_c("poison");
    r[19].status = SM_STATUS_NONE;

    is_int(sm_store_attempts_complete(&f.store, new_call(&f), &a1, r, 20), 0,
           "complete with three that are refused");
    ok(f.call.error[0] != '\0', "it says why: %s", f.call.error);

    for (i = 0, done = 0; i < 20; i++) {
        done += r[i].applied;
        is_int(r[i].next_attempt_at ? 1 : 0, r[i].applied, "%s", ids[i]);
    }

    is_int(done, 17, "the others are applied");
    ok(!r[0].applied && !r[11].applied && !r[19].applied, "those are not");
    is_int(sql_int(&f, "SELECT count(*) FROM submission_attempts"), 18,
           "and appended");
    is_str(intent(&f, "i00"), "pending - - - 0 - 0 - 1 a 0",
           "what was refused is as it was");

    /* they are in doubt for the next one, who cannot record all of them */

    now_ms = START + HOUR;
    lead(&f, "a", HOUR, 2);

    is_int(sm_store_attempts_recover(&f.store, new_call(&f), &a2,
                                     NULL, 0, 1, 1,
                                     &recovered), 0, "recover, one by one");
    is_int(recovered.attempts, 2, "what can be recorded is");
    ok(strstr(f.call.error, on_sqlite() ? "UNIQUE" : "duplicate key"),
       "and why not the other: %s", f.call.error);
    is_str(intent(&f, "i11"), "pending - - - 0 - 0 - 1 a 0",
           "it stays in doubt");

    /* in flight, though it is done: nothing may change it */

    sql(&f, "UPDATE submission_intents SET status = 'accepted' "
        "WHERE intent_id = 'i11'");
    is_int(sm_store_attempts_recover(&f.store, new_call(&f), &a2,
                                     NULL, 0, 1, 1,
                                     &recovered), 0, "recover again");
    is_int(recovered.attempts, 0, "nothing is recorded");
    is_str(f.call.error, "attempt 1 of intent \"i11\" is in doubt, and cannot "
           "be recorded", "it says so");

    fixture_done(&f);
}


/* the outcome counts for more than the text */

static void
test_refused_text(void)
{
    size_t             i;
    fixture_t          f;
    sm_begin_row_t     b;
    sm_complete_row_t  r[3];

    static const char  *ids[] = { "x", "y", "z" };

    leader_open(&f, HOUR);

    for (i = 0; i < 3; i++) {
        put(&f, ids[i], &once);
        must(begin(&f, &a1, ids[i], &b) == SM_BEGIN_BEGUN);
        end_row(&r[i], ids[i], 1, SM_OUTCOME_REJECTED, SM_STATUS_REJECTED);
        r[i].reason = sm_str_c("http_404");
        r[i].error = sm_str_c("HTTP 404");
        r[i].answer = sm_str_c("no");
    }

    r[1].answer = sm_str_c("poison");
    r[2].reason = sm_str_c("poison");

    sql_refuse(&f, "bad_text", "BEFORE INSERT", "submission_attempts",
               "new.answer LIKE 'poison' "
               "OR new.outcome_reason LIKE 'poison'",
               "not that text");

    is_int(sm_store_attempts_complete(&f.store, new_call(&f), &a1, r, 3), 0,
           "complete with two texts that are refused");
    ok(strstr(f.call.error, "not that text") != NULL, "it says why: %s",
       f.call.error);
    ok(r[0].applied && r[1].applied && r[2].applied, "all are recorded");

    is_str(attempts(&f, "x"), "1 1 a -2 -1 rejected http_404 HTTP 404",
           "the other one is as it was");
    is_str(attempts(&f, "y"), "1 1 a -2 -1 rejected http_404 the store refused "
           "the text of this attempt", "without the answer");
    is_str(attempts(&f, "z"), "1 1 a -2 -1 rejected not_stored the store "
           "refused the text of this attempt", "without the reason, too");
    is_int(sql_int(&f, "SELECT count(*) FROM submission_intents "
                   "WHERE status = 'rejected' AND inflight_epoch IS NULL"), 3,
           "none stays in flight");

    fixture_done(&f);
}


static void
test_bytes(void)
{
    char             *bytes;
    size_t            i;
    uint32_t          x;
    fixture_t         f;
    sm_begin_row_t    b;
    sm_submit_row_t   s;

    leader_open(&f, HOUR);

    must((bytes = malloc(102400)) != NULL);

    for (i = 0, x = 1; i < 102400; i++) {
        x = x * 1664525 + 1013904223;
        bytes[i] = (char) (x >> 24);
    }

    row_bytes(&s, "big", &push, bytes, 102400);
    must(submit(&f, &s, 1) == 0);
    row_bytes(&s, "zeros", &push, "\0a\0", 3);
    must(submit(&f, &s, 1) == 0);
    row_bytes(&s, "none", &push, "", 0);
    must(submit(&f, &s, 1) == 0);

    is_int(begin(&f, &a1, "big", &b), SM_BEGIN_BEGUN, "100 KB");
    is_mem(b.payload.data, b.payload.len, bytes, 102400, "byte for byte");
    is_int(begin(&f, &a1, "zeros", &b), SM_BEGIN_BEGUN, "with zeros");
    is_mem(b.payload.data, b.payload.len, "\0a\0", 3, "byte for byte");
    is_int(begin(&f, &a1, "none", &b), SM_BEGIN_BEGUN, "of no length");
    is_mem(b.payload.data, b.payload.len, "", 0, "no payload");

    free(bytes);
    fixture_done(&f);
}


static void
test_busy(void)
{
    int         op;
    fixture_t   f;
    sql_conn_t  db;

    now_ms = START;
    fixture_dir(&f);
    store_open(&f, "main", 1);
    lead(&f, "a", HOUR, 1);
    put(&f, "new", &push);

    db = sql_open(&f);
    sql_lock(db);

    for (op = 0; op < OPS; op++) {
        is_int(operation(&f, op, &a1),
               op < BEGIN ? SM_STORE_OK : SM_STORE_TRANSIENT,
               "%s behind a writer", ops[op]);
    }

    sql_run(db, "COMMIT");
    sql_close(db);

    is_str(intent(&f, "new"), "pending - - - 0 - 0 0 - - -",
           "nothing has changed");
    is_int(operation(&f, BEGIN, &a1), SM_STORE_OK, "then it goes on");

    fixture_done(&f);
}


/* each is a seek into one index, with and without statistics */

static void
test_plans(void)
{
    size_t         i, n;
    int            searches;
    fixture_t      f;
    sql_conn_t     db;
    const char    *detail, *search;
    sqlite3_stmt  *stmt;

    static const char  intents[] = "SEARCH submission_intents USING ";

    static const struct {
        const char  *name;
        const char  *text;
        const char  *search;            /* NULL: none */
        const char  *other;             /* a second one */
    } t[] = {
        { "queue_page_modified", sm_sqlite_sql_queue_page_modified,
          "INDEX submission_intents_modified (lease_name=? AND "
          "(last_modified_at,intent_id)>(?,?))", NULL },
        { "queue_page_due", sm_sqlite_sql_queue_page_due,
          "INDEX submission_intents_due (lease_name=? AND "
          "(next_attempt_at,intent_id)>(?,?))",
          "INDEX submission_intents_delayed (lease_name=? AND "
          "(next_attempt_at,intent_id)>(?,?))" },
        { "queue_page_live", sm_sqlite_sql_queue_page_live,
          "INDEX submission_intents_modified (lease_name=? AND "
          "(last_modified_at,intent_id)>(?,?))", NULL },
        { "attempts_begin", sm_sqlite_sql_attempts_begin,
          "INDEX sqlite_autoindex_submission_intents_1 (lease_name=? AND "
          "intent_id=?)", NULL },
        { "attempts_begin_mark", sm_sqlite_sql_attempts_begin_mark,
          "INTEGER PRIMARY KEY (rowid=?)", NULL },
        { "attempts_begin_expire", sm_sqlite_sql_attempts_begin_expire,
          "INTEGER PRIMARY KEY (rowid=?)", NULL },
        { "attempts_complete", sm_sqlite_sql_attempts_complete,
          "INDEX sqlite_autoindex_submission_intents_1 (lease_name=? AND "
          "intent_id=?)", NULL },
        { "attempts_complete_append", sm_sqlite_sql_attempts_complete_append,
          NULL, NULL },
        { "attempts_complete_return", sm_sqlite_sql_attempts_complete_return,
          "INDEX sqlite_autoindex_submission_intents_1 (lease_name=? AND "
          "intent_id=?)", NULL },
        { "attempts_in_doubt", sm_sqlite_sql_attempts_in_doubt,
          "INDEX submission_intents_begun (lease_name=? AND "
          "(inflight_at,intent_id)>(?,?))", NULL }
    };

    /* without statistics; of history alone; of all kinds */

    static const char  *fill[] = {
        NULL,
        "UPDATE submission_intents SET status = 'accepted', attempt_count = 1, "
        "next_attempt_at = NULL",
        "UPDATE submission_intents SET status = 'pending', attempt_count = "
        "rowid % 2, next_attempt_at = iif(rowid % 3, rowid, NULL), "
        "inflight_epoch = iif(rowid % 3, NULL, rowid % 5)"
    };

    leader_open(&f, HOUR);
    put(&f, "q", &push);
    sql(&f, "WITH RECURSIVE n (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n "
        "WHERE i < 3000) INSERT INTO submission_intents "
        INTENT_COLUMNS " SELECT lease_name, "
        "'n' || i, submission_target, payload_hash, gateway_type, gateway_url, "
        "policy, max_acceptance_seconds, max_attempts, terminal_outcomes, "
        "retry_delay_ms, retry_max_ms, retry_backoff_pct, retry_jitter_pct, "
        "status, NULL, NULL, NULL, attempt_count, created_at, NULL, i, i, "
        "NULL, NULL, NULL, payload FROM submission_intents, n "
        "WHERE intent_id = 'q'");

    n = sizeof(t) / sizeof(t[0]);

    for (i = 0; i < 3 * n; i++) {

        if (i % n == 0 && fill[i / n]) {
            db = sql_open(&f);
            sql_run(db, fill[i / n]);
            sql_run(db, "ANALYZE");
            sql_close(db);
        }

        db = sql_open(&f);
        stmt = plan_explain(db, t[i % n].text);

        for (searches = 0; sqlite3_step(stmt) == SQLITE_ROW; searches++) {
            detail = (const char *) sqlite3_column_text(stmt, 3);

            /* two that are read side by side, each in its order */

            if (t[i % n].other
                && (strcmp(detail, "MERGE (UNION ALL)") == 0
                    || strcmp(detail, "LEFT") == 0
                    || strcmp(detail, "RIGHT") == 0))
            {
                searches--;
                continue;
            }

            search = searches ? t[i % n].other : t[i % n].search;

            ok(search
               && strncmp(detail, intents, sizeof(intents) - 1) == 0
               && strcmp(detail + sizeof(intents) - 1, search) == 0,
               "%s: %s", t[i % n].name, detail);
        }

        is_int(searches, (t[i % n].search != NULL) + (t[i % n].other != NULL),
               "and no more");

        (void) sqlite3_finalize(stmt);
        sql_close(db);
    }

    fixture_done(&f);
}


/*
 * Where a recovery begins moves with renewals, as far as the oldest that is in
 * flight; and back with the clock.
 */

static void
test_recover_since(void)
{
    size_t             i, n;
    fixture_t          f;
    sm_lease_t         lease;
    sm_begin_row_t     b;
    sm_doubt_row_t    *doubts;
    sm_complete_row_t  done;

    /* a renewal, the begin of an attempt, its end, each at a time */

    static const struct {
        int64_t      at;
        const char  *begins;
        const char  *ends;
    } t[] = {
        { 10, NULL, NULL },
        { 20, "stays", NULL },
        { 30, NULL, NULL },
        { 40, "x", NULL },
        { 50, NULL, "x" },
        { 60, NULL, NULL },
        { 60, "same", NULL },
        { 70, NULL, NULL },
        { 15, "back", NULL },           /* the clock is set back */
        { 16, NULL, NULL },
        { 80, NULL, "stays" },
        { 90, NULL, NULL },
        { 14, "older", NULL },
        { 100, "last", NULL }
    };

    static const char  *left[] = { "older", "back", "same", "last" };

    leader_open(&f, HOUR);

    for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        now_ms = START;

        if (t[i].begins) {
            put(&f, t[i].begins, &push);
        }

        now_ms = START + t[i].at;

        if (t[i].begins) {
            must(begin(&f, &a1, t[i].begins, &b) == SM_BEGIN_BEGUN);

        } else if (t[i].ends) {
            end_row(&done, t[i].ends, 1, SM_OUTCOME_ACCEPTED,
                    SM_STATUS_ACCEPTED);
            must(complete(&f, &a1, &done) == 1);

        } else {
            must(sm_store_lease_renew(&f.store, new_call(&f), &a1, HOUR,
                                      &lease) == 0);
            must(lease.held);
        }
    }

    must(sm_store_lease_takeover(&f.store, new_call(&f), &a1, HOUR, &lease)
         == 0);
    must(lease.held && lease.epoch == 2);

    is_int(sm_store_attempts_in_doubt(&f.store, new_call(&f), &a2, NULL, 100,
                                      &doubts, &n), 0, "in doubt");
    is_int(n, 4, "all that is in flight");

    for (i = 0; i < 4; i++) {
        is_int(sql_int(&f, "SELECT count(*) FROM submission_intents WHERE "
                       "intent_id = '%s' AND inflight_epoch = 1", left[i]), 1,
               "%s", left[i]);
    }

    fixture_done(&f);
}


int
main(void)
{
    /* what must come to an end may not */

    (void) alarm(on_babelfish() ? 1800 : 300);

    sql_clock_start();
    must(sqlite3_auto_extension((void (*)(void)) concat_ws_set) == SQLITE_OK);

    test_begin();
    test_gone();
    test_expired();
    test_expire();
    test_page_deadlines();
    test_contracts();
    test_newer();
    test_newer_expire();
    test_expired_damaged();
    test_complete();
    test_not_applied();
    test_last();
    test_return();
    test_fences();
    test_waiting();
    test_held_open();
    test_pages();
    test_recover();
    test_recover_known();
    test_recover_since();
    test_turn();
    test_refused();
    test_refused_text();
    test_bytes();
    test_busy();

    if (on_sqlite()) {
        test_plans();
    }

    return done_testing();
}
