
/*
 * The instances of a cluster, in the embedded store and in GET /v1/cluster: a
 * heartbeat keeps one alive until its end by SQL's clock, and the lease's row
 * alone says who leads.  Broken by: an instance that is listed after its end,
 * or never cleared away, a start that moves while it lives, another lease's
 * instances, a text that outgrows its size.
 */

#include "sql_clock.h"


#define DAY  86400000       /* milliseconds */
#define OWN  16


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
    cluster->names_hash = (sm_str_t) sm_null_str;

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
           "another one comes meanwhile");
    now_ms = START + 530;
    is_int(beat(&f, "a", "leader", "0.2", 300, 0), 0, "and it comes back");
    is_str(candidates_text(&f), "main a leader 0.2 0 530 830, "
           "main b follower 0.2 520 520 525", "that does not, either");

    now_ms = START + 540;
    is_int(heartbeat(&f, "a", "leader", "0.2", 300), 0, "a restart");
    is_str(candidates_text(&f), "main a leader 0.2 540 540 840, "
           "main b follower 0.2 520 520 525",
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
           "main b follower 0.2 600 600 700, "
           "main c follower 0.2 699 700 1700, "
           "main2 a follower 0.2 600 600 650",
           "leaves what is dead, which may come back");

    is_int(candidate_remove(&f, "a"), 0, "remove");
    is_str(candidates_text(&f), "main b follower 0.2 600 600 700, "
           "main c follower 0.2 699 700 1700, "
           "main2 a follower 0.2 600 600 650", "only that one");

    is_int(candidate_remove(&f, "a"), 0, "again");
    is_int(candidate_remove(&f, "nobody"), 0,
           "somebody who was never there");
    is_str(candidates_text(&f), "main b follower 0.2 600 600 700, "
           "main c follower 0.2 699 700 1700, "
           "main2 a follower 0.2 600 600 650", "that changes nothing");

    now_ms = START + 700 + DAY;
    is_int(beat(&f, "c", "follower", "0.2", 1000, 699), 0, "a day later");
    is_str(candidates_text(&f), "main c follower 0.2 699 86400700 86401700, "
           "main2 a follower 0.2 600 600 650",
           "what was dead for so long is cleared away, of its own lease");

    is_int(sql_int(&f, "SELECT count(*) FROM submission_manager_leases"), 0,
           "a candidate holds nothing");

    store_close(&other);
    fixture_done(&f);
}


/* how often instances are to be heard of, in milliseconds */

static const sm_beats_t  due = { 3000, 10000 };


