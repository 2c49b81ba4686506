
/*
 * What becomes of an intent decides whether a client's submission is sent
 * again: one wrong row here loses or doubles it.  Broken by: a border that
 * moves by one microsecond or one attempt, a one_shot that is sent again when
 * nobody knows what became of it, a delay that overflows, a jitter that goes
 * beyond the contract's largest delay.
 */

#include "sm_policy.h"
#include "tap.h"


#define T0      1770033610123456                /* created */
#define SECOND  INT64_C(1000000)
#define DAY     SM_DELAY_MAX


typedef struct {
    const char      *name;

    sm_policy_e      policy;
    sm_outcome_e     outcome;
    const char      *reason;
    int64_t          number;
    int64_t          finished;                  /* after T0 */
    int64_t          retry_after;

    sm_status_e      status;
    sm_exhausted_e   exhausted;
    int64_t          delay;
} row_t;


/* 30 seconds, or 3 attempts; 5 seconds between two */

static void
contract_init(sm_contract_t *c, sm_policy_e policy)
{
    sm_contract_init(c);

    c->target = sm_str_c("sms.realtime");
    c->gateway_type = SM_GATEWAY_SMS;
    c->policy = policy;
    c->terminal_outcomes = sm_str_c("invalid_request invalid_recipient");
    c->max_acceptance_seconds = policy == SM_POLICY_DEADLINE ? 30 : 0;
    c->max_attempts = policy == SM_POLICY_MAX_ATTEMPTS ? 3 : 0;
}


