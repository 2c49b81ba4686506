
/*
 * The instances of a cluster, in the embedded store and in GET /v1/cluster: a
 * heartbeat keeps one alive until its end by SQL's clock, and the lease's row
 * alone says who leads.  Broken by: an instance that is listed after its end,
 * or never cleared away, a start that moves while it lives, another lease's
 * instances, a text that outgrows its size.
 */

#include "sql_clock.h"


/* "started" is milliseconds after START, -1: it starts now, and is told */

static int64_t  told;


static int
beat(fixture_t *f, const char *holder, const char *role, const char *version,
    int64_t duration, int64_t started)
{
    int             rc;
    sm_candidate_t  candidate = {
        .holder = sm_str_c(holder), .role = sm_str_c(role),
        .version = sm_str_c(version),
        .started_at = started == -1 ? 0 : (START + started) * 1000
    };

    rc = sm_store_candidate_heartbeat(&f->store, new_call(f), &candidate,
                                      duration);

    told = candidate.started_at / 1000 - START;

    return rc;
}


static int
heartbeat(fixture_t *f, const char *holder, const char *role,
    const char *version, int64_t duration)
{
    return beat(f, holder, role, version, duration, -1);
}


static int
candidate_remove(fixture_t *f, const char *holder)
{
    return sm_store_candidate_remove(&f->store, new_call(f), sm_str_c(holder));
}


static int
cluster_get(fixture_t *f, sm_cluster_t *cluster)
{
    memset(cluster, 0xff, sizeof(sm_cluster_t));

    return sm_store_cluster_get(&f->store, new_call(f), cluster);
}


static const char *
candidates_text(fixture_t *f)
{
    return sql_text(f, "SELECT group_concat(line, ', ') FROM (SELECT "
                    "lease_name || ' ' || holder_id || ' ' || role || ' ' "
                    "|| version || ' ' || (started_at / 1000 - %lld) || ' ' "
                    "|| (heartbeat_at / 1000 - %lld) || ' ' "
                    "|| (expires_at / 1000 - %lld) AS line "
                    "FROM submission_manager_candidates "
                    "ORDER BY lease_name, holder_id) AS c", START, START,
                    START);
}


static void
test_candidates(void)
{
    fixture_t  f, other;

    now_ms = START;
    fixture_open(&f);

    is_int(heartbeat(&f, "a", "follower", "0.1", 300), 0, "a heartbeat");
    is_str(candidates_text(&f), "main a follower 0.1 0 0 300", "is kept");
    is_int(told, 0, "it has started now");

    now_ms = START + 100;
    is_int(beat(&f, "a", "leader", "0.2", 400, 0), 0, "the next");
    is_str(candidates_text(&f), "main a leader 0.2 0 100 500",
           "it started when it did, the rest is new");
    is_int(told, 0, "that it knows");

    now_ms = START + 499;
    is_int(beat(&f, "a", "leader", "0.2", 1, 0), 0, "just in time");
    is_str(candidates_text(&f), "main a leader 0.2 0 499 500",
           "it is the same one");

    now_ms = START + 500;
    is_int(beat(&f, "a", "leader", "0.2", 10, 0), 0, "too late");
    is_str(candidates_text(&f), "main a leader 0.2 0 500 510",
           "an outage does not change when it started");

    now_ms = START + 520;
    is_int(heartbeat(&f, "b", "follower", "0.2", 5), 0,
           "another one clears it away");
    now_ms = START + 530;
    is_int(beat(&f, "a", "leader", "0.2", 300, 0), 0, "and it comes back");
    is_str(candidates_text(&f), "main a leader 0.2 0 530 830",
           "that does not, either");

    now_ms = START + 540;
    is_int(heartbeat(&f, "a", "leader", "0.2", 300), 0, "a restart");
    is_str(candidates_text(&f), "main a leader 0.2 540 540 840",
           "it has started anew, though the old entry lasts");
    is_int(told, 540, "and knows when");

    now_ms = START + 600;
    is_int(heartbeat(&f, "b", "follower", "0.2", 100), 0, "another one");

    other = f;
    store_open(&other, "main2", 10000);

    is_int(heartbeat(&other, "a", "follower", "0.2", 50), 0,
           "the same name, for another lease");

    is_str(candidates_text(&f), "main a leader 0.2 540 540 840, "
           "main b follower 0.2 600 600 700, "
           "main2 a follower 0.2 600 600 650", "three");

    now_ms = START + 699;
    is_int(heartbeat(&f, "c", "follower", "0.2", 1000), 0, "a fourth");
    ok(strstr(candidates_text(&f), "main b ") != NULL, "the others live");

    now_ms = START + 700;
    is_int(beat(&f, "c", "follower", "0.2", 1000, 699), 0,
           "another heartbeat");
    is_str(candidates_text(&f), "main a leader 0.2 540 540 840, "
           "main c follower 0.2 699 700 1700, "
           "main2 a follower 0.2 600 600 650",
           "clears away what is dead, of its own lease");

    is_int(candidate_remove(&f, "a"), 0, "remove");
    is_str(candidates_text(&f), "main c follower 0.2 699 700 1700, "
           "main2 a follower 0.2 600 600 650", "only that one");

    is_int(candidate_remove(&f, "a"), 0, "again");
    is_int(candidate_remove(&f, "nobody"), 0,
           "somebody who was never there");
    is_str(candidates_text(&f), "main c follower 0.2 699 700 1700, "
           "main2 a follower 0.2 600 600 650", "that changes nothing");

    is_int(sql_int(&f, "SELECT count(*) FROM submission_manager_leases"), 0,
           "a candidate holds nothing");

    store_close(&other);
    fixture_done(&f);
}


