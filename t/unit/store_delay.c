
/*
 * Intents that wait for their not_before, on a clock that the test sets; and
 * what the store keeps of attempts for people to read.  Broken by: an attempt
 * that begins early, or a deadline that counts from the creation; a duplicate with
 * another not_before that is taken for the same; a year that is measured by
 * another clock; one refused row that takes others down, or leaves something
 * behind; a page by due time without what is delayed, or with it twice; an
 * error that outlives the attempt that it is of.
 */

#include "sql_clock.h"


#define YEAR  ((int64_t) 365 * 24 * HOUR)


static const sm_fence_t  a1 = { sm_str("a"), 1 };
static const sm_fence_t  a2 = { sm_str("a"), 2 };

static const sm_contract_t  soon = {
    .target = sm_str("soon"), .gateway_type = SM_GATEWAY_HTTP,
    .gateway_url = sm_str("https://pay/v1"), .policy = SM_POLICY_DEADLINE,
    .max_acceptance_seconds = 10, .terminal_outcomes = sm_str("http_400"),
    .retry_delay = 5000, .retry_backoff = 100
};


/* "at" is milliseconds after START */

static int
delayed(fixture_t *f, sm_submit_row_t *r, const char *id, int64_t at)
{
    row(r, id, &soon, id);
    r->posted.not_before = (START + at) * US;

    return submit(f, r, 1) == 0 ? (int) r->outcome : -1;
}


static sm_begin_e
begin(fixture_t *f, const char *id, sm_begin_row_t *r)
{
    memset(r, 0xff, sizeof(sm_begin_row_t));
    r->id = sm_str_c(id);

    must(sm_store_attempts_begin(&f->store, new_call(f), &a1, r, 1) == 0);

    return r->outcome;
}


static void
end_row(sm_complete_row_t *r, const char *id, int64_t number,
    sm_outcome_e outcome, sm_status_e status)
{
    memset(r, 0, sizeof(sm_complete_row_t));

    r->id = sm_str_c(id);
    r->number = number;
    r->epoch = a1.epoch;
    r->holder = a1.holder;
    r->started_at = r->finished_at = now_ms * US;
    r->outcome = outcome;
    r->status = status;
    r->delay = 5000;
}


static void
complete(fixture_t *f, sm_complete_row_t *r)
{
    must(sm_store_attempts_complete(&f->store, new_call(f), &a1, r, 1) == 0);
    must(r->applied);
}


static sm_intent_t *
get(fixture_t *f, const char *id)
{
    static sm_get_row_t  g;

    memset(&g, 0, sizeof(g));
    g.id = sm_str_c(id);

    must(sm_store_intents_get(&f->store, new_call(f), &g, 1) == 0);
    must(g.found);

    return &g.intent;
}


static void
test_submit(void)
{
    fixture_t         f;
    sm_intent_t      *i;
    sm_submit_row_t   r;

    leader_open(&f, 24 * HOUR);

    is_int(delayed(&f, &r, "d", 1234), SM_SUBMIT_CREATED, "a delayed one");
    is_int(r.intent.posted.not_before, (START + 1234) * US,
           "it shows its time");
    is_int(r.intent.next_attempt_at, (START + 1234) * US, "it is due then");
    is_int(r.intent.created_at, START * US, "it was created now");

    i = get(&f, "d");
    is_int(i->posted.not_before, (START + 1234) * US, "so it is stored");
    is_int(i->next_attempt_at, (START + 1234) * US, "and due");

    now_ms = START + 5000;

    is_int(delayed(&f, &r, "d", 1234), SM_SUBMIT_SAME, "a duplicate");
    is_int(r.intent.posted.not_before, (START + 1234) * US,
           "it shows what is stored");

    is_int(delayed(&f, &r, "d", 1235), SM_SUBMIT_CONFLICT, "another time");
    is_int(r.intent.posted.not_before, (START + 1234) * US,
           "it shows what is stored");
    is_int(outcome(&f, "d", &soon, "d"), SM_SUBMIT_CONFLICT, "no time");

    is_int(delayed(&f, &r, "p", 4000), SM_SUBMIT_CREATED, "one of the past");
    is_int(r.intent.posted.not_before, (START + 4000) * US,
           "it shows its time");
    is_int(r.intent.next_attempt_at, now_ms * US, "it is due now");
    is_int(get(&f, "p")->next_attempt_at, now_ms * US, "so it is stored");

    is_int(outcome(&f, "n", &soon, "n"), SM_SUBMIT_CREATED, "one without");
    is_int(get(&f, "n")->posted.not_before, 0, "has none");
    is_int(delayed(&f, &r, "n", 6000), SM_SUBMIT_CONFLICT,
           "with a time it is another");

    row(&r, "us", &soon, "us");
    r.posted.not_before = (START + 7000) * US + 123;
    is_int(submit(&f, &r, 1), 0, "with microseconds");
    is_int(get(&f, "us")->posted.not_before, (START + 7000) * US + 123,
           "they are kept");

    fixture_done(&f);
}