#define ROW(policy, outcome, reason, number, finished, after, status,         \
            exhausted, delay)                                                 \
    { #policy " " #outcome " " #reason " " #number " " #finished " " #after,  \
      SM_POLICY_##policy, SM_OUTCOME_##outcome, reason, number, finished,     \
      after, SM_STATUS_##status, SM_EXHAUSTED_##exhausted, delay }

#define LIMIT  (30 * SECOND)
#define LAST   (25 * SECOND)                    /* and 5 s: the deadline */

static const row_t  rows[] = {

    /* accepted: the deadline itself is too late, for other policies nothing */

    ROW(DEADLINE, ACCEPTED, "", 1, 0, 0, ACCEPTED, NONE, 0),
    ROW(DEADLINE, ACCEPTED, "", 9, LIMIT - 1, 0, ACCEPTED, NONE, 0),
    ROW(DEADLINE, ACCEPTED, "", 1, LIMIT, 0, EXHAUSTED, DEADLINE, 0),
    ROW(DEADLINE, ACCEPTED, "", 1, LIMIT + 1, 0, EXHAUSTED, DEADLINE, 0),
    ROW(DEADLINE, ACCEPTED, "", 1, -1, 0, ACCEPTED, NONE, 0),
    ROW(MAX_ATTEMPTS, ACCEPTED, "", 1, 900 * LIMIT, 0, ACCEPTED, NONE, 0),
    ROW(MAX_ATTEMPTS, ACCEPTED, "", 3, 0, 0, ACCEPTED, NONE, 0),
    ROW(MAX_ATTEMPTS, ACCEPTED, "", 4, 0, 0, ACCEPTED, NONE, 0),
    ROW(ONE_SHOT, ACCEPTED, "", 1, 900 * LIMIT, 0, ACCEPTED, NONE, 0),
    ROW(ONE_SHOT, ACCEPTED, "", 2, 0, 0, ACCEPTED, NONE, 0),
    ROW(DEADLINE, ACCEPTED, "", 1, 0, 99999999, ACCEPTED, NONE, 0),

    /* a terminal rejection is one at any time, and under any policy */

    ROW(DEADLINE, REJECTED, "invalid_request", 1, 0, 0, REJECTED, NONE, 0),
    ROW(DEADLINE, REJECTED, "invalid_recipient", 1, 2 * LIMIT, 0, REJECTED,
        NONE, 0),
    ROW(MAX_ATTEMPTS, REJECTED, "invalid_recipient", 1, 0, 0, REJECTED, NONE,
        0),
    ROW(MAX_ATTEMPTS, REJECTED, "invalid_recipient", 3, 0, 0, REJECTED, NONE,
        0),
    ROW(ONE_SHOT, REJECTED, "invalid_request", 1, 0, 0, REJECTED, NONE, 0),

    /* any other is tried again; only a rejection has a terminal reason */

    ROW(DEADLINE, REJECTED, "invalid_message", 1, 0, 0, PENDING, NONE, 5000),
    ROW(DEADLINE, REJECTED, "invalid", 1, 0, 0, PENDING, NONE, 5000),
    ROW(DEADLINE, REJECTED, "invalid_request ", 1, 0, 0, PENDING, NONE, 5000),
    ROW(DEADLINE, REJECTED, "invalid_request invalid_recipient", 1, 0, 0,
        PENDING, NONE, 5000),
    ROW(DEADLINE, REJECTED, "Invalid_request", 1, 0, 0, PENDING, NONE, 5000),
    ROW(DEADLINE, REJECTED, "", 1, 0, 0, PENDING, NONE, 5000),
    ROW(DEADLINE, ERROR, "invalid_request", 1, 0, 0, PENDING, NONE, 5000),
    ROW(DEADLINE, UNKNOWN, "invalid_request", 1, 0, 0, PENDING, NONE, 5000),

    /* one_shot: never again, and "nobody knows" has a name of its own */

    ROW(ONE_SHOT, REJECTED, "invalid_message", 1, 0, 0, EXHAUSTED, ONE_SHOT,
        0),
    ROW(ONE_SHOT, ERROR, "", 1, 0, 0, EXHAUSTED, ONE_SHOT, 0),
    ROW(ONE_SHOT, ERROR, "", 1, 0, 60000, EXHAUSTED, ONE_SHOT, 0),
    ROW(ONE_SHOT, UNKNOWN, "leader_lost", 1, 0, 0, EXHAUSTED, UNKNOWN, 0),
    ROW(ONE_SHOT, UNKNOWN, "shutdown", 2, 0, 0, EXHAUSTED, UNKNOWN, 0),

    /* max_attempts: the third is the last, whenever that is */

    ROW(MAX_ATTEMPTS, ERROR, "", 1, 0, 0, PENDING, NONE, 5000),
    ROW(MAX_ATTEMPTS, ERROR, "", 2, 900 * LIMIT, 0, PENDING, NONE, 5000),
    ROW(MAX_ATTEMPTS, ERROR, "", 3, 0, 0, EXHAUSTED, MAX_ATTEMPTS, 0),
    ROW(MAX_ATTEMPTS, ERROR, "", 4, 0, 0, EXHAUSTED, MAX_ATTEMPTS, 0),
    ROW(MAX_ATTEMPTS, ERROR, "", INT64_MAX, 0, 0, EXHAUSTED, MAX_ATTEMPTS, 0),
    ROW(MAX_ATTEMPTS, REJECTED, "other", 2, 0, 0, PENDING, NONE, 5000),
    ROW(MAX_ATTEMPTS, REJECTED, "other", 3, 0, 0, EXHAUSTED, MAX_ATTEMPTS, 0),
    ROW(MAX_ATTEMPTS, UNKNOWN, "", 2, 0, 0, PENDING, NONE, 5000),
    ROW(MAX_ATTEMPTS, UNKNOWN, "", 3, 0, 0, EXHAUSTED, MAX_ATTEMPTS, 0),

    /* deadline: the next one must be due strictly before it */

    ROW(DEADLINE, ERROR, "", 1, LAST - 1, 0, PENDING, NONE, 5000),
    ROW(DEADLINE, ERROR, "", 1, LAST, 0, EXHAUSTED, DEADLINE, 0),
    ROW(DEADLINE, ERROR, "", 1, LAST + 1, 0, EXHAUSTED, DEADLINE, 0),
    ROW(DEADLINE, ERROR, "", 1, 2 * LIMIT, 0, EXHAUSTED, DEADLINE, 0),
    ROW(DEADLINE, REJECTED, "other", 1, LAST - 1, 0, PENDING, NONE, 5000),
    ROW(DEADLINE, REJECTED, "other", 1, LAST, 0, EXHAUSTED, DEADLINE, 0),
    ROW(DEADLINE, UNKNOWN, "", 1, LAST - 1, 0, PENDING, NONE, 5000),
    ROW(DEADLINE, UNKNOWN, "", 1, LAST, 0, EXHAUSTED, DEADLINE, 0),
    ROW(DEADLINE, ERROR, "", 999999, 0, 0, PENDING, NONE, 5000),

    /* Retry-After is the least delay, up to a day */

    ROW(DEADLINE, ERROR, "", 1, 0, 1, PENDING, NONE, 5000),
    ROW(DEADLINE, ERROR, "", 1, 0, 4999, PENDING, NONE, 5000),
    ROW(DEADLINE, ERROR, "", 1, 0, 5001, PENDING, NONE, 5001),
    ROW(DEADLINE, ERROR, "", 1, 0, 29999, PENDING, NONE, 29999),
    ROW(DEADLINE, ERROR, "", 1, 0, 30000, EXHAUSTED, DEADLINE, 0),
    ROW(DEADLINE, ERROR, "", 1, 0, INT64_MAX, EXHAUSTED, DEADLINE, 0),
    ROW(MAX_ATTEMPTS, ERROR, "", 1, 0, 60000, PENDING, NONE, 60000),
    ROW(MAX_ATTEMPTS, REJECTED, "other", 1, 0, 60000, PENDING, NONE, 60000),
    ROW(MAX_ATTEMPTS, ERROR, "", 1, 0, INT64_MAX, PENDING, NONE, DAY),
    ROW(MAX_ATTEMPTS, ERROR, "", 1, 0, -1, PENDING, NONE, 5000),

    /* not sent: nothing has happened */

    ROW(DEADLINE, NONE, "", 1, 2 * LIMIT, 0, PENDING, NONE, 0),
    ROW(MAX_ATTEMPTS, NONE, "", 3, 0, 60000, PENDING, NONE, 0),
    ROW(ONE_SHOT, NONE, "", 1, 0, 0, PENDING, NONE, 0)
};


static void
test_table(void)
{
    size_t           i;
    sm_contract_t    c;
    sm_policy_in_t   in;
    sm_policy_out_t  out;

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        contract_init(&c, rows[i].policy);

        memset(&in, 0, sizeof(in));
        memset(&out, 0x55, sizeof(out));

        in.contract = &c;
        in.created_at = T0;
        in.number = rows[i].number;
        in.finished_at = T0 + rows[i].finished;
        in.outcome = rows[i].outcome;
        in.reason = sm_str_c(rows[i].reason);
        in.retry_after = rows[i].retry_after;
        in.random = UINT32_MAX;

        sm_policy(&in, &out);

        is_int(out.status, rows[i].status, "%s: the intent", rows[i].name);
        is_int(out.exhausted, rows[i].exhausted, "%s: why", rows[i].name);
        is_int(out.delay, rows[i].delay, "%s: the delay", rows[i].name);
    }
}


