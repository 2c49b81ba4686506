
/*
 * The state of the store: what makes it fail, what makes it down, and what it
 * takes to be up again.  Broken by: a single deadlock that is taken for
 * trouble, a full disk that needs a second refusal, a store that is up after
 * one small commit between refusals, or after small ones while intents are
 * refused, a table that is locked while leases are renewed, a store that cannot
 * be read and is called failing, one that comes and goes and is called down and up
 * each time, a time that moves while the state does not.
 */

#include "sm_store_health.h"
#include "clocks.h"
#include "tap.h"


#define SECOND  1000000


/*
 * c: committed, w: written, b: busy, B: intents busy, r: refused, i: intents
 * refused, R: readable, U: unreadable, l: lost, s: schema, a dot: a second
 * passes.
 */

static const char  *events = "cwbBriRUls";

static const struct {
    const char         *script;
    sm_store_health_e   state;
    const char         *why;
} rows[] = {
    { "", SM_STORE_HEALTH_UNKNOWN, "nothing was heard" },
    { "c", SM_STORE_HEALTH_UP, "a commit" },
    { "b", SM_STORE_HEALTH_UNKNOWN, "a deadlock says nothing" },
    { "r", SM_STORE_HEALTH_FAILING, "the first commit is refused" },
    { "R", SM_STORE_HEALTH_FAILING, "it can only be read" },
    { "U", SM_STORE_HEALTH_DOWN, "it cannot even be read" },
    { "l", SM_STORE_HEALTH_DOWN, "no answer" },
    { "s", SM_STORE_HEALTH_SCHEMA, "another schema" },

    { "cb", SM_STORE_HEALTH_UP, "one deadlock" },
    { "cbcbcb", SM_STORE_HEALTH_UP, "deadlocks between commits" },
    { "cbb", SM_STORE_HEALTH_FAILING, "two in a row" },
    { "cb..........b", SM_STORE_HEALTH_FAILING, "however long it takes" },
    { "cr", SM_STORE_HEALTH_FAILING, "a full disk, at once" },
    { "cR", SM_STORE_HEALTH_FAILING, "as a probe sees it" },
    { "cl", SM_STORE_HEALTH_DOWN, "a lost connection" },
    { "cU", SM_STORE_HEALTH_DOWN, "a probe that could do nothing" },

    { "crc", SM_STORE_HEALTH_FAILING, "one small commit" },
    { "crcccccc", SM_STORE_HEALTH_FAILING, "many at once" },
    { "cr...c", SM_STORE_HEALTH_FAILING, "one after a while" },
    { "cr..ccc", SM_STORE_HEALTH_FAILING, "three, too early" },
    { "cr...ccc", SM_STORE_HEALTH_UP, "three, after a while" },
    { "crc.c.c.c", SM_STORE_HEALTH_UP, "one a second" },
    { "crc.c.rc.c.c", SM_STORE_HEALTH_FAILING, "a refusal begins anew" },
    { "crc.c.bc.c.c", SM_STORE_HEALTH_FAILING, "a deadlock, too" },
    { "crc.c.bc.c.c.c", SM_STORE_HEALTH_UP, "and ends" },
    { "cr...cccb", SM_STORE_HEALTH_UP, "what was is forgotten" },

    { "i", SM_STORE_HEALTH_FAILING, "the first intents are refused" },
    { "ci...ccc", SM_STORE_HEALTH_FAILING, "leases and probes are small" },
    { "ci.c.c.c.cic.c.c.c.cic.c.c.c.c", SM_STORE_HEALTH_FAILING,
      "however many there are" },
    { "cic.c.rc.c.c.c.c", SM_STORE_HEALTH_FAILING, "and a probe is refused" },
    { "ci...wcc", SM_STORE_HEALTH_UP, "intents were written" },
    { "ci.www", SM_STORE_HEALTH_FAILING, "too early" },
    { "ciw..i.ccc", SM_STORE_HEALTH_FAILING, "and refused again" },
    { "ci.....ccc", SM_STORE_HEALTH_UP, "nobody tries any more" },
    { "ci....ccc", SM_STORE_HEALTH_FAILING, "for long" },
    { "ci.....cccr...ccc", SM_STORE_HEALTH_UP, "what was owed is forgotten" },
    { "wcw", SM_STORE_HEALTH_UP, "intents are commits" },
    { "cli", SM_STORE_HEALTH_DOWN, "refused intents show no read" },
    { "si", SM_STORE_HEALTH_SCHEMA, "nor another schema" },
    { "clw", SM_STORE_HEALTH_UP, "an intent ends an outage" },

    { "cB", SM_STORE_HEALTH_UP, "a batch of intents had to wait" },
    { "cBcBc", SM_STORE_HEALTH_FAILING, "two, whatever else commits" },
    { "cBcwBc", SM_STORE_HEALTH_UP, "intents were written between" },
    { "cB...............................B", SM_STORE_HEALTH_FAILING,
      "two in a row, however long it takes" },
    { "cB...............................cB", SM_STORE_HEALTH_UP,
      "two that have nothing to do with each other" },
    { "cBcB..c.B....ccc", SM_STORE_HEALTH_FAILING, "still locked" },
    { "cBcB.....ccc", SM_STORE_HEALTH_UP, "nobody had to wait any more" },
    { "cBcB.....cccB", SM_STORE_HEALTH_UP, "and what was is forgotten" },
    { "clB", SM_STORE_HEALTH_DOWN, "a lock shows no read" },
    { "cBR...ccc", SM_STORE_HEALTH_FAILING, "a probe had to wait, too" },
    { "cBR.....ccc", SM_STORE_HEALTH_UP, "and does not any more" },

    { "crl", SM_STORE_HEALTH_DOWN, "from bad to worse" },
    { "crU", SM_STORE_HEALTH_DOWN, "it cannot be read any more" },
    { "cll", SM_STORE_HEALTH_DOWN, "still no answer" },
    { "clr", SM_STORE_HEALTH_DOWN, "a refusal shows no read" },
    { "clbb", SM_STORE_HEALTH_DOWN, "nor does a lock" },
    { "clR", SM_STORE_HEALTH_FAILING, "a probe that reads does" },
    { "clc", SM_STORE_HEALTH_UP, "a restart is over at once" },
    { "cUc", SM_STORE_HEALTH_UP, "whatever it was" },

    { "clcl", SM_STORE_HEALTH_FAILING, "it comes and goes" },
    { "clclclcl", SM_STORE_HEALTH_FAILING, "again and again" },
    { "clcl.cl.cl.cl.cl.cl", SM_STORE_HEALTH_FAILING, "for long" },
    { "clcllll..l", SM_STORE_HEALTH_FAILING, "others may have an answer" },
    { "clcl...l", SM_STORE_HEALTH_DOWN, "nobody has one any more" },
    { "clcl...lc", SM_STORE_HEALTH_UP, "it is back" },
    { "clcl.c.lc.c.c", SM_STORE_HEALTH_FAILING, "for a moment" },
    { "clcl.c.lc.c.c.c", SM_STORE_HEALTH_UP, "for good" },
    { "clcl.c.c.c.l", SM_STORE_HEALTH_DOWN, "another outage" },
    { "cl..cl", SM_STORE_HEALTH_DOWN, "one follows another" },
    { "cl.cl", SM_STORE_HEALTH_FAILING, "which was none" },
    { "clcrl", SM_STORE_HEALTH_DOWN, "it is full, and then gone" },
    { "clclU", SM_STORE_HEALTH_DOWN, "it cannot be read" },

    { "sr", SM_STORE_HEALTH_SCHEMA, "a schema stays what it is" },
    { "sU", SM_STORE_HEALTH_SCHEMA, "also for a probe" },
    { "sl", SM_STORE_HEALTH_DOWN, "until it is gone" },
    { "sls", SM_STORE_HEALTH_SCHEMA, "and back" },
    { "sc", SM_STORE_HEALTH_UP, "until it is migrated" },
    { "crs", SM_STORE_HEALTH_SCHEMA, "a disk that was full" }
};