static const char *
cluster_text(const sm_cluster_t *cluster, const char *self)
{
    static char  buf[65536];

    sm_out_t  out;

    sm_out_init(&out, buf, sizeof(buf) - 1);
    sm_cluster_out(&out, cluster, sm_str_c(self));
    *out.last = '\0';

    return buf;
}


/* whoever reads the lease is told where its holder is told, and of no other */

static void
watched(fixture_t *f, const char *holder, int64_t epoch, const char *url,
    const char *what)
{
    sm_str_t    s;
    sm_lease_t  l;

    memset(&s, 0xff, sizeof(sm_str_t));
    memset(&l, 0xff, sizeof(sm_lease_t));

    is_int(sm_store_lease_watch(&f->store, new_call(f), &l, &s), 0, "%s",
           what);
    is_int(l.now, now_ms * US, "SQL's time");
    ok(!l.held, "one only looks");
    is_int(l.exists ? l.epoch : 0, epoch, "the epoch");

    if (holder) {
        is_mem(l.holder.data, l.holder.len, holder, strlen(holder), "of");
    }

    if (url) {
        is_mem(s.data, s.len, url, strlen(url), "the URL");

    } else {
        ok(s.data == NULL && s.len == 0, "no URL");
    }
}


static void
beat_at(fixture_t *f, const char *holder, const char *url, int64_t duration)
{
    sm_candidate_t  candidate = {
        .holder = sm_str_c(holder), .role = sm_str_c("follower"),
        .version = sm_str_c("1")
    };

    if (url) {
        candidate.wake_url = sm_str_c(url);
    }

    is_int(sm_store_candidate_heartbeat(&f->store, new_call(f), &candidate,
                                        duration),
           0, "a heartbeat of %s", holder);
}


static void
test_watch(void)
{
    fixture_t   f, other;
    sm_lease_t  l;
    sm_fence_t  fence;

    now_ms = START;
    fixture_open(&f);

    watched(&f, NULL, 0, NULL, "there is no lease");

    beat_at(&f, "a", "http://10.0.0.1:80/_wake", 60000);
    beat_at(&f, "b", "http://10.0.0.2:80/_wake", 60000);
    watched(&f, NULL, 0, NULL, "nobody has it");

    is_int(sm_store_lease_acquire(&f.store, new_call(&f), sm_str_c("b"), 1000,
                                  &l),
           0, "acquire");
    watched(&f, "b", 1, "http://10.0.0.2:80/_wake", "one leads");

    beat_at(&f, "b", "http://[fe80::1]:8080/a?b", 60000);
    watched(&f, "b", 1, "http://[fe80::1]:8080/a?b", "it has moved");

    beat_at(&f, "b", NULL, 60000);
    watched(&f, "b", 1, NULL, "it is not told any more");

    is_int(candidate_remove(&f, "b"), 0, "remove");
    watched(&f, "b", 1, NULL, "it has gone");

    other = f;
    store_open(&other, "main2", 10000);
    beat_at(&other, "b", "http://10.0.0.3:80/_wake", 60000);
    watched(&f, "b", 1, NULL, "that of the same name is another's");
    store_close(&other);

    fence.holder = sm_str_c("b");
    fence.epoch = 1;
    is_int(sm_store_lease_release(&f.store, new_call(&f), &fence, &l), 0,
           "release");
    is_int(sm_store_lease_acquire(&f.store, new_call(&f), sm_str_c("a"), 1000,
                                  &l),
           0, "another one");
    watched(&f, "a", 2, "http://10.0.0.1:80/_wake", "leads");

    fixture_done(&f);
}