static void
test_no_terminal_outcomes(void)
{
    sm_contract_t    c;
    sm_policy_in_t   in;
    sm_policy_out_t  out;

    contract_init(&c, SM_POLICY_MAX_ATTEMPTS);
    memset(&in, 0, sizeof(in));

    in.contract = &c;
    in.number = 1;
    in.outcome = SM_OUTCOME_REJECTED;
    in.reason = sm_str_c("invalid_request");

    c.terminal_outcomes = sm_str_c("");
    sm_policy(&in, &out);
    is_int(out.status, SM_STATUS_PENDING, "no terminal outcomes, a reason");

    in.reason = sm_str_c("");
    sm_policy(&in, &out);
    is_int(out.status, SM_STATUS_PENDING, "no terminal outcomes, no reason");

    c.terminal_outcomes = sm_str_c("a b invalid_request");
    in.reason.data = NULL;
    sm_policy(&in, &out);
    is_int(out.status, SM_STATUS_PENDING, "a reason without data");

    in.reason = sm_str_c("b");
    sm_policy(&in, &out);
    is_int(out.status, SM_STATUS_REJECTED, "one in the middle of the list");

    in.reason = sm_str_c("invalid_request");
    sm_policy(&in, &out);
    is_int(out.status, SM_STATUS_REJECTED, "one at the end of the list");
}


