
/*
 * Works on a job, and counts what it would find.
 *
 * A batch reads the next page of the job's list, decides about each intent,
 * and writes the changes together with the position after them, if the job is
 * still at the position that was read.  So each intent of the list is met
 * once, whoever leads: a new leader continues from the stored position, and a
 * batch that is late is refused, by the fence or by the position.
 */

#include "sm_store.h"


/* How many intents a count reads at once. */

#define SM_JOB_PAGE  500


/* A page of a job, from which batches are written. */

typedef struct {
    sm_store_t            *store;
    sm_call_t             *call;
    const sm_fence_t      *fence;
    sm_job_work_t         *work;
    sm_list_row_t          row;
    sm_job_terms_t         terms;

    sm_job_item_t         *items;       /* one per intent that is taken */
    const sm_contract_t  **contracts;   /* those of the items, each once */
    size_t                 ncontracts;
} sm_job_page_t;


static int
sm_store_job_no_memory(sm_call_t *call)
{
    return sm_call_no_memory(call);
}


/*
 * Turns the job's filter into a list.  Returns 1 if the filter is not
 * understood, with the reason in "err", or -1.
 */

static int
sm_store_job_row(sm_call_t *call, const sm_job_t *job, sm_list_row_t *row,
    sm_job_terms_t *terms, sm_json_error_t *err)
{
    if (sm_job_list(&call->arena, job->kind, job->doc, row, terms, err) == 0) {
        return 0;
    }

    return err->no_memory ? sm_store_job_no_memory(call) : 1;
}


/*
 * Counts the intents of a page.  Their ids are copied, because a page is freed
 * before the next one is read.
 */

static int
sm_store_job_count_page(sm_call_t *call, const sm_job_t *job,
    const sm_job_terms_t *terms, sm_list_row_t *list, size_t max,
    sm_job_row_t *row)
{
    size_t        i;
    sm_job_fit_e  fit;

    for (i = 0; i < list->n && row->count < max; i++) {

        fit = sm_job_fits(job, terms, &list->intents[i]);

        if (fit != SM_JOB_TAKE) {
            row->replayed += fit == SM_JOB_BEFORE;
            continue;
        }

        row->count++;

        if (row->nsample < SM_JOB_SAMPLE
            && sm_arena_strdup(&call->arena, &row->sample[row->nsample++],
                               list->intents[i].id)
               != 0)
        {
            return sm_store_job_no_memory(call);
        }
    }

    list->after_at = list->next_at;

    return list->more
           && sm_arena_strdup(&call->arena, &list->after_id, list->next_id)
              != 0 ? sm_store_job_no_memory(call) : 0;
}


static int
sm_store_job_count_next(sm_store_t *store, sm_call_t *call,
    const sm_job_t *job, const sm_job_terms_t *terms, sm_list_row_t *list,
    size_t max, sm_job_row_t *row)
{
    int        rc;
    sm_call_t  page;

    memset(&page, 0, sizeof(sm_call_t));

    list->limit = SM_JOB_PAGE;

    rc = sm_store_intents_list(store, &page, list, 1);

    call->asked = page.asked;

    if (rc == 0) {
        rc = sm_store_job_count_page(call, job, terms, list, max, row);

    } else {
        (void) sm_call_fail(call, page.status, page.code, "%s", page.error);
        call->unreached = page.unreached;
    }

    sm_arena_free(&page.arena);

    return rc;
}


