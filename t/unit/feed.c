
/*
 * The feed of events in core: packing, order, cursors, pages and the document.
 * Broken by: a text that is cut inside of a character; a cursor that is good
 * only on the instance that made it, or misses an event that came late from
 * another instance; a page that skips what its limit left out; a document of
 * the wrong end; an event that is taken again after the ring has dropped it, or
 * before the one that comes before it; one that has gone, and is not counted.
 */

#include "sm_contract.h"
#include "sm_feed.h"
#include "random.h"
#include "tap.h"


#define INSTANCES  5
#define CLIENTS    4
#define STEPS      1000
#define EVENTS     1000
#define BURST      50
#define RING       1500
#define ROW        700                  /* bytes */


static sm_arena_t  arena;
static unsigned    bad;


static sm_feed_event_t
event(uint32_t origin, uint32_t n, int64_t at, const char *kind,
    const char *target, const char *text)
{
    sm_feed_event_t  e;

    memset(&e, 0, sizeof(sm_feed_event_t));

    e.origin = origin;
    e.n = n;
    e.at = at;
    e.kind = sm_str_c(kind);
    e.instance = sm_str_c("i1");
    e.target = sm_str_c(target);
    e.text = sm_str_c(text);

    return e;
}


static void
test_sentence(void)
{
    size_t    i;
    sm_str_t  text;

    static const char  *rows[][2] = {
        { "", "" },
        { ".", "." },
        { "It is down.", "It is down." },
        { "Is it accepting connections?.", "Is it accepting connections?" },
        { "It is down..", "It is down." },
        { "Down!.", "Down!" },
        { "Down?", "Down?" }
    };

    for (i = 0; i < sm_nelts(rows); i++) {
        text = sm_feed_sentence(sm_str_c(rows[i][0]));
        is_mem(text.data, text.len, rows[i][1], strlen(rows[i][1]),
               "\"%s\" has one end", rows[i][0]);
    }
}


static void
test_pack(void)
{
    char             text[2000];
    size_t           i;
    sm_feed_slot_t   slot;
    sm_feed_event_t  e, back;

    e = event(7, 3, 1000, "store_down", "psp", "The store is down.");
    e.level = SM_FEED_ERROR;
    e.epoch = INT64_MAX;

    sm_feed_pack(&slot, &e);
    sm_feed_open(&slot, &back);

    ok(back.origin == 7 && back.n == 3 && back.at == 1000
       && back.level == SM_FEED_ERROR && back.epoch == INT64_MAX,
       "numbers come back");
    ok(sm_str_eq(back.kind, e.kind) && sm_str_eq(back.instance, e.instance)
       && sm_str_eq(back.target, e.target) && sm_str_eq(back.text, e.text),
       "and texts");

    for (i = 0; i + 3 < sizeof(text); i += 3) {
        memcpy(&text[i], "\xe2\x82\xac", 4);
    }

    for (i = 0; i < 3; i++) {
        e.text = sm_str_c(text + i * 3);
        e.target = sm_str_c(i == 0 ? "" : i == 1 ? "a" : "ab");

        sm_feed_pack(&slot, &e);
        sm_feed_open(&slot, &back);

        ok(back.text.len > SM_FEED_BYTES / 2
           && sm_utf8_check(back.text) == back.text.len,
           "a long text is cut between characters");
    }

    e.target = e.text;
    e.instance = e.text;
    sm_feed_pack(&slot, &e);
    sm_feed_open(&slot, &back);
    ok(back.target.len <= SM_FEED_TARGET && back.instance.len <= SM_FEED_NAME
       && back.text.len > SM_FEED_NAME, "long names leave room for the text");

    for (i = 0; i < 4 * SM_TARGET_MAX; i += 4) {
        memcpy(&text[i], "\xf0\x9f\x92\xb6", 5);
    }

    e.target = sm_str_c(text);
    e.text = sm_str_c(text);
    sm_feed_pack(&slot, &e);
    sm_feed_open(&slot, &back);
    ok(sm_str_eq(back.target, e.target),
       "the longest name of a target is kept as it is");
}