static void
test_deadline(void)
{
    sm_contract_t    c;
    sm_policy_in_t   in;
    sm_policy_out_t  out;

    contract_init(&c, SM_POLICY_DEADLINE);

    is_int(sm_policy_deadline(&c, T0), T0 + LIMIT, "the deadline");
    is_int(sm_policy_deadline(&c, 0), LIMIT, "the deadline since 1970");
    is_int(sm_policy_deadline(&c, INT64_MAX - LIMIT), INT64_MAX,
           "the last deadline there is");
    is_int(sm_policy_deadline(&c, INT64_MAX - 1), INT64_MAX,
           "a deadline beyond time");

    c.max_acceptance_seconds = INT64_MAX;
    is_int(sm_policy_deadline(&c, 0), INT64_MAX, "an endless deadline");

    c.max_acceptance_seconds = SM_ACCEPTANCE_MAX;
    is_int(sm_policy_deadline(&c, T0), T0 + SM_ACCEPTANCE_MAX * SECOND,
           "the longest deadline");

    contract_init(&c, SM_POLICY_MAX_ATTEMPTS);
    c.max_acceptance_seconds = 1;
    is_int(sm_policy_deadline(&c, T0), INT64_MAX, "max_attempts has none");

    contract_init(&c, SM_POLICY_ONE_SHOT);
    c.max_acceptance_seconds = 1;
    is_int(sm_policy_deadline(&c, T0), INT64_MAX, "one_shot has none");

    memset(&in, 0, sizeof(in));

    in.contract = &c;
    in.number = 1;
    in.finished_at = INT64_MAX;
    in.outcome = SM_OUTCOME_ERROR;

    contract_init(&c, SM_POLICY_MAX_ATTEMPTS);
    sm_policy(&in, &out);
    is_int(out.status, SM_STATUS_PENDING, "the end of time, no deadline");

    contract_init(&c, SM_POLICY_DEADLINE);
    sm_policy(&in, &out);
    is_int(out.exhausted, SM_EXHAUSTED_DEADLINE, "the end of time, too late");
}


static void
test_backoff(void)
{
    size_t         i;
    sm_contract_t  c;

    static const struct {
        int64_t  delay;
        int64_t  backoff;
        int64_t  max;
        int64_t  number;
        int64_t  expected;
    } t[] = {
        { 5000, 100, 0, 1, 5000 },
        { 5000, 100, 0, 2, 5000 },
        { 5000, 100, 0, INT64_MAX, 5000 },
        { 5000, 100, 5000, 7, 5000 },

        { 5000, 200, 0, 0, 5000 },
        { 5000, 200, 0, INT64_MIN, 5000 },
        { 5000, 200, 0, 1, 5000 },
        { 5000, 200, 0, 2, 10000 },
        { 5000, 200, 0, 3, 20000 },
        { 5000, 200, 0, 15, 81920000 },
        { 5000, 200, 0, 16, DAY },
        { 5000, 200, 0, 1000000, DAY },
        { 5000, 200, 0, INT64_MAX, DAY },

        { 5000, 200, 20000, 3, 20000 },
        { 5000, 200, 20000, 4, 20000 },
        { 5000, 200, 19999, 3, 19999 },
        { 5000, 200, 20001, 3, 20000 },
        { 5000, 200, 20001, 4, 20001 },
        { 5000, 200, DAY, 99, DAY },
        { 5000, 200, INT64_MAX, 99, DAY },

        { 1000, 110, 0, 2, 1100 },
        { 1000, 110, 0, 3, 1210 },
        { 1000, 110, 0, 4, 1331 },
        { 250, 150, 0, 2, 375 },
        { 250, 150, 0, 3, 563 },                /* 562.5 */
        { 250, 150, 0, 4, 844 },                /* 843.75 */

        /* a small delay grows, however small the factor */

        { 1, 101, 0, 41, 1 },                   /* 1.489 */
        { 1, 101, 0, 42, 2 },                   /* 1.504 */
        { 1, 101, 0, 71, 2 },                   /* 2.007 */
        { 1, 101, 0, INT64_MAX, DAY },

        { 1, 10000, 0, 1, 1 },
        { 1, 10000, 0, 2, 100 },
        { 1, 10000, 0, 4, 1000000 },
        { 1, 10000, 0, 5, DAY },
        { DAY, 10000, 0, 1, DAY },
        { DAY, 10000, 0, 2, DAY },
        { DAY, 10000, DAY, INT64_MAX, DAY },

        /* a row that no configuration could have written */

        { 0, 100, 0, 1, 1 },
        { -5, 200, 0, 1, 1 },
        { 5000, 0, 0, 9, 5000 },
        { 5000, -200, 0, 9, 5000 },
        { 5000, 100, -1, 1, 5000 },
        { INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX, DAY },
        { INT64_MIN, INT64_MIN, INT64_MIN, INT64_MIN, 1 }
    };

    for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        contract_init(&c, SM_POLICY_MAX_ATTEMPTS);

        c.retry_delay = t[i].delay;
        c.retry_backoff = t[i].backoff;
        c.retry_max = t[i].max;

        is_int(sm_policy_delay(&c, t[i].number, UINT32_MAX), t[i].expected,
               "%" PRId64 " ms, %" PRId64 " %%, at most %" PRId64
               ", after attempt %" PRId64, t[i].delay, t[i].backoff,
               t[i].max, t[i].number);
    }
}


