
/*
 * Pages that end among rows of the same time, which the store's own clock gave
 * them: each row comes once.  A cursor has microseconds; broken by a store whose
 * times have more digits than that, or that rounds one on its way in or out, and
 * by an order that has no second key.
 */

#include "store.h"


#define BATCHES  3
#define BATCH    25
#define ROWS     (BATCHES * BATCH)


static sm_fence_t  fence = { sm_str("a"), 1 };


static void
submit_all(fixture_t *f)
{
    int              i, k;
    char             ids[BATCH][32];
    sm_submit_row_t  r[BATCH];

    for (k = 0; k < BATCHES; k++) {
        for (i = 0; i < BATCH; i++) {
            (void) snprintf(ids[i], sizeof(ids[i]), "b%d-%02d", k, i);
            row(&r[i], ids[i], &push, ids[i]);
        }

        if (submit(f, r, BATCH) != 0) {
            diag("%s", f->call.error);
            must(!"submitted");
        }
    }
}


/* the first attempt of each fails, and is tried again an hour later */

static void
attempt_all(fixture_t *f)
{
    int                i, k;
    char               ids[BATCH][32];
    sm_begin_row_t     b[BATCH];
    sm_complete_row_t  c[BATCH];

    for (k = 0; k < BATCHES; k++) {
        memset(b, 0, sizeof(b));
        memset(c, 0, sizeof(c));

        for (i = 0; i < BATCH; i++) {
            (void) snprintf(ids[i], sizeof(ids[i]), "b%d-%02d", k, i);
            b[i].id = c[i].id = sm_str_c(ids[i]);
            c[i].number = 1;
            c[i].epoch = fence.epoch;
            c[i].holder = fence.holder;
            c[i].started_at = c[i].finished_at = 1;
            c[i].outcome = SM_OUTCOME_ERROR;
            c[i].status = SM_STATUS_PENDING;
            c[i].delay = 3600000;
        }

        must(sm_store_attempts_begin(&f->store, new_call(f), &fence, b, BATCH)
             == 0);
        must(b[BATCH - 1].outcome == SM_BEGIN_BEGUN);
        must(sm_store_attempts_complete(&f->store, new_call(f), &fence, c,
                                        BATCH) == 0);
        must(c[BATCH - 1].applied);
    }
}


typedef struct {
    unsigned  seen[ROWS];
    int       wrong;                /* twice, or not in order */
    int64_t   at;
    char      id[32];
} walk_t;


static void
walk_row(walk_t *w, sm_str_t id, int64_t at, int down)
{
    int   batch, n, order;
    char  text[32];

    (void) snprintf(text, sizeof(text), "%.*s", (int) id.len, id.data);
    must(sscanf(text, "b%d-%d", &batch, &n) == 2);
    must(batch >= 0 && batch < BATCHES && n >= 0 && n < BATCH);

    order = w->at < at ? 1 : w->at > at ? -1 : strcmp(text, w->id);

    w->wrong += w->id[0] && (down ? order >= 0 : order <= 0);
    w->wrong += w->seen[batch * BATCH + n]++ != 0;

    w->at = at;
    (void) strcpy(w->id, text);
}


static int
walk_missed(walk_t *w)
{
    int  i, missed;

    for (i = 0, missed = 0; i < ROWS; i++) {
        missed += w->seen[i] == 0;
    }

    return missed;
}


static void
walk_list(fixture_t *f, walk_t *w, size_t limit)
{
    int            pages;
    size_t         i;
    sm_list_row_t  l = { .limit = limit };

    for (pages = 0; pages <= ROWS; pages++) {

        must(sm_store_intents_list(&f->store, new_call(f), &l, 1) == 0);

        for (i = 0; i < l.n; i++) {
            walk_row(w, l.intents[i].id, l.intents[i].created_at, 1);
        }

        if (!l.more) {
            return;
        }

        l.after_at = w->at;
        l.after_id = sm_str_c(w->id);
        l.n = 0;
        l.more = 0;
    }
}


static void
walk_queue(fixture_t *f, walk_t *w, sm_page_e order, size_t limit)
{
    int        pages;
    size_t     i;
    sm_page_t  page;

    memset(&page, 0, sizeof(page));
    page.order = order;
    page.limit = limit;

    for (pages = 0; pages <= ROWS; pages++) {

        must(sm_store_queue_page(&f->store, new_call(f), &fence, &page)
             == 0);

        for (i = 0; i < page.n; i++) {
            walk_row(w, page.rows[i].id, page.rows[i].at, 0);
        }

        if (page.n < limit) {
            return;
        }

        page.after_at = w->at;
        page.after_id = sm_str_c(w->id);
    }
}


int
main(void)
{
    size_t      i;
    walk_t      w;
    fixture_t   f;
    sm_lease_t  lease;

    static const size_t  limits[] = { 1, 4, 7, BATCH, BATCH + 1, ROWS + 1 };

    fixture_open(&f);

    must(sm_store_lease_acquire(&f.store, new_call(&f), fence.holder, 3600000,
                                &lease) == 0);
    must(lease.held && lease.epoch == fence.epoch);

    submit_all(&f);

    for (i = 0; i < BATCHES; i++) {
        is_int(sql_int(&f, "SELECT count(DISTINCT created_at) "
                       "FROM submission_intents "
                       "WHERE intent_id LIKE 'b%zu-%%'", i),
               1, "batch %zu has one time", i);
    }

#define walk(what, ...)                                                       \
    for (i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {                \
        memset(&w, 0, sizeof(w));                                             \
        __VA_ARGS__;                                                          \
        is_int(walk_missed(&w), 0, "%s in pages of %zu: none is missed",      \
               what, limits[i]);                                              \
        is_int(w.wrong, 0, "each comes once, in order");                      \
    }

    walk("the list", walk_list(&f, &w, limits[i]));
    walk("the queue", walk_queue(&f, &w, SM_PAGE_MODIFIED, limits[i]));

    attempt_all(&f);

    walk("what was changed", walk_queue(&f, &w, SM_PAGE_MODIFIED,
                                           limits[i]));
    walk("retries", walk_queue(&f, &w, SM_PAGE_DUE, limits[i]));

    fixture_done(&f);

    return done_testing();
}