int
sm_store_job_count(sm_store_t *store, sm_call_t *call, sm_job_row_t *row)
{
    int              rc;
    size_t           max, seen;
    sm_job_t         job;
    sm_list_row_t    list;
    sm_job_terms_t   terms;
    sm_json_error_t  err;

    row->count = 0;
    row->replayed = 0;
    row->bounded = 0;
    row->nsample = 0;

    memset(&job, 0, sizeof(sm_job_t));

    job.kind = row->request.kind;
    job.doc = row->request.doc;

    rc = sm_store_job_row(call, &job, &list, &terms, &err);

    if (rc != 0) {
        return rc < 0 ? -1 : sm_call_fail(call, SM_STORE_PERMANENT, 0,
                                          "%s", err.message);
    }

    max = SM_JOB_COUNT;

    if (row->request.limit && (size_t) row->request.limit < max) {
        max = row->request.limit;
    }

    for (seen = 0; seen < SM_JOB_COUNT; seen += SM_JOB_PAGE) {

        if (sm_store_job_count_next(store, call, &job, &terms, &list, max,
                                    row)
            != 0)
        {
            return -1;
        }

        if (!list.more || row->count >= max) {
            break;
        }
    }

    /* A count that reached the job's own limit is exact. */

    row->bounded = list.more && (size_t) row->request.limit != row->count;

    return 0;
}


/*
 * Finds today's contract of a target.  A page lists each contract once.
 * Returns -1 if the target is not configured.
 */

static int
sm_store_job_contract(sm_job_page_t *page, sm_str_t target,
    sm_job_item_t *item)
{
    size_t                i;
    const sm_contract_t  *contract;

    contract = page->work->contract(page->work->data, target);

    if (contract == NULL) {
        return -1;
    }

    for (i = 0; i < page->ncontracts; i++) {
        if (page->contracts[i] == contract) {
            break;
        }
    }

    if (i == page->ncontracts) {
        page->contracts[page->ncontracts++] = contract;
    }

    item->nth = i;
    item->contract = contract;

    return 0;
}


/* Decides about an intent, and returns an sm_job_fit_e, or -1 on errors. */

static int
sm_store_job_item(sm_job_page_t *page, const sm_intent_t *intent,
    sm_job_item_t *item)
{
    char          hash[SM_JOB_HASH];
    sm_job_fit_e  fit;

    fit = sm_job_fits(&page->work->job, &page->terms, intent);

    memset(item, 0, sizeof(sm_job_item_t));

    item->id = intent->id;
    item->target = intent->target;
    item->created_at = intent->created_at;

    if (fit != SM_JOB_TAKE || page->work->job.kind == SM_JOB_CANCEL) {
        return fit;
    }

    if (!page->terms.original
        && sm_store_job_contract(page, intent->target, item) != 0)
    {
        return SM_JOB_SKIP;
    }

    if (sm_utf8_length(intent->id) + sm_utf8_length(page->work->job.id)
        >= SM_ID_MAX
        && sm_store_text_hash(page->store, page->call, intent->id, hash) != 0)
    {
        return -1;
    }

    if (sm_job_new_id(&page->call->arena, intent->id, page->work->job.id, hash,
                      &item->new_id)
        != 0)
    {
        return sm_store_job_no_memory(page->call);
    }

    return SM_JOB_TAKE;
}


static int
sm_store_job_after(sm_job_page_t *page, size_t last, sm_str_t *position)
{
    int64_t             at;
    const sm_intent_t  *intent;

    intent = &page->row.intents[last];
    at = page->row.by == SM_LIST_CREATED ? intent->created_at
                                         : intent->completed_at;

    return sm_job_position(&page->call->arena, &page->row, at, intent->id,
                           position)
           == 0 ? 0 : sm_store_job_no_memory(page->call);
}


static int
sm_store_job_at_limit(const sm_job_t *job)
{
    return job->limit && job->done >= job->limit;
}


/*
 * Writes intents [first, first + n) of the page as one batch, up to the one
 * with which the job may reach its limit: "all" says whether that was the last.
 * With "poison" they are skipped.
 */