static void
test_jitter(void)
{
    size_t         i;
    unsigned       bad;
    int64_t        delay, before, sum;
    uint32_t       r;
    sm_contract_t  c;

    static const struct {
        int64_t    delay;
        int64_t    jitter;
        int64_t    least;
    } t[] = {
        { 5000, 0, 5000 },
        { 5000, 1, 4950 },
        { 5000, 20, 4000 },
        { 5000, 50, 2500 },
        { 5000, 100, 1 },
        { 1, 100, 1 },
        { 3, 50, 2 },
        { DAY, 20, 69120000 },
        { DAY, 100, 1 },
        { 5000, -1, 5000 },
        { 5000, 101, 1 },
        { 5000, INT64_MAX, 1 },
        { 5000, INT64_MIN, 5000 }
    };

    contract_init(&c, SM_POLICY_MAX_ATTEMPTS);

    for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        c.retry_delay = t[i].delay;
        c.retry_jitter = t[i].jitter;

        is_int(sm_policy_delay(&c, 1, 0), t[i].delay,
               "%" PRId64 " ms, jitter %" PRId64 ": the longest", t[i].delay,
               t[i].jitter);
        is_int(sm_policy_delay(&c, 1, UINT32_MAX), t[i].least,
               "%" PRId64 " ms, jitter %" PRId64 ": the shortest", t[i].delay,
               t[i].jitter);

        bad = 0;
        before = t[i].delay;

        for (r = 0; r < UINT32_MAX - 65537; r += 65537) {
            delay = sm_policy_delay(&c, 1, r);
            bad += delay > before || delay < t[i].least;
            before = delay;
        }

        is_int(bad, 0, "%" PRId64 " ms, jitter %" PRId64 ": within",
               t[i].delay, t[i].jitter);
    }

    /* spread evenly: half of it on average */

    c.retry_delay = 5000;
    c.retry_jitter = 20;
    sum = 0;

    for (i = 0; i < 65536; i++) {
        sum += sm_policy_delay(&c, 1, (uint32_t) i << 16);
    }

    is_int((sum + 32768) / 65536, 4500, "on average, half of the jitter");

    /* it comes after the limit, so that many at the limit do not meet */

    c.retry_backoff = 200;
    c.retry_max = 20000;

    is_int(sm_policy_delay(&c, 99, 0), 20000, "at the limit, the longest");
    is_int(sm_policy_delay(&c, 99, UINT32_MAX), 16000,
           "at the limit, the shortest");
}