/* the one that is refused, its batch, and the bound, to the microsecond */

static void
test_too_far(void)
{
    size_t           i;
    fixture_t        f;
    sm_submit_row_t  r[6];

    static const sm_submit_e  t[] = {
        SM_SUBMIT_CREATED, SM_SUBMIT_TOO_FAR, SM_SUBMIT_CREATED,
        SM_SUBMIT_SAME, SM_SUBMIT_TOO_FAR, SM_SUBMIT_CREATED
    };

    leader_open(&f, 24 * HOUR);

    is_int(delayed(&f, &r[0], "year", YEAR), SM_SUBMIT_CREATED, "a year ahead");

    row(&r[0], "more", &soon, "more");
    r[0].posted.not_before = (START + YEAR) * US + 1;
    is_int(submit(&f, r, 1), 0, "a microsecond more");
    is_int(r[0].outcome, SM_SUBMIT_TOO_FAR, "is refused");
    is_int(sql_int(&f, "SELECT count(*) FROM submission_intents"), 1,
           "and not stored");

    /* "b" is refused first, and then good; "x" is there, and refused */

    must(outcome(&f, "x", &soon, "x") == SM_SUBMIT_CREATED);

    row(&r[0], "a", &soon, "a");
    row(&r[1], "b", &soon, "b");
    row(&r[2], "b", &soon, "b");
    row(&r[3], "a", &soon, "a");
    row(&r[4], "x", &soon, "x");
    row(&r[5], "c", &soon, "c");
    r[1].posted.not_before = r[4].posted.not_before = (START + YEAR + 1) * US;
    r[5].posted.not_before = (START + YEAR) * US;

    is_int(submit(&f, r, 6), 0, "a batch");

    for (i = 0; i < 6; i++) {
        is_int(r[i].outcome, t[i], "row %zu", i);
    }

    is_int(sql_int(&f, "SELECT count(*) FROM submission_intents"), 5,
           "the others are stored");

    /* every row of a batch */

    row(&r[0], "d", &soon, "d");
    row(&r[1], "e", &soon, "e");
    r[0].posted.not_before = r[1].posted.not_before = (START + YEAR + 1) * US;
    is_int(submit(&f, r, 2), 0, "a batch of such rows");
    ok(r[0].outcome == SM_SUBMIT_TOO_FAR && r[1].outcome == SM_SUBMIT_TOO_FAR,
       "all are refused");

    fixture_done(&f);
}