static const char *
cluster_text(const sm_cluster_t *cluster, const char *self)
{
    static char  buf[65536];

    sm_out_t  out;

    sm_out_init(&out, buf, sizeof(buf) - 1);
    sm_cluster_out(&out, cluster, sm_str_c(self), (sm_str_t) sm_null_str,
                   &due);
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


/* events of instances, by their rows; the leader's are in its document */

static void
test_events(void)
{
    char             doc[SM_FEED_OWN_MAX + 1];
    size_t           i, n;
    sm_out_t         out;
    fixture_t        f;
    sm_lease_t       l;
    sm_cluster_t     cluster;
    sm_candidate_t   candidate;
    sm_feed_event_t  own[OWN], *events;

    static const char  *names[] = { "a", "b", "c" };

    now_ms = START;
    fixture_open(&f);

    memset(own, 0, sizeof(own));

    for (i = 0; i < OWN; i++) {
        own[i].n = i + 1;
        own[i].kind = sm_str_c("job_done");
        own[i].instance = sm_str_c("a");
        own[i].text = sm_str_c("Done \xe2\x82\xac \"now\".");
    }

    for (i = 0; i < 3; i++) {
        memset(&candidate, 0, sizeof(sm_candidate_t));

        candidate.holder = sm_str_c(names[i]);
        candidate.role = sm_str_c("follower");
        candidate.version = sm_str_c("1");

        for (n = 0; n < OWN; n++) {
            own[n].origin = i + 1;
            own[n].at = 1000 + n * 10 + i;
        }

        sm_out_init(&out, doc, sizeof(doc));
        sm_feed_doc_out(&out, own, OWN, SM_FEED_FIRST, SM_FEED_OWN_MAX);

        if (i < 2) {
            candidate.events.data = out.start;
            candidate.events.len = out.last - out.start;
        }

        is_int(sm_store_candidate_heartbeat(&f.store, new_call(&f), &candidate,
                                            60000),
               0, "%s tells its events", names[i]);
    }

    is_int(cluster_get(&f, &cluster), 0, "the instances");
    sm_cluster_events(&f.call.arena, &cluster, &events, &n);
    is_int(n, 2 * OWN, "with the events of those that have some");
    ok(events[0].origin == 1 && events[1].origin == 2 && events[2].origin == 1
       && events[n - 1].n == OWN
       && sm_str_eq(events[0].text, own[0].text), "sorted");

    is_int(sm_store_lease_acquire(&f.store, new_call(&f), sm_str_c("a"), 10000,
                                  &l),
           0, "a leads");
    is_int(cluster_get(&f, &cluster), 0, "the instances again");
    sm_cluster_events(&f.call.arena, &cluster, &events, &n);
    ok(n == OWN && events[0].origin == 2, "without the leader's");

    fixture_done(&f);
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


/* what is shown of instances that do not tell their configurations */

#define SAME    ",\"configuration\":{\"same\":true,\"differs\":[]}"
#define SELF    ",\"configuration\":{\"hash\":null}"
#define CONF    ",\"configuration\":{\"hash\":null,\"since\":null},"           \
                "\"holderIdShared\":false"
#define UNTOLD  ",\"silent\":false" CONF
#define SILENT  ",\"silent\":true" CONF

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
    is_str(cluster_text(&c, "a"), "{\"lease\":null" SAME ",\"instance\":{"
           "\"holderId\":\"a\",\"role\":\"follower\"" SELF
           "},\"instances\":[]}", "in words");

    is_int(heartbeat(&f, "b", "leader", "0.1", 1000), 0, "b lives");
    is_int(cluster_get(&f, &c), 0, "without a lease");
    ok(!c.lease.exists && c.n == 1, "b alone");
    is_mem(c.candidates[0].role.data, c.candidates[0].role.len, "leader", 6,
           "what it said of itself");
    is_str(cluster_text(&c, "b"), "{\"lease\":null" SAME ",\"instance\":{"
           "\"holderId\":\"b\",\"role\":\"follower\"" SELF "},\"instances\":["
           "{\"holderId\":\"b\",\"role\":\"follower\",\"version\":\"0.1\","
           "\"startedAt\":" A_2001 ",\"heartbeatAt\":" A_2001 UNTOLD "}]}",
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
           ",\"expiresAt\":\"2001-09-09T01:46:40.500000Z\",\"expired\":false}" SAME
           ",\"instance\":{\"holderId\":\"c\",\"role\":\"follower\"" SELF "},"
           "\"instances\":[{\"holderId\":\"a\",\"role\":\"leader\","
           "\"version\":\"0.2\",\"startedAt\":" A_2001 ",\"heartbeatAt\":"
           A_2001 UNTOLD "},{\"holderId\":\"b\",\"role\":null,"
           "\"version\":\"0.1\",\"startedAt\":" A_2001 ",\"heartbeatAt\":"
           "\"2001-09-09T01:46:40.399000Z\"" SILENT "},{\"holderId\":\"c\","
           "\"role\":\"follower\",\"version\":\"0.1\",\"startedAt\":"
           "\"2001-09-09T01:46:40.399000Z\",\"heartbeatAt\":"
           "\"2001-09-09T01:46:40.399000Z\"" UNTOLD "}]}",
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
    ok(strstr(cluster_text(&c, "a"), "\"expired\":false}" SAME ",\"instance\":{"
              "\"holderId\":\"a\",\"role\":\"leader\"" SELF "}"), "a leads");

    now_ms = START + 500;
    is_int(cluster_get(&f, &c), 0, "the end of the lease");
    lease_is(&c.lease, "a", 1, 0, 500);
    ok(strstr(cluster_text(&c, "a"), "\"expired\":true}" SAME ",\"instance\":{"
              "\"holderId\":\"a\",\"role\":\"follower\"" SELF "}"),
       "nobody leads");

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
            candidates[k].config = i % 2 ? self : (sm_str_t) sm_null_str;
            candidates[k].config_since = times[i % 8];
            candidates[k].shared_at = times[i % 8];
            candidates[k].started_at = times[i % 8];
            candidates[k].heartbeat_at = times[i % 8];
            candidates[k].expires_at = times[i % 8];
        }

        sm_out_init_arena(&out, &arena);
        sm_cluster_out(&out, &c, self, self, &due);

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
           "\"expired\":false}" SAME
           ",\"instance\":{\"holderId\":\"x\",\"role\":\"follower\"" SELF "},"
           "\"instances\":[{\"holderId\":\"a\\\"b\\\\c\\u000a\x7f\xc3\xa9\","
           "\"role\":\"leader\",\"version\":\"</0>\","
           "\"startedAt\":\"1970-01-01T00:00:00.000001Z\","
           "\"heartbeatAt\":\"1970-01-01T00:00:00.999999Z\"" SILENT "}]}",
           "to the letter");

    c.lease.now++;
    c.n = 0;

    ok(strstr(cluster_text(&c, "a\"b\\c\n\x7f\xc3\xa9"),
              "\"expired\":true}" SAME ",\"instance\":{\"holderId\":"
              "\"a\\\"b\\\\c\\u000a\x7f\xc3\xa9\",\"role\":\"follower\""
              SELF "},\"instances\":[]}"), "now is its end");
}