static void
test_kinds(void)
{
    int  i, n;

    for (i = 0, n = 0; i < SM_FEED_KINDS; i++) {
        n += sm_feed_kind(sm_feed_kinds[i].name) == i
             && sm_feed_kinds[i].name.len <= SM_FEED_KIND;
    }

    is_int(n, SM_FEED_KINDS, "every kind is found by its name");
    is_int(sm_feed_kind(sm_str_c("nonsense")), -1, "and no other");
    is_mem(sm_feed_level_name(SM_FEED_WARN).data, 4, "warn", 4, "a level");
}


static void
test_out(void)
{
    char             buf[1000];
    sm_out_t         out;
    sm_feed_event_t  e;

    e = event(0x9f3a11c2, 17, 1000000, "leader_acquired", "",
              "\"i1\" became the leader.");
    e.epoch = 7;

    sm_out_init(&out, buf, sizeof(buf) - 1);
    sm_feed_event_out(&out, &e);
    *out.last = '\0';

    is_str(buf, "{\"id\":\"9f3a11c2-17\",\"at\":\"1970-01-01T00:00:01.000000Z\""
                ",\"kind\":\"leader_acquired\",\"level\":\"info\","
                "\"instance\":\"i1\",\"target\":null,\"epoch\":7,"
                "\"text\":\"\\\"i1\\\" became the leader.\"}",
           "an event as HTTP shows it");

    e.target = sm_str_c("psp");
    sm_out_init(&out, buf, sizeof(buf) - 1);
    sm_feed_event_out(&out, &e);
    *out.last = '\0';
    ok(strstr(buf, "\"target\":\"psp\"") != NULL, "with its target");
}


static void
test_cursor(void)
{
    char              buf[1000];
    size_t            i;
    sm_out_t          out;
    sm_str_t          text;
    sm_feed_event_t   e;
    sm_feed_cursor_t  c, back;

    memset(&c, 0, sizeof(sm_feed_cursor_t));

    e = event(1, 5, 100, "a", "", "");
    ok(sm_feed_cursor_new(&c, &e), "all is new at first");
    sm_feed_cursor_seen(&c, &e);
    ok(!sm_feed_cursor_new(&c, &e), "and then it was seen");

    e.n = 4;
    ok(!sm_feed_cursor_new(&c, &e), "with what came before it");
    e.origin = 2;
    e.at = 50;
    ok(sm_feed_cursor_new(&c, &e), "of another origin it is new, if older");

    for (i = 0; i < SM_FEED_MARKS + 5; i++) {
        e = event(100 + i, 9, 1000 + i, "a", "", "");
        sm_feed_cursor_seen(&c, &e);
    }

    is_int(c.n, SM_FEED_MARKS, "the list of origins is bounded");
    is_int(c.floor, 1004, "its floor says what it forgot");

    e = event(1, 5, 100, "a", "", "");
    ok(!sm_feed_cursor_new(&c, &e), "what it forgot is not new again");
    e = event(1, 6, 2000, "a", "", "");
    ok(sm_feed_cursor_new(&c, &e), "but what comes later is");

    sm_out_init(&out, buf, sizeof(buf));
    sm_feed_cursor_out(&out, &c);
    text.data = out.start;
    text.len = out.last - out.start;

    is_int(sm_feed_cursor_parse(text, &back), 0, "a full cursor is read");
    ok(memcmp(&c, &back, sizeof(c)) == 0, "and is the same");

    text.len -= 4;
    is_int(sm_feed_cursor_parse(text, &back), -1, "one that is cut is not");
    text.len = 0;
    is_int(sm_feed_cursor_parse(text, &back), -1, "an empty one is not");
    is_int(sm_feed_cursor_parse(sm_str_c("not base64"), &back), -1,
           "nor anything else");
    is_int(sm_feed_cursor_parse(sm_str_c("ZQAAAAAAAAAA"), &back), 0,
           "one that has seen nothing is");
    is_int(sm_feed_cursor_parse(sm_str_c("Zf__________"), &back), -1,
           "one from the far future is not");
    is_int(sm_feed_cursor_parse(sm_str_c("ZgAAAAAAAAAA"), &back), -1,
           "one of another list is not");
}