#define A_2001  "\"2001-09-09T01:46:40.000000Z\""


/* acquired once, never renewed; times are milliseconds after START */

static void
lease_is(const sm_lease_t *lease, const char *holder, int64_t epoch,
    int64_t acquired, int64_t expires)
{
    ok(lease->exists && !lease->held, "the lease, at which one only looks");
    is_mem(lease->holder.data, lease->holder.len, holder, strlen(holder),
           "its holder");
    is_int(lease->epoch, epoch, "its epoch");
    is_int(lease->acquired_at, (START + acquired) * US, "when acquired");
    is_int(lease->renewed_at, (START + acquired) * US, "when renewed");
    is_int(lease->expires_at, (START + expires) * US, "when it expires");
    is_int(lease->now, now_ms * US, "SQL's time");
}


static void
test_cluster_get(void)
{
    int           i, in_order;
    char          holder[16];
    fixture_t     f;
    sm_lease_t    l;
    sm_cluster_t  c;

    now_ms = START;
    fixture_open(&f);

    is_int(cluster_get(&f, &c), 0, "a cluster of nobody");
    ok(!c.lease.exists && c.n == 0, "no lease, no instances");
    is_int(c.lease.now, now_ms * US, "SQL's time");
    is_str(cluster_text(&c, "a"), "{\"lease\":null,\"instance\":{"
           "\"holderId\":\"a\",\"role\":\"follower\"},\"instances\":[]}",
           "in words");

    is_int(heartbeat(&f, "b", "leader", "0.1", 1000), 0, "b lives");
    is_int(cluster_get(&f, &c), 0, "without a lease");
    ok(!c.lease.exists && c.n == 1, "b alone");
    is_mem(c.candidates[0].role.data, c.candidates[0].role.len, "leader", 6,
           "what it said of itself");
    is_str(cluster_text(&c, "b"), "{\"lease\":null,\"instance\":{"
           "\"holderId\":\"b\",\"role\":\"follower\"},\"instances\":["
           "{\"holderId\":\"b\",\"role\":\"follower\",\"version\":\"0.1\","
           "\"startedAt\":" A_2001 ",\"heartbeatAt\":" A_2001 "}]}",
           "who has no lease is no leader");

    is_int(sm_store_lease_acquire(&f.store, new_call(&f),
                                  (sm_str_t) sm_str("a"), 500, &l), 0,
           "a leads");
    is_int(heartbeat(&f, "a", "follower", "0.2", 400), 0, "and lives");

    now_ms = START + 399;
    is_int(heartbeat(&f, "c", "follower", "0.1", 2000), 0, "so does c");
    is_int(beat(&f, "b", "leader", "0.1", 2000, 0), 0, "so does b");

    is_int(cluster_get(&f, &c), 0, "a cluster of three");
    is_int(c.lease.held, 0, "a look holds nothing");
    lease_is(&c.lease, "a", 1, 0, 500);
    is_str(cluster_text(&c, "c"), "{\"lease\":{\"holderId\":\"a\","
           "\"leaseEpoch\":1,\"acquiredAt\":" A_2001 ",\"renewedAt\":" A_2001
           ",\"expiresAt\":\"2001-09-09T01:46:40.500000Z\",\"expired\":false},"
           "\"instance\":{\"holderId\":\"c\",\"role\":\"follower\"},"
           "\"instances\":[{\"holderId\":\"a\",\"role\":\"leader\","
           "\"version\":\"0.2\",\"startedAt\":" A_2001 ",\"heartbeatAt\":"
           A_2001 "},{\"holderId\":\"b\",\"role\":\"follower\","
           "\"version\":\"0.1\",\"startedAt\":" A_2001 ",\"heartbeatAt\":"
           "\"2001-09-09T01:46:40.399000Z\"},{\"holderId\":\"c\","
           "\"role\":\"follower\",\"version\":\"0.1\",\"startedAt\":"
           "\"2001-09-09T01:46:40.399000Z\",\"heartbeatAt\":"
           "\"2001-09-09T01:46:40.399000Z\"}]}",
           "the oldest first; the lease decides who leads");

    now_ms = START + 400;
    is_int(cluster_get(&f, &c), 0, "the moment a candidate expires");
    is_int(c.n, 2, "it is not listed");
    is_mem(c.candidates[0].holder.data, c.candidates[0].holder.len, "b", 1,
           "the others are");
    is_int(sql_int(&f, "SELECT count(*) FROM submission_manager_candidates"),
           3, "nothing is removed by looking");

    now_ms = START + 499;
    is_int(cluster_get(&f, &c), 0, "the last moment of the lease");
    ok(strstr(cluster_text(&c, "a"), "\"expired\":false},\"instance\":{"
              "\"holderId\":\"a\",\"role\":\"leader\"}"), "a leads");

    now_ms = START + 500;
    is_int(cluster_get(&f, &c), 0, "the end of the lease");
    lease_is(&c.lease, "a", 1, 0, 500);
    ok(strstr(cluster_text(&c, "a"), "\"expired\":true},\"instance\":{"
              "\"holderId\":\"a\",\"role\":\"follower\"}"), "nobody leads");

    for (i = 0; i < 40; i++) {
        now_ms++;
        (void) snprintf(holder, sizeof(holder), "i%02d", 39 - i);
        must(heartbeat(&f, holder, "follower", "0.1", 90000) == 0);
    }

    sql(&f, "INSERT INTO submission_manager_candidates "
        CANDIDATE_COLUMNS " SELECT 'main2', "
        "holder_id, started_at, heartbeat_at, expires_at, role, version "
        "FROM submission_manager_candidates");

    is_int(cluster_get(&f, &c), 0, "a cluster of many");
    is_int(c.n, 42, "all of them, of this lease alone");

    for (i = 0, in_order = 0; i < 40; i++) {
        (void) snprintf(holder, sizeof(holder), "i%02d", 39 - i);
        in_order += sm_str_eq(c.candidates[2 + i].holder, sm_str_c(holder))
                    && c.candidates[2 + i].started_at
                       == (START + 501 + i) * US
                    && c.candidates[2 + i].heartbeat_at
                       == (START + 501 + i) * US
                    && c.candidates[2 + i].expires_at
                       == (START + 90501 + i) * US;
    }

    is_int(in_order, 40, "each with its own times, in the order they came");

    sql(&f, "UPDATE submission_manager_candidates SET started_at = 1");
    is_int(cluster_get(&f, &c), 0, "all of one moment");

    for (i = 1, in_order = 0; i < 42; i++) {
        in_order += memcmp(c.candidates[i - 1].holder.data,
                           c.candidates[i].holder.data, 1) < 0
                    || memcmp(c.candidates[i - 1].holder.data,
                              c.candidates[i].holder.data, 3) < 0;
    }

    is_int(in_order, 41, "are ordered by their names");

    fixture_done(&f);
}