/* who is not heard of, by renewals or by heartbeats; "a" holds the lease */

static const struct {
    const char  *holder;
    const char  *role;              /* when it was last heard of */
    int64_t      heartbeat;         /* milliseconds ago */
    int64_t      renewed;           /* of the lease, as is "left" */
    int64_t      left;
    int          silent;
    const char  *why;
} silent_rows[] = {
    { "a", "leader", 3000, 3000, 7000, 0, "a leader in time" },
    { "a", "leader", 6000, 6000, 4000, 0, "a leader that is not yet overdue" },
    { "a", "leader", 6001, 6001, 3999, 1, "a leader that is" },
    { "a", "leader", 6001, 10, 9990, 0, "its renewals count" },
    { "a", "leader", 10, 6001, 3999, 0, "as do its heartbeats" },
    { "a", "follower", 6001, 6001, 3999, 1, "the lease says who leads" },
    { "b", "follower", 15000, 10, 9990, 0, "another one, in time" },
    { "b", "follower", 15001, 10, 9990, 1, "another one, overdue" },
    { "b", "leader", 10, 10, 9990, 1, "its lease was taken over" },
    { "b", "leader", 10, 10, 0, 0, "nobody has taken it over" },
    { "a", "leader", 6000, 10000, 0, 0, "its lease is over, and it is there" },
    { "a", "leader", 6001, 10000, 0, 1, "its lease is over, and it is not" }
};


static void
test_silence(void)
{
    size_t          i;
    sm_lease_t      lease;
    sm_candidate_t  c;

    memset(&lease, 0, sizeof(lease));
    memset(&c, 0, sizeof(c));

    lease.exists = 1;
    lease.holder = sm_str_c("a");
    lease.now = START * US;

    for (i = 0; i < sm_nelts(silent_rows); i++) {
        c.holder = sm_str_c(silent_rows[i].holder);
        c.role = sm_str_c(silent_rows[i].role);
        c.heartbeat_at = lease.now - silent_rows[i].heartbeat * 1000;
        lease.renewed_at = lease.now - silent_rows[i].renewed * 1000;
        lease.expires_at = lease.now + silent_rows[i].left * 1000;

        is_int(sm_candidate_silent(&c, &lease, &due), silent_rows[i].silent,
               "%s", silent_rows[i].why);
    }

    ok(!sm_lease_silent(0, 6000 * 1000, 3000)
       && sm_lease_silent(0, 6001 * 1000, 3000), "a store may hesitate");
    ok(!sm_lease_silent(0, 45000 * 1000, 30000)
       && sm_lease_silent(0, 45001 * 1000, 30000), "half of a long interval");
}


/* a heartbeat with a configuration, and what it is told: "wanted shared" */

static const char *
tell(fixture_t *f, const char *holder, int64_t key, const char *config,
    const char *names_hash, const char *names)
{
    static char  buf[16];

    sm_candidate_t  candidate = {
        .holder = sm_str_c(holder), .role = sm_str_c("follower"),
        .version = sm_str_c("1"), .config = sm_str_c(config),
        .names_hash = sm_str_c(names_hash), .key = key
    };

    if (names) {
        candidate.names = sm_str_c(names);
    }

    if (sm_store_candidate_heartbeat(&f->store, new_call(f), &candidate,
                                     60000)
        != 0)
    {
        return "failed";
    }

    (void) snprintf(buf, sizeof(buf), "%u %u", candidate.wanted,
                    candidate.shared);

    return buf;
}