static size_t
page(sm_feed_page_t *p, const sm_feed_event_t *all, size_t n,
    sm_feed_event_t *out)
{
    memcpy(out, all, n * sizeof(sm_feed_event_t));
    sm_feed_sort(out, n);
    sm_feed_page(p, out, n);

    return p->n;
}


static void
test_page(void)
{
    size_t           i;
    sm_feed_page_t   p;
    sm_feed_event_t  all[10], out[10];

    for (i = 0; i < 10; i++) {
        all[i] = event(i % 2 + 1, i / 2 + 1, 1000 - i % 2 * 500 + i * 10,
                       i % 3 ? "a" : "b", i == 4 ? "psp" : "", "");
    }

    memset(&p, 0, sizeof(p));
    p.limit = 4;

    is_int(page(&p, all, 10, out), 4, "the last ones");
    ok(p.more && out[3].at == 1080 && out[0].at == 1020, "in order");

    p.after = 1;
    is_int(page(&p, all, 10, out), 0, "nothing is after them");
    ok(!p.more, "and no more");

    memset(&p, 0, sizeof(p));
    p.limit = 3;
    p.after = 1;

    for (i = 0; page(&p, all, 10, out) == 3; i++) {
        ok(p.more && out[0].at < out[1].at && out[1].at < out[2].at,
           "a page of three, the oldest first");
    }

    is_int(i, 3, "then");
    ok(p.n == 1 && out[0].at == 1080 && !p.more, "the last one");

    memset(&p, 0, sizeof(p));
    p.limit = 2;
    p.after = 1;
    p.kind = sm_str_c("b");

    is_int(page(&p, all, 10, out), 2, "by kind");
    ok(sm_str_eq(out[0].kind, p.kind) && sm_str_eq(out[1].kind, p.kind),
       "nothing else");
    is_int(page(&p, all, 10, out), 2, "and again");
    is_int(page(&p, all, 10, out), 0, "until there are no more");

    memset(&p, 0, sizeof(p));
    p.limit = 2;
    p.target = sm_str_c("psp");
    is_int(page(&p, all, 10, out), 1, "by target");
    p.after = 1;
    p.target = sm_str_c("");
    is_int(page(&p, all, 10, out), 0, "what did not fit was seen, too");
}


static void
test_missed(void)
{
    sm_feed_page_t   p;
    sm_feed_event_t  all[6], out[6];

    all[0] = event(1, 1, 100, "a", "", "");
    all[1] = event(2, 7, 101, "a", "", "");

    memset(&p, 0, sizeof(p));
    p.limit = 10;

    is_int(page(&p, all, 2, out), 2, "what there is");
    is_int(p.missed, 0, "without a cursor nothing is missed");

    p.after = 1;
    all[2] = event(1, 2, 102, "a", "", "");
    all[3] = event(2, 9, 103, "b", "", "");
    all[4] = event(1, 6, 104, "a", "", "");
    all[5] = event(3, 4, 105, "a", "", "");

    p.limit = 2;
    is_int(page(&p, all, 6, out), 2, "a page");
    is_int(p.missed, 1, "misses what is missing in it");
    ok(p.more, "and has not all");
    p.kind = sm_str_c("b");
    is_int(page(&p, all, 6, out), 0, "the rest is of another kind");
    is_int(p.missed, 3, "and what is missing counts, of whichever kind");
    is_int(page(&p, all, 6, out) + p.missed, 0, "once");
}