static void
test_begin(void)
{
    fixture_t          f;
    sm_begin_row_t     b;
    sm_doubt_row_t    *doubts;
    sm_lease_t         lease;
    sm_submit_row_t    r;
    sm_complete_row_t  done;
    size_t             n;

    leader_open(&f, 24 * HOUR);

    must(delayed(&f, &r, "d", HOUR) == SM_SUBMIT_CREATED);
    must(delayed(&f, &r, "e", HOUR) == SM_SUBMIT_CREATED);
    must(delayed(&f, &r, "p", -HOUR) == SM_SUBMIT_CREATED);

    now_ms = START + HOUR - 1;
    is_int(begin(&f, "d", &b), SM_BEGIN_EARLY, "it is early");
    is_int(b.due_at, (START + HOUR) * US, "until its time");

    now_ms = START + HOUR;
    is_int(begin(&f, "d", &b), SM_BEGIN_BEGUN, "at its time it begins");
    is_int(b.due_at, (START + HOUR) * US, "due since then");
    is_int(b.created_at, (START + HOUR) * US, "and counted from then");
    ok(get(&f, "d")->in_flight, "it is in flight");

    end_row(&done, "d", 1, SM_OUTCOME_ERROR, SM_STATUS_PENDING);
    complete(&f, &done);
    ok(!get(&f, "d")->in_flight, "and not any more");

    now_ms = START + HOUR + 9999;
    is_int(begin(&f, "d", &b), SM_BEGIN_BEGUN,
           "10 seconds from its time are not over");

    /* in doubt: counted from the same time */

    must(sm_store_lease_takeover(&f.store, new_call(&f), &a1, HOUR, &lease)
         == 0 && lease.held);
    must(sm_store_attempts_in_doubt(&f.store, new_call(&f), &a2, NULL, 10,
                                    &doubts, &n) == 0);
    must(n == 1);
    is_int(doubts[0].created_at, (START + HOUR) * US,
           "so is one that is in doubt");

    fixture_done(&f);
    leader_open(&f, 24 * HOUR);

    must(delayed(&f, &r, "e", HOUR) == SM_SUBMIT_CREATED);
    must(delayed(&f, &r, "p", -HOUR) == SM_SUBMIT_CREATED);

    now_ms = START + 9999;
    is_int(begin(&f, "p", &b), SM_BEGIN_BEGUN,
           "one of the past is counted from its creation");
    is_int(b.created_at, START * US, "that is");

    now_ms = START + HOUR + 10000;
    is_int(begin(&f, "e", &b), SM_BEGIN_EXPIRED,
           "10 seconds after its time it is late");
    is_int(b.created_at, (START + HOUR) * US, "counted from its time");

    fixture_done(&f);
}


static void
test_pages(void)
{
    int                pages;
    char               seen[64], last[32];
    size_t             i;
    int64_t            limit;
    fixture_t          f;
    sm_page_t          page;
    sm_begin_row_t     b;
    sm_submit_row_t    r;
    sm_complete_row_t  done;

    leader_open(&f, 24 * HOUR);

    must(delayed(&f, &r, "d3", 3000) == SM_SUBMIT_CREATED);
    must(delayed(&f, &r, "d1", 1000) == SM_SUBMIT_CREATED);
    must(delayed(&f, &r, "d9", HOUR) == SM_SUBMIT_CREATED);
    must(outcome(&f, "n", &soon, "n") == SM_SUBMIT_CREATED);
    must(delayed(&f, &r, "t", -1) == SM_SUBMIT_CREATED);
    must(outcome(&f, "u", &soon, "u") == SM_SUBMIT_CREATED);
    must(delayed(&f, &r, "v", -1) == SM_SUBMIT_CREATED);

    /* "t" and "u" are retries at 2000; "v" is given back, and due as before */

    must(begin(&f, "t", &b) == SM_BEGIN_BEGUN);
    must(begin(&f, "u", &b) == SM_BEGIN_BEGUN);
    must(begin(&f, "v", &b) == SM_BEGIN_BEGUN);
    end_row(&done, "t", 1, SM_OUTCOME_ERROR, SM_STATUS_PENDING);
    done.delay = 2000;
    complete(&f, &done);
    end_row(&done, "u", 1, SM_OUTCOME_ERROR, SM_STATUS_PENDING);
    done.delay = 2000;
    complete(&f, &done);
    end_row(&done, "v", 1, SM_OUTCOME_NONE, SM_STATUS_PENDING);
    done.delay = 0;
    complete(&f, &done);

    for (limit = 1; limit < 9; limit++) {
        memset(&page, 0, sizeof(page));
        page.order = SM_PAGE_DUE;
        page.limit = limit;
        seen[0] = '\0';

        for (pages = 0; pages < 9; pages++) {
            must(sm_store_queue_page(&f.store, new_call(&f), &a1, &page)
                 == 0);

            for (i = 0; i < page.n; i++) {
                (void) snprintf(last, sizeof(last), "%.*s",
                                (int) page.rows[i].id.len,
                                page.rows[i].id.data);
                (void) strcat(strcat(seen, " "), last);
                page.after_at = page.rows[i].at;
                must(page.rows[i].at == page.rows[i].due_at);
            }

            page.after_id = sm_str_c(last);

            if (page.n < page.limit) {
                break;
            }
        }

        is_str(seen, " v d1 t u d3 d9", "by due time, in pages of %d",
               (int) limit);
    }

    memset(&page, 0, sizeof(page));
    page.limit = 20;
    must(sm_store_queue_page(&f.store, new_call(&f), &a1, &page) == 0);
    is_int(page.n, 7, "the order of modification has all");

    fixture_done(&f);
}