static void
play(const char *script, sm_store_health_e state, const char *why,
    int64_t start)
{
    int                changed;
    int64_t            now, since, ended;
    const char        *p;
    sm_store_health_e  before;
    sm_store_health_t  h = { .state = SM_STORE_HEALTH_UNKNOWN };

    now = start;
    since = 0;
    ended = 0;

    for (p = script; *p; p++) {
        if (*p == '.') {
            now += SECOND;
            continue;
        }

        before = h.state;
        changed = sm_store_health_apply(&h, strchr(events, *p) - events, now);
        since = changed ? now : since;
        ended = changed && before == SM_STORE_HEALTH_UP ? now : ended;

        if (changed != (h.state != before)) {
            ok(0, "%s: a change is told if there is one", script);
        }
    }

    is_int(h.state, state, "%s: %s", script, why);
    is_int(h.since, since, "%s: since when", script);
    is_int(h.ended, ended, "%s: when it was up", script);
}


/* A batch that had to wait once is not asked about for ever. */

static void
test_doubts(int64_t now)
{
    sm_store_health_t  h = { .state = SM_STORE_HEALTH_UP };

    ok(!sm_store_health_doubts(&h, now), "no doubts");

    (void) sm_store_health_apply(&h, SM_STORE_HEALTH_EV_ROWS_BUSY, now);
    ok(sm_store_health_doubts(&h, now + 10 * SECOND), "intents had to wait");
    ok(!sm_store_health_doubts(&h, now + 31 * SECOND), "that is long ago");

    (void) sm_store_health_apply(&h, SM_STORE_HEALTH_EV_ROWS_REFUSED, now);
    ok(sm_store_health_doubts(&h, now + 600 * SECOND),
       "intents were refused, however long ago");
}


int
main(void)
{
    size_t  i, k;

    needs_no_store();

    for (i = 0; i < NCLOCKS; i++) {
        for (k = 0; k < sm_nelts(rows); k++) {
            play(rows[k].script, rows[k].state, rows[k].why, clocks[i]);
        }

        test_doubts(clocks[i]);
    }

    for (i = 0; i < SM_STORE_HEALTH_COUNT; i++) {
        ok(sm_store_health_name(i).len, "a name of state %zu", i);
    }

    return done_testing();
}