static void
test_doc(void)
{
    char             *buf, long_text[600];
    size_t            i, n;
    sm_out_t          out;
    sm_str_t          doc;
    sm_feed_event_t   all[SM_FEED_RING], *back;

    buf = malloc(500000);
    memset(long_text, '"', sizeof(long_text) - 1);
    long_text[sizeof(long_text) - 1] = '\0';

    for (i = 0; i < SM_FEED_RING; i++) {
        all[i] = event(1, i + 1, 1000 + i, "target_down", i % 2 ? "psp" : "",
                       "The target psp does not work: the connection to "
                       "psp.example is refused, and nobody knows why it is.");
        all[i].level = i % SM_FEED_LEVELS;
        all[i].epoch = i % 2 ? INT64_MAX : 0;
    }

    sm_out_init(&out, buf, 100000);
    sm_feed_doc_out(&out, all, SM_FEED_RING, SM_FEED_LAST, SM_FEED_DOC_MAX);
    doc.data = buf;
    doc.len = out.last - out.start;

    is_int(sm_feed_doc_parse(&arena, doc, &back, &n), 0, "a document is read");
    is_int(n, SM_FEED_RING, "with all events");
    ok(back[0].n == 1 && back[n - 1].n == SM_FEED_RING, "in order");
    ok(back[n - 1].at == all[SM_FEED_RING - 1].at
       && back[n - 1].level == all[SM_FEED_RING - 1].level
       && sm_str_eq(back[n - 1].target, all[SM_FEED_RING - 1].target)
       && sm_str_eq(back[n - 1].text, all[SM_FEED_RING - 1].text)
       && back[n - 1].epoch == INT64_MAX && back[n - 2].epoch == 0
       && back[n - 2].target.len == 0, "with all that they have");

    for (i = 0; i < SM_FEED_RING; i++) {
        all[i].text = sm_str_c(long_text);
    }

    sm_out_init(&out, buf, 100000);
    sm_feed_doc_out(&out, all, SM_FEED_RING, SM_FEED_LAST, SM_FEED_DOC_MAX);
    doc.len = out.last - out.start;
    ok(doc.len <= SM_FEED_DOC_MAX && !out.full, "bytes are bounded: %zu",
       doc.len);
    is_int(sm_feed_doc_parse(&arena, doc, &back, &n), 0, "and well-formed");
    ok(n > 0 && n < SM_FEED_RING && back[n - 1].n == SM_FEED_RING,
       "with the newest");

    sm_out_init(&out, buf, 100000);
    sm_feed_doc_out(&out, all, SM_FEED_RING, SM_FEED_FIRST, SM_FEED_OWN_MAX);
    doc.len = out.last - out.start;
    ok(doc.len <= SM_FEED_OWN_MAX && !out.full, "and those of a row: %zu",
       doc.len);
    is_int(sm_feed_doc_parse(&arena, doc, &back, &n), 0, "well-formed, too");
    ok(n > 0 && back[0].n == 1 && back[n - 1].n == n, "with the oldest");

    is_int(sm_feed_doc_parse(&arena, sm_str_c("{}"), &back, &n), -1,
           "what is no array is refused");
    is_int(sm_feed_doc_parse(&arena,
               sm_str_c("[{\"o\":1,\"n\":2,\"at\":3,\"l\":0,\"k\":\"new_kind\","
                        "\"i\":\"i9\",\"x\":\"?\",\"y\":[1]},"
                        "{\"o\":1,\"n\":1,\"at\":3,\"l\":7,\"k\":\"k\","
                        "\"i\":\"i9\",\"x\":\"\"},"
                        "{\"o\":1,\"n\":1,\"at\":3,\"l\":0,\"k\":\"k\","
                        "\"i\":\"i9\",\"x\":\"\",\"e\":-1},"
                        "{\"o\":1,\"n\":0,\"at\":3,\"l\":0,\"k\":\"k\","
                        "\"i\":\"i9\",\"x\":\"\"},17]"), &back, &n), 0,
           "a document of another version is read");
    ok(n == 1 && back[0].n == 2, "as far as it is understood");

    free(buf);
}


/*
 * Instances note events, tell each other by documents that come late or not at
 * all, and change who leads; clients ask any instance, with the cursor that
 * another one gave them.
 */

static struct {
    uint32_t          origin;
    uint32_t          n;
    uint32_t          told;
    size_t            size;
    sm_feed_event_t   ring[RING];
    size_t            used;
    sm_feed_cursor_t  have;
} instances[INSTANCES];