static int
sm_store_job_write(sm_job_page_t *page, size_t first, size_t n,
    unsigned poison, unsigned *all)
{
    int             fit;
    size_t          i, left;
    unsigned        last;
    sm_job_work_t  *work;
    sm_job_batch_t  batch;

    work = page->work;
    left = work->job.limit ? (size_t) (work->job.limit - work->job.done)
                           : SIZE_MAX;

    memset(&batch, 0, sizeof(sm_job_batch_t));

    batch.kind = work->job.kind;
    batch.id = work->job.id;
    batch.seen = work->job.seen;
    batch.items = page->items + work->n;
    batch.again = page->terms.again;

    for (i = first; i < first + n; i++) {

        fit = sm_store_job_item(page, &page->row.intents[i],
                                &batch.items[batch.n]);
        if (fit < 0) {
            return -1;
        }

        if (fit == SM_JOB_TAKE && !poison) {
            batch.n++;

        } else {
            batch.skipped += fit != SM_JOB_PASS;
        }

        if (batch.n == left) {
            *all = i + 1 == first + n;
            n = i + 1 - first;
        }
    }

    batch.seen_after = batch.seen + (n ? n : 1);
    last = first + n == page->row.n;

    batch.contracts = page->contracts;
    batch.ncontracts = page->ncontracts;

    if (last && page->row.more) {
        if (sm_job_position(&page->call->arena, &page->row, page->row.next_at,
                            page->row.next_id, &batch.position)
            != 0)
        {
            return sm_store_job_no_memory(page->call);
        }

    } else if (n && sm_store_job_after(page, first + n - 1, &batch.position)
                    != 0)
    {
        return -1;
    }

    batch.state = last && !page->row.more ? SM_JOB_DONE : SM_JOB_RUNNING;

    if (sm_store_job_apply(page->store, page->call, page->fence, &batch) != 0)
    {
        return -1;
    }

    if (!batch.applied) {

        /* The job was stopped meanwhile. */

        work->state = SM_JOB_NONE;
        return 0;
    }

    work->n += batch.n;
    work->done += batch.done;
    work->skipped += batch.n - batch.done + batch.skipped;
    work->state = batch.state;

    work->job.seen = batch.seen_after;
    work->job.done += batch.done;
    work->job.skipped += batch.n - batch.done + batch.skipped;

    return 0;
}


/*
 * Halves the batch until an intent whose data the store refuses is alone, like
 * sm_store_write().  If a half was not written to its end, the job goes on there
 * with another page.
 */

static int
sm_store_job_halves(sm_job_page_t *page, size_t first, size_t n, unsigned *all)
{
    size_t  half;

    *all = 1;

    if (sm_store_job_write(page, first, n, 0, all) == 0) {
        return 0;
    }

    if (page->call->status != SM_STORE_CONSTRAINT || n == 0) {
        return -1;
    }

    page->call->status = SM_STORE_OK;

    if (n == 1) {
        return sm_store_job_write(page, first, 1, 1, all);
    }

    half = n / 2;

    if (sm_store_job_halves(page, first, half, all) != 0) {
        return -1;
    }

    return *all && page->work->state == SM_JOB_RUNNING
           && !sm_store_job_at_limit(&page->work->job)
           ? sm_store_job_halves(page, first + half, n - half, all) : 0;
}


/*
 * Bounds the page to what one transaction may copy.  A cancellation copies
 * nothing and needs no bound.
 */

static int
sm_store_job_bound(sm_job_page_t *page, size_t *n)
{
    size_t         i;
    sm_get_row_t  *rows;

    *n = page->row.n;

    if (page->work->job.kind != SM_JOB_REPLAY || *n < 2) {
        return 0;
    }

    rows = sm_arena_calloc(&page->call->arena, *n, sizeof(sm_get_row_t));
    if (rows == NULL) {
        return sm_store_job_no_memory(page->call);
    }

    for (i = 0; i < *n; i++) {
        rows[i].id = page->row.intents[i].id;
    }

    if (sm_store_intents_length(page->store, page->call, rows, *n) != 0) {
        return -1;
    }

    *n = sm_batch_copies(rows, *n);

    return 0;
}


/*
 * Bounds the page to what comes before an intent whose target only another
 * instance has yet.
 */