/* whatever a row may hold is written whole */

static void
test_cluster_any(void)
{
    char            bytes[256];
    size_t          i, k, n, bad;
    sm_out_t        out;
    sm_str_t        self, text;
    sm_arena_t      arena = { NULL };
    sm_cluster_t    c;
    sm_candidate_t  candidates[40];

    static const int64_t  times[] = {
        0, 1, -1, 1000000000000000LL, 253402300799999999LL,
        253402300800000000LL, INT64_MAX, INT64_MIN
    };

    /* a control character is six in JSON */

    memset(bytes, 1, sizeof(bytes));

    memset(&c, 0, sizeof(sm_cluster_t));
    c.candidates = candidates;

    for (i = 0, n = 0, bad = 0; i < 8 * 5 * 5; i++) {
        c.n = i / 8 % 5 * 10;
        self.data = bytes;
        self.len = i / 8 / 5 * 64;

        c.lease.exists = i % 3 != 0;
        c.lease.holder = self;
        c.lease.epoch = i % 2 ? INT64_MIN : INT64_MAX;
        c.lease.acquired_at = times[i % 8];
        c.lease.renewed_at = times[i % 8];
        c.lease.expires_at = times[i % 8];
        c.lease.now = i % 5 ? 1 : INT64_MAX;

        for (k = 0; k < c.n; k++) {
            candidates[k].holder = self;
            candidates[k].version = self;
            candidates[k].role = self;
            candidates[k].started_at = times[i % 8];
            candidates[k].heartbeat_at = times[i % 8];
            candidates[k].expires_at = times[i % 8];
        }

        sm_out_init_arena(&out, &arena);
        sm_cluster_out(&out, &c, self);

        n += sm_out_done(&out, &text) == 0;
        bad += sm_out_last(&out) != '}' || memchr(text.data, 1, text.len);

        sm_arena_free(&arena);
    }

    is_int(n, 8 * 5 * 5, "all are written");
    is_int(bad, 0, "to the end, and escaped");
}