static struct {
    sm_feed_page_t    page;
    uint64_t          missed;
    unsigned          seen[INSTANCES][EVENTS + 1];
} clients[CLIENTS];


static void
keep(size_t i, const sm_feed_event_t *e)
{
    if (instances[i].used == instances[i].size) {
        memmove(instances[i].ring, &instances[i].ring[1],
                (instances[i].size - 1) * sizeof(sm_feed_event_t));
        instances[i].used--;
    }

    instances[i].ring[instances[i].used++] = *e;
}


/* "own" tells the row of an instance, and not the document of a leader. */

static void
tell(size_t from, size_t to, unsigned own, unsigned leads)
{
    char              *buf;
    size_t             i, n, size;
    sm_out_t           out;
    sm_str_t           doc;
    sm_feed_event_t   *e, *learned;

    static sm_feed_event_t  events[RING];

    for (i = 0, n = 0; i < instances[from].used; i++) {
        e = &instances[from].ring[i];

        if (!own || (e->origin == instances[from].origin
                     && e->n > instances[from].told))
        {
            events[n++] = *e;
        }
    }

    sm_feed_sort(events, n);

    size = RING * 100;
    buf = malloc(size);
    sm_out_init(&out, buf, size);
    sm_feed_doc_out(&out, events, n, own ? SM_FEED_FIRST : SM_FEED_LAST,
                    own ? ROW : size);
    doc.data = buf;
    doc.len = out.last - out.start;

    if (sm_feed_doc_parse(&arena, doc, &learned, &n) != 0) {
        check(0, "the document is not read");
    }

    for (i = 0; i < n; i++) {
        e = &learned[i];

        if (e->origin == instances[to].origin) {
            if (!own && e->n > instances[to].told) {
                instances[to].told = e->n;
            }

            continue;
        }

        if (sm_feed_takes(&instances[to].have, e, !own || leads)) {
            e->kind = sm_str_c("a");
            e->instance = sm_str_c("i1");
            e->text = sm_str_c("");
            sm_feed_cursor_seen(&instances[to].have, e);
            keep(to, e);
        }
    }

    free(buf);
    sm_arena_free(&arena);
    memset(&arena, 0, sizeof(sm_arena_t));
}


static void
poll(size_t client, size_t at)
{
    char               buf[1000];
    size_t             i;
    sm_out_t           out;
    sm_str_t           text;
    sm_feed_page_t    *p;

    static sm_feed_event_t  events[RING];

    p = &clients[client].page;
    p->limit = rnd(20) + INSTANCES;

    (void) page(p, instances[at].ring, instances[at].used, events);

    clients[client].missed += p->missed;

    for (i = 0; i < p->n; i++) {
        check(clients[client].seen[events[i].origin - 1][events[i].n]++ == 0,
              "client %zu has seen %u-%u", client, events[i].origin,
              events[i].n);
        check(i == 0 || events[i - 1].at <= events[i].at, "out of order");
    }

    /* the cursor goes to the client and comes back */

    sm_out_init(&out, buf, sizeof(buf));
    sm_feed_cursor_out(&out, &p->cursor);
    text.data = out.start;
    text.len = out.last - out.start;

    check(sm_feed_cursor_parse(text, &p->cursor) == 0, "a cursor is refused");

    p->after = 1;
}


/* Tells which events clients have not seen, less those that they know of. */