static int
sm_store_job_here(sm_job_page_t *page, size_t *n)
{
    int                 rc;
    size_t              i;
    sm_job_work_t      *work;
    const sm_intent_t  *intent;

    work = page->work;

    if (work->job.kind != SM_JOB_REPLAY || page->terms.original) {
        return 0;
    }

    for (i = 0; i < *n; i++) {

        intent = &page->row.intents[i];

        if (sm_job_fits(&work->job, &page->terms, intent) != SM_JOB_TAKE
            || work->contract(work->data, intent->target))
        {
            continue;
        }

        rc = sm_store_elsewhere(page->store, page->call, &work->elsewhere,
                                intent->target);
        if (rc < 0) {
            return -1;
        }

        if (rc) {
            work->waits = i == 0;
            *n = i;
        }
    }

    return 0;
}


/* Ends a job that nobody can read, because it would block the others. */

static int
sm_store_job_fail(sm_job_page_t *page, const char *why)
{
    sm_job_work_t  *work;
    sm_job_batch_t  batch;

    work = page->work;

    memset(&batch, 0, sizeof(sm_job_batch_t));

    batch.kind = work->job.kind;
    batch.id = work->job.id;
    batch.seen = work->job.seen;
    batch.seen_after = work->job.seen + 1;
    batch.state = SM_JOB_FAILED;

    if (sm_arena_strdup(&page->call->arena, &batch.error, sm_str_c(why)) != 0) {
        return sm_store_job_no_memory(page->call);
    }

    if (sm_store_job_apply(page->store, page->call, page->fence, &batch) != 0)
    {
        return -1;
    }

    work->state = batch.applied ? SM_JOB_FAILED : SM_JOB_NONE;
    work->job.error = batch.error;

    return 0;
}


int
sm_store_job_work(sm_store_t *store, sm_call_t *call, const sm_fence_t *fence,
    sm_job_work_t *work)
{
    int              rc;
    size_t           n;
    unsigned         all;
    sm_job_t        *job;
    sm_job_page_t    page;
    sm_json_error_t  err;

    work->state = SM_JOB_NONE;
    work->done = 0;
    work->skipped = 0;
    work->n = 0;
    work->waits = 0;

    job = &work->job;

    if (sm_store_job_next(store, call, fence, job) != 0) {
        return -1;
    }

    if (job->id.data == NULL) {
        return 0;
    }

    work->first = job->seen == 0 && job->position.data == NULL;

    memset(&page, 0, sizeof(sm_job_page_t));

    page.store = store;
    page.call = call;
    page.fence = fence;
    page.work = work;

    rc = sm_store_job_row(call, job, &page.row, &page.terms, &err);

    if (rc == 0 && sm_job_resume(job, &page.row) != 0) {
        return sm_store_job_fail(&page, "its position is not understood");
    }

    if (rc != 0) {
        return rc < 0 ? -1 : sm_store_job_fail(&page, err.message);
    }

    page.row.limit = work->limit;

    /*
     * A batch that may reach the limit does not end the job: what was begun
     * since it was read is skipped, and others take its place.  And the filter
     * may ask only for intents that are newer than the job.
     */

    if (sm_store_job_at_limit(job)
        || (page.row.from && page.row.to && page.row.from >= page.row.to))
    {
        return sm_store_job_halves(&page, 0, 0, &all);
    }

    if (sm_store_intents_list(store, call, &page.row, 1) != 0) {
        return -1;
    }

    page.items = sm_arena_calloc(&call->arena, page.row.limit + 1,
                                 sizeof(sm_job_item_t));
    page.contracts = sm_arena_calloc(&call->arena, page.row.limit,
                                     sizeof(sm_contract_t *));
    work->items = page.items;

    if (page.items == NULL || page.contracts == NULL) {
        return sm_store_job_no_memory(call);
    }

    if (sm_store_job_bound(&page, &n) != 0
        || sm_store_job_here(&page, &n) != 0)
    {
        return -1;
    }

    return sm_store_job_halves(&page, 0, n, &all);
}