static void
test_unsent(void)
{
    size_t         i;
    sm_contract_t  c;

    static const struct {
        int64_t  delay;
        int64_t  expected;
    } t[] = {
        { 1, 1000 }, { 999, 1000 }, { 1000, 1000 }, { 5000, 5000 },
        { 30000, 30000 }, { 30001, 30000 }, { DAY, 30000 }
    };

    contract_init(&c, SM_POLICY_ONE_SHOT);

    for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        c.retry_delay = t[i].delay;

        is_int(sm_policy_unsent(&c, 1, 0), t[i].expected,
               "not sent, %" PRId64 " ms", t[i].delay);
    }

    c.retry_delay = 10000;
    c.retry_jitter = 50;
    is_int(sm_policy_unsent(&c, 1, UINT32_MAX), 5000,
           "not sent, the shortest");

    /* less and less often */

    c.retry_delay = 3000;
    c.retry_jitter = 0;
    is_int(sm_policy_unsent(&c, 0, 0), 3000, "not sent, none in a row");
    is_int(sm_policy_unsent(&c, 2, 0), 6000, "not sent, the second in a row");
    is_int(sm_policy_unsent(&c, 4, 0), 24000, "not sent, the fourth");
    is_int(sm_policy_unsent(&c, 5, 0), 30000, "not sent, the fifth");
    is_int(sm_policy_unsent(&c, UINT64_MAX, 0), 30000, "not sent, for ever");
}


static void
test_retry_after_with_jitter(void)
{
    sm_contract_t    c;
    sm_policy_in_t   in;
    sm_policy_out_t  out;

    contract_init(&c, SM_POLICY_MAX_ATTEMPTS);
    c.retry_jitter = 100;

    memset(&in, 0, sizeof(in));

    in.contract = &c;
    in.number = 1;
    in.outcome = SM_OUTCOME_ERROR;
    in.retry_after = 3000;
    in.random = UINT32_MAX;

    sm_policy(&in, &out);
    is_int(out.delay, 3000, "the jitter does not go below Retry-After");

    in.random = 0;
    sm_policy(&in, &out);
    is_int(out.delay, 5000, "Retry-After does not shorten the delay");

    c.retry_max = 5000;
    in.retry_after = 7000;
    sm_policy(&in, &out);
    is_int(out.delay, 7000, "Retry-After may be longer than the limit");

    c.retry_backoff = 300;
    c.retry_max = 0;
    c.max_attempts = 9;
    in.number = 3;
    in.retry_after = 0;
    sm_policy(&in, &out);
    is_int(out.delay, 45000, "the number of the attempt is the delay's");
}


static void
test_schedule(void)
{
    size_t         i;
    sm_contract_t  c;

    static const struct {
        const char  *list;
        int64_t      number;
        int64_t      delay;
    } t[] = {
        { "5000", 1, 5000 }, { "5000", 2, 5000 }, { "5000", 1000000, 5000 },
        { "5000 300000 1500 7200000", 1, 5000 },
        { "5000 300000 1500 7200000", 2, 300000 },
        { "5000 300000 1500 7200000", 3, 1500 },
        { "5000 300000 1500 7200000", 4, 7200000 },
        { "5000 300000 1500 7200000", 5, 7200000 },
        { "5000 300000 1500 7200000", INT64_MAX, 7200000 },
        { "86400000", 3, DAY },

        /* what another version may have written: nothing breaks */

        { " 7  8 ", 2, 8 }, { "x", 1, 1 }, { "5 99999999999999999999", 2, 5 },
    };

    contract_init(&c, SM_POLICY_MAX_ATTEMPTS);
    c.retry_backoff = 300;
    c.retry_max = 6000;

    for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        c.retry_schedule = sm_str_c(t[i].list);
        is_int(sm_policy_delay(&c, t[i].number, 0), t[i].delay,
               "\"%s\": after attempt %" PRId64, t[i].list, t[i].number);
    }

    c.retry_schedule = sm_str_c("1000 10000");
    c.retry_jitter = 50;
    is_int(sm_policy_delay(&c, 2, 0), 10000, "with jitter: at most all of it");
    is_int(sm_policy_delay(&c, 2, UINT32_MAX), 5000, "and at least half");
    is_int(sm_policy_unsent(&c, 1, 0), 1000, "what was not sent: the first one");
}


int
main(void)
{
    needs_no_store();

    test_table();
    test_no_terminal_outcomes();
    test_deadline();
    test_backoff();
    test_schedule();
    test_jitter();
    test_unsent();
    test_retry_after_with_jitter();

    return done_testing();
}