static unsigned
gossip(size_t size, unsigned *made, uint64_t *known)
{
    size_t           i, k, leader, next;
    int64_t          now, step;
    unsigned         missed;
    sm_feed_event_t  e;

    memset(instances, 0, sizeof(instances));
    memset(clients, 0, sizeof(clients));

    state = 4711;
    leader = 0;
    now = 1000000;
    *made = INSTANCES;

    for (i = 0; i < INSTANCES; i++) {
        instances[i].origin = i + 1;
        instances[i].size = size;
    }

    /* clients have heard of each instance before anything is dropped */

    for (i = 0; i < INSTANCES; i++) {
        e = event(instances[i].origin, ++instances[i].n, now++, "a", "", "");
        keep(i, &e);
        tell(i, leader, 1, 1);
    }

    for (i = 0; i < CLIENTS; i++) {
        clients[i].page.after = 1;
        poll(i, leader);
    }

    for (step = 0; step < STEPS; step++) {
        now += rnd(3);

        i = rnd(INSTANCES);

        for (k = rnd(100) ? rnd(8) == 0 : BURST;
             k && instances[i].n < EVENTS;
             k--)
        {
            e = event(instances[i].origin, ++instances[i].n,
                      now++, "a", "", "");
            keep(i, &e);
            (*made)++;
        }

        if (rnd(200) == 0) {
            next = rnd(INSTANCES);
            tell(leader, next, 0, 0);
            leader = next;
        }

        i = rnd(INSTANCES);

        if (i != leader && rnd(3) == 0) {
            tell(i, leader, 1, 1);
        }

        if (i != leader && rnd(3) == 0) {
            tell(leader, i, 0, 0);
        }

        k = rnd(INSTANCES);

        if (i != leader && i != k && k != leader) {
            tell(k, i, 1, 0);
        }

        poll(rnd(CLIENTS), rnd(INSTANCES));
    }

    for (step = 0; step < 60; step++) {

        for (i = 0; i < INSTANCES; i++) {
            if (i != leader) {
                tell(i, leader, 1, 1);
                tell(leader, i, 0, 0);
            }
        }

        for (i = 0; i < CLIENTS; i++) {
            poll(i, rnd(INSTANCES));
        }
    }

    missed = 0;
    *known = 0;

    for (i = 0; i < CLIENTS; i++) {
        *known += clients[i].missed;

        for (k = 0; k < INSTANCES; k++) {
            for (step = 1; step <= instances[k].n; step++) {
                missed += !clients[i].seen[k][step];
            }
        }
    }

    return missed;
}


static void
test_gossip(void)
{
    unsigned  made, missed;
    uint64_t  known;

    missed = gossip(RING, &made, &known);

    is_int(bad, 0, "no client has seen any of %u events twice", made);
    is_int(missed, 0, "and none has missed one, on whichever instance");
    is_int(known, 0, "nor was told so");

    missed = gossip(40, &made, &known);

    is_int(bad, 0, "nor when instances drop some");
    ok(missed > 0, "then clients miss %u", missed);
    is_int(known, missed, "and are told how many");
}


static void
test_full(void)
{
    size_t            i;
    sm_feed_event_t   e, ring[3];
    sm_feed_cursor_t  have;

    for (i = 0; i < 3; i++) {
        ring[i] = event(1, i + 10, 100 + i, "a", "", "");
    }

    e = event(2, 1, 50, "a", "", "");

    sm_feed_have(&have, ring, 3, 0);
    ok(sm_feed_cursor_new(&have, &e), "a ring with room takes an old event");
    sm_feed_have(&have, ring, 3, 1);
    ok(!sm_feed_cursor_new(&have, &e), "a full one may have dropped it");
    e.at = 101;
    ok(sm_feed_cursor_new(&have, &e), "and takes a newer one");

    e = event(1, 14, 200, "a", "", "");
    ok(!sm_feed_takes(&have, &e, 0), "not before those that come before it");
    ok(sm_feed_takes(&have, &e, 1), "unless these are gone");
    e.n = 13;
    ok(sm_feed_takes(&have, &e, 0), "but the next one");
    e.n = 12;
    ok(!sm_feed_takes(&have, &e, 1), "and none twice");
    e = event(3, 2, 200, "a", "", "");
    ok(!sm_feed_takes(&have, &e, 0), "nor the second one of an origin first");
    e.n = 1;
    ok(sm_feed_takes(&have, &e, 0), "but the first one");
}


int
main(void)
{
    needs_no_store();

    test_sentence();
    test_pack();
    test_kinds();
    test_out();
    test_cursor();
    test_page();
    test_missed();
    test_doc();
    test_full();
    test_gossip();

    sm_arena_free(&arena);

    return done_testing();
}