/* what is shown of attempts */

static void
test_kept(void)
{
    fixture_t          f;
    sm_str_t           text;
    sm_intent_t       *i;
    sm_begin_row_t     b;
    sm_list_row_t      l = { .limit = 5 };
    sm_history_row_t   h;
    sm_complete_row_t  done;

    static const char  answer[] =
        "<h1>'caf\xc3\xa9' \xf0\x9f\x98\x80</h1>";

    leader_open(&f, 24 * HOUR);

    must(outcome(&f, "k", &push, "k") == SM_SUBMIT_CREATED);
    is_int(get(&f, "k")->last_error.len, 0, "no error at first");

    must(begin(&f, "k", &b) == SM_BEGIN_BEGUN);
    must(sm_store_intents_list(&f.store, new_call(&f), &l, 1) == 0 && l.n == 1);
    ok(l.intents[0].in_flight, "the list shows what is in flight");

    /* not sent: no attempt, but an error */

    end_row(&done, "k", 1, SM_OUTCOME_NONE, SM_STATUS_PENDING);
    done.delay = 1;
    done.error = sm_str_c("not sent: why");
    complete(&f, &done);
    text = get(&f, "k")->last_error;
    is_mem(text.data, text.len, "not sent: why", 13, "why it was not sent");

    now_ms += 1000;
    must(begin(&f, "k", &b) == SM_BEGIN_BEGUN);
    end_row(&done, "k", 1, SM_OUTCOME_NONE, SM_STATUS_PENDING);
    done.delay = 0;
    complete(&f, &done);
    text = get(&f, "k")->last_error;
    is_mem(text.data, text.len, "not sent: why", 13,
           "given back without a word, it stays");

    must(begin(&f, "k", &b) == SM_BEGIN_BEGUN);
    end_row(&done, "k", 1, SM_OUTCOME_ERROR, SM_STATUS_PENDING);
    done.error = sm_str_c("HTTP 503");
    done.http_status = 503;
    done.answer = sm_str_c(answer);
    complete(&f, &done);
    text = get(&f, "k")->last_error;
    is_mem(text.data, text.len, "HTTP 503", 8, "the error of an attempt");

    now_ms += HOUR;
    must(begin(&f, "k", &b) == SM_BEGIN_BEGUN);
    text = get(&f, "k")->last_error;
    is_mem(text.data, text.len, "HTTP 503", 8, "while the next is in flight");

    end_row(&done, "k", 2, SM_OUTCOME_ACCEPTED, SM_STATUS_ACCEPTED);
    done.http_status = 200;
    complete(&f, &done);

    memset(&h, 0, sizeof(h));
    h.id = sm_str_c("k");
    h.limit = 10;
    must(sm_store_intent_history(&f.store, new_call(&f), &h, 1) == 0);
    must(h.found && h.n == 2);
    is_int(h.intent.last_error.len, 0, "one without an error clears it");
    is_int(h.attempts[0].http_status, 200, "the status of the last attempt");
    is_int(h.attempts[0].answer.len, 0, "without an answer");
    is_int(h.attempts[1].http_status, 503, "the status of the first");
    is_mem(h.attempts[1].answer.data, h.attempts[1].answer.len,
           answer, strlen(answer), "and its answer");

    /* what others write */

    i = get(&f, "k");
    ok(!i->stripped && i->replay_of.len == 0, "neither stripped nor a replay");
    sql(&f, "UPDATE submission_intents SET stripped_at = 5, "
        "replay_of = 'old'");
    i = get(&f, "k");
    ok(i->stripped, "stripped");
    is_mem(i->replay_of.data, i->replay_of.len, "old", 3, "a replay");

    fixture_done(&f);
}


int
main(void)
{
    sql_clock_start();

    test_submit();
    test_too_far();
    test_begin();
    test_pages();
    test_kept();

    return done_testing();
}