/* the names that are read by whom has others */

static const char *
names_read(fixture_t *f, const char *names_hash, sm_cluster_t *c)
{
    size_t       i, n;
    uint32_t    *names;
    static char  buf[128];

    memset(c, 0, sizeof(sm_cluster_t));

    if (names_hash) {
        c->names_hash = sm_str_c(names_hash);
    }

    if (sm_store_cluster_get(&f->store, new_call(f), c) != 0) {
        return "failed";
    }

    names = sm_cluster_names(&f->call.arena, c, &n);

    for (i = 0, buf[0] = '\0'; i < n; i++) {
        (void) snprintf(buf + strlen(buf), sizeof(buf) - strlen(buf), " %x",
                        names[i]);
    }

    return buf;
}


static void
test_config(void)
{
    fixture_t     f;
    sm_cluster_t  c;

    now_ms = START;
    fixture_open(&f);

    is_str(tell(&f, "a", 1, "targets:1 lease:2", "aa", NULL), "1 0",
           "the names are not there");
    is_str(names_read(&f, "bb", &c), "", "nobody reads any");

    is_str(tell(&f, "a", 1, "targets:1 lease:2", "aa", "0000000500000003"),
           "0 0", "now they are");

    now_ms = START + 1000;
    is_str(tell(&f, "a", 1, "targets:1 lease:2", "aa", NULL), "0 0",
           "and stay");
    is_str(names_read(&f, "bb", &c), " 3 5", "others read them");
    is_int(c.candidates[0].config_since, START * US, "told since then");
    is_mem(c.candidates[0].config.data, c.candidates[0].config.len,
           "targets:1 lease:2", 17, "the configuration");
    is_str(names_read(&f, "aa", &c), "", "who has the same does not");
    is_str(names_read(&f, NULL, &c), "", "nor does one who did not ask");
    is_int(sm_cluster_differ(&c, (sm_str_t) sm_str("targets:1 lease:2")), 0,
           "one who has the same differs in nothing");
    is_int(sm_cluster_differ(&c, (sm_str_t) sm_str("targets:1 lease:3")),
           1 << SM_CONFIG_LEASE, "another one in the lease");

    is_str(tell(&f, "b", 2, "targets:2 lease:2", "bb", "0000000300000009"),
           "0 0", "a second instance");
    is_str(names_read(&f, "cc", &c), " 3 5 9", "each name is there once");
    is_int(sm_cluster_differ(&c, (sm_str_t) sm_str("targets:1 lease:2")),
           1 << SM_CONFIG_TARGETS, "they differ in targets");
    ok(strstr(cluster_text(&c, "a"), "\"since\":\"2001-09-09T01:46:41."
              "000000Z\"},\"holderIdShared\":false}]}") != NULL,
       "in words");

    is_str(tell(&f, "b", 2, "targets:1 lease:2", "aa", NULL), "1 0",
           "it was reloaded: its names are missing");
    is_str(tell(&f, "b", 2, "targets:1 lease:2", "aa", "0000000500000003"),
           "0 0", "and told");
    is_str(names_read(&f, "bb", &c), " 3 5", "the old ones are gone");
    is_int(c.candidates[1].config_since, (START + 1000) * US,
           "told since the reload");

    is_int(candidate_remove(&f, "b"), 0, "it ends");
    is_int(sql_int(&f, "SELECT count(*) FROM submission_manager_target_names"),
           1, "so do its names");

    now_ms = START + 62000;
    is_str(tell(&f, "b", 3, "targets:1 lease:2", "aa", NULL), "1 0",
           "it starts again, and the other one is dead");
    is_int(sql_int(&f, "SELECT count(*) FROM submission_manager_target_names"),
           0, "names of the dead are removed");

    now_ms = START + 124000;
    is_str(tell(&f, "a", 1, "targets:1 lease:2", "aa", NULL), "1 0",
           "the store was away, and it was not dead");
    (void) names_read(&f, NULL, &c);
    is_int(c.n, 1, "the other one is away");
    is_int(c.candidates[0].config_since, START * US,
           "its configuration is the same since then");
    is_str(tell(&f, "b", 3, "targets:1 lease:3", "bb", NULL), "1 0",
           "the other one comes back with another one");
    (void) names_read(&f, NULL, &c);
    is_int(c.candidates[1].config_since, (START + 124000) * US,
           "which it has since now");

    now_ms = START + 124000 + 2 * DAY;
    is_str(tell(&f, "b", 3, "targets:1 lease:3", "bb", NULL), "1 0",
           "two days later");
    is_int(sql_int(&f, "SELECT count(*) FROM submission_manager_candidates"),
           1, "rows of the dead are removed");

    fixture_done(&f);
}