static void
test_cluster_out(void)
{
    sm_cluster_t    c;
    sm_candidate_t  candidate = {
        .holder = sm_str("a\"b\\c\n\x7f\xc3\xa9"), .role = sm_str("\"leader"),
        .version = sm_str("</0>"), .started_at = 1, .heartbeat_at = 999999,
        .expires_at = 5
    };

    memset(&c, 0, sizeof(sm_cluster_t));

    c.lease.exists = 1;
    c.lease.holder = candidate.holder;
    c.lease.epoch = INT64_MAX;
    c.lease.acquired_at = 1;
    c.lease.renewed_at = 1000001;
    c.lease.expires_at = 951782400000000LL;
    c.lease.now = c.lease.expires_at - 1;
    c.candidates = &candidate;
    c.n = 1;

    is_str(cluster_text(&c, "x"), "{\"lease\":{"
           "\"holderId\":\"a\\\"b\\\\c\\u000a\x7f\xc3\xa9\","
           "\"leaseEpoch\":9223372036854775807,"
           "\"acquiredAt\":\"1970-01-01T00:00:00.000001Z\","
           "\"renewedAt\":\"1970-01-01T00:00:01.000001Z\","
           "\"expiresAt\":\"2000-02-29T00:00:00.000000Z\","
           "\"expired\":false},"
           "\"instance\":{\"holderId\":\"x\",\"role\":\"follower\"},"
           "\"instances\":[{\"holderId\":\"a\\\"b\\\\c\\u000a\x7f\xc3\xa9\","
           "\"role\":\"leader\",\"version\":\"</0>\","
           "\"startedAt\":\"1970-01-01T00:00:00.000001Z\","
           "\"heartbeatAt\":\"1970-01-01T00:00:00.999999Z\"}]}",
           "to the letter");

    c.lease.now++;
    c.n = 0;

    ok(strstr(cluster_text(&c, "a\"b\\c\n\x7f\xc3\xa9"),
              "\"expired\":true},\"instance\":{\"holderId\":"
              "\"a\\\"b\\\\c\\u000a\x7f\xc3\xa9\",\"role\":\"follower\"},"
              "\"instances\":[]}"), "now is its end");
}


/* while another one writes, and has not answered in time */

static void
test_busy(void)
{
    fixture_t      f;
    sql_conn_t     db;
    sm_cluster_t   c;

    now_ms = START;
    fixture_dir(&f);
    store_open(&f, "main", 1);

    is_int(heartbeat(&f, "a", "leader", "0.1", 500), 0, "a heartbeat");

    db = sql_open(&f);
    sql_lock(db);

    is_int(heartbeat(&f, "b", "leader", "0.1", 500), -1, "behind a writer");
    is_int(f.call.status, SM_STORE_TRANSIENT, "may be tried again");
    is_int(candidate_remove(&f, "a"), -1, "remove behind a writer");
    is_int(f.call.status, SM_STORE_TRANSIENT, "may be tried again");

    is_int(cluster_get(&f, &c), 0, "who reads need not wait");
    is_int(c.n, 1, "for the instances");

    sql_run(db, "COMMIT");
    sql_close(db);

    /* what waits for a lock, Babelfish does when that is free, unheard of */

    if (!on_babelfish()) {
        is_str(candidates_text(&f), "main a leader 0.1 0 0 500",
               "nothing has changed");
        is_int(candidate_remove(&f, "a"), 0, "remove");
        is_str(candidates_text(&f), NULL, "as ever");
    }

    fixture_done(&f);
}


int
main(void)
{
    sql_clock_start();

    test_candidates();
    test_cluster_get();
    test_cluster_any();
    test_cluster_out();
    test_watch();
    test_busy();

    return done_testing();
}