/*
 * Long ones: events that fill the row's place for them, and the names of more
 * targets than a text of a driver has room for.
 */

#define NAMES  1000


static void
test_long(void)
{
    int             i;
    char            names[NAMES * 8 + 1], events[SM_FEED_OWN_MAX + 1];
    size_t          n;
    fixture_t       f;
    sm_cluster_t    c;
    sm_candidate_t  candidate = {
        .holder = sm_str_c("a"), .role = sm_str_c("follower"),
        .version = sm_str_c("1"), .names_hash = sm_str_c("aa"), .key = 1
    };

    now_ms = START;
    fixture_open(&f);

    for (i = 0; i < NAMES; i++) {
        (void) snprintf(names + i * 8, 9, "%08x", i + 1);
    }

    for (i = 0; i < SM_FEED_OWN_MAX; i++) {
        events[i] = 'a' + i % 26;
    }

    candidate.names = (sm_str_t) { NAMES * 8, names };
    candidate.events = (sm_str_t) { SM_FEED_OWN_MAX, events };

    is_int(sm_store_candidate_heartbeat(&f.store, new_call(&f), &candidate,
                                        60000),
           0, "a heartbeat with long texts");
    ok(!candidate.wanted, "no names are missing");

    memset(&c, 0, sizeof(sm_cluster_t));
    c.names_hash = sm_str_c("bb");

    is_int(sm_store_cluster_get(&f.store, new_call(&f), &c), 0,
           "they are read: %s", f.call.error);

    if (c.n == 1) {
        is_mem(c.candidates[0].events.data, c.candidates[0].events.len,
               events, SM_FEED_OWN_MAX, "the events");
        ok(sm_cluster_names(&f.call.arena, &c, &n) && n == NAMES,
           "all names: %zu", n);
    }

    fixture_done(&f);
}


/* restarts look like another instance once; two that live take turns */

static void
test_shared(void)
{
    fixture_t     f;
    sm_cluster_t  c;

    now_ms = START;
    fixture_open(&f);

    is_str(tell(&f, "a", 1, "x:1", "aa", "00000001"), "0 0", "one");
    is_str(tell(&f, "a", 1, "x:1", "aa", NULL), "0 0", "and again");
    is_str(tell(&f, "a", 2, "x:1", "aa", NULL), "0 0", "it was restarted");
    is_str(tell(&f, "a", 2, "x:1", "aa", NULL), "0 0", "and lives");
    is_str(tell(&f, "a", 3, "x:1", "aa", NULL), "0 0", "once more");

    (void) names_read(&f, NULL, &c);
    is_int(sm_candidate_shared(&c.candidates[0], now_ms * US), 0,
           "there is one");

    now_ms = START + 10;
    is_str(tell(&f, "a", 2, "x:1", "aa", NULL), "0 1",
           "the one before is not dead");
    is_str(tell(&f, "a", 3, "x:1", "aa", NULL), "0 1", "nor is this one");

    now_ms = START + 20;
    is_str(tell(&f, "a", 3, "x:1", "aa", NULL), "0 0", "nobody came between");
    (void) names_read(&f, NULL, &c);
    is_int(c.candidates[0].shared_at, (START + 10) * US, "when it was seen");
    ok(strstr(cluster_text(&c, "a"), "\"holderIdShared\":true") != NULL,
       "in words");

    is_int(sm_candidate_shared(&c.candidates[0], (START + 60009) * US), 1,
           "for a minute");
    is_int(sm_candidate_shared(&c.candidates[0], (START + 60010) * US), 0,
           "and no longer");

    fixture_done(&f);
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
    test_events();
    test_watch();
    test_config();
    test_long();
    test_shared();
    test_silence();
    test_busy();

    return done_testing();
}
