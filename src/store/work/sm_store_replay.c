
/*
 * Replays: copies an intent that has ended under another id.
 *
 * The intent is read first, because its target decides which contract of the
 * configuration applies.  An intent that has ended changes no more, except
 * that its payload may be stripped; so the statement that copies it checks
 * that again.
 *
 * A call copies a bounded number of bytes, by the lengths in the store, and
 * leaves the rest to another call, so that others can write in between.
 *
 * If the replay exists already, it is the answer, whatever has become of its
 * original.  A client that repeats a request must not create another replay.
 * An intent that has a replay gets another one only if that was asked for: the
 * statement that copies it checks this, and of two at once it refuses one.
 */

#include "sm_store.h"


/* How many numbers are tried for an id that nobody named. */

#define SM_REPLAY_NUMBERS  64


typedef struct {
    sm_payload_row_t    *sources;
    sm_payload_row_t    *there;         /* the intents with the new ids */
    sm_replay_insert_t  *inserts;
    /*
     * The row of each insert, and then of each intent in "stored", which are
     * read at the end.
     */
    size_t              *which;
    sm_get_row_t        *stored;
} sm_replay_t;


static int
sm_store_replay_alloc(sm_call_t *call, sm_replay_t *rp, size_t n)
{
    sm_arena_t  *arena;

    arena = &call->arena;

    rp->sources = sm_arena_calloc(arena, n, sizeof(sm_payload_row_t));
    rp->there = sm_arena_calloc(arena, n, sizeof(sm_payload_row_t));
    rp->inserts = sm_arena_calloc(arena, n, sizeof(sm_replay_insert_t));
    rp->which = sm_arena_calloc(arena, n, sizeof(size_t));
    rp->stored = sm_arena_calloc(arena, n, sizeof(sm_get_row_t));

    return rp->sources && rp->there && rp->inserts && rp->which && rp->stored
           ? 0 : sm_call_no_memory(call);
}


/*
 * Decides whether a row may be replayed, and under which id.  Returns 1 if so,
 * 0 if the row has its outcome, or -1.
 */

static int
sm_store_replay_name(sm_call_t *call, const sm_payload_row_t *source,
    sm_replay_row_t *row, sm_str_t *id)
{
    unsigned  too_long;

    memset(&row->intent, 0, sizeof(sm_intent_t));

    row->status = source->status;

    if (!source->found) {
        row->outcome = SM_REPLAY_NOT_FOUND;
        return 0;
    }

    if (source->status == SM_STATUS_PENDING) {
        row->outcome = SM_REPLAY_NOT_TERMINAL;
        return 0;
    }

    if (row->new_id.data) {
        *id = row->new_id;
        return 1;
    }

    if (sm_replay_id(&call->arena, source, 1, id, &too_long) == 0) {
        return 1;
    }

    if (too_long) {
        row->outcome = SM_REPLAY_TOO_LONG;
        return 0;
    }

    return sm_call_no_memory(call);
}


/*
 * Finds another number for an id that nobody named, because the first is that
 * of something else.  If no number is free, or the id would be too long, "there"
 * stays as it is.
 */

static int
sm_store_replay_number(sm_store_t *store, sm_call_t *call,
    const sm_payload_row_t *source, const sm_replay_row_t *row,
    sm_payload_row_t *there)
{
    size_t         i, n;
    unsigned       too_long;
    sm_get_row_t  *tried;

    if (!there->found || row->new_id.data
        || sm_str_eq(there->replay_of, row->id))
    {
        return 0;
    }

    tried = sm_arena_calloc(&call->arena, SM_REPLAY_NUMBERS,
                            sizeof(sm_get_row_t));
    if (tried == NULL) {
        return sm_call_no_memory(call);
    }

    for (n = 0; n < SM_REPLAY_NUMBERS; n++) {

        if (sm_replay_id(&call->arena, source, n + 2, &tried[n].id, &too_long)
            == 0)
        {
            continue;
        }

        if (too_long) {
            break;
        }

        return sm_call_no_memory(call);
    }

    if (n && sm_store_intents_get(store, call, tried, n) != 0) {
        return -1;
    }

    for (i = 0; i < n; i++) {

        if (tried[i].found
            && !sm_str_eq(tried[i].intent.replay_of, row->id))
        {
            continue;
        }

        memset(there, 0, sizeof(sm_payload_row_t));

        there->id = tried[i].id;
        there->found = tried[i].found;
        there->replay_of = tried[i].intent.replay_of;

        break;
    }

    return 0;
}


/*
 * Fills in the insert of a row.  Returns 1 if it is to be written, 0 if the
 * row has its outcome, or -1.
 */

static int
sm_store_replay_terms(sm_call_t *call, const sm_payload_row_t *source,
    const sm_payload_row_t *there, sm_replay_row_t *row,
    sm_replay_insert_t *insert)
{
    if (there->found) {
        row->outcome = sm_str_eq(there->replay_of, row->id)
                       ? SM_REPLAY_SAME : SM_REPLAY_CONFLICT;
        return 0;
    }

    if (source->stripped) {
        row->outcome = SM_REPLAY_STRIPPED;
        return 0;
    }

    memset(insert, 0, sizeof(sm_replay_insert_t));

    insert->id = row->id;
    insert->new_id = there->id;
    insert->trace = row->trace;
    insert->actor = &row->actor;
    insert->again = row->again;

    if (!row->original) {
        insert->contract = row->contract(row->data, source->target);

        if (insert->contract == NULL) {
            row->outcome = SM_REPLAY_NO_TARGET;
            row->target = source->target;
            return 0;
        }
    }

    if (sm_replay_detail(&call->arena, insert->new_id, row->original,
                         &insert->detail)
        != 0)
    {
        return sm_call_no_memory(call);
    }

    return 1;
}


static int
sm_store_replay_insert(sm_store_t *store, sm_call_t *call, sm_replay_t *rp,
    sm_replay_row_t *rows, size_t n)
{
    int     rc;
    size_t  i, k;

    for (i = 0, k = 0; i < n; i++) {

        if (rp->there[i].id.data == NULL) {
            continue;
        }

        rc = sm_store_replay_terms(call, &rp->sources[i], &rp->there[i],
                                   &rows[i], &rp->inserts[k]);
        if (rc < 0) {
            return -1;
        }

        rp->which[k] = i;
        k += rc;
    }

    if (k && sm_store_replays_insert(store, call, rp->inserts, k) != 0) {
        return -1;
    }

    for (i = 0; i < k; i++) {
        rows[rp->which[i]].outcome = rp->inserts[i].outcome
                                     == SM_REPLAY_NOT_FOUND
                                     ? SM_REPLAY_STRIPPED
                                     : rp->inserts[i].outcome;
    }

    return 0;
}


static int
sm_store_replay_read(sm_store_t *store, sm_call_t *call, sm_replay_t *rp,
    sm_replay_row_t *rows, size_t n)
{
    size_t  i, k;

    for (i = 0, k = 0; i < n; i++) {

        switch (rows[i].outcome) {

        case SM_REPLAY_CREATED:
        case SM_REPLAY_SAME:
        case SM_REPLAY_CONFLICT:
            rp->stored[k].id = rp->there[i].id;
            rp->which[k++] = i;
            break;

        case SM_REPLAY_ALREADY:
            rp->stored[k].id = rows[i].id;
            rp->which[k++] = i;
            break;

        default:
            break;
        }
    }

    if (k && sm_store_intents_get(store, call, rp->stored, k) != 0) {
        return -1;
    }

    for (i = 0; i < k; i++) {
        rows[rp->which[i]].intent = rp->stored[i].intent;

        if (!rp->stored[i].found) {
            rows[rp->which[i]].outcome = SM_REPLAY_NOT_FOUND;
            continue;
        }

        if (rows[rp->which[i]].outcome == SM_REPLAY_CREATED
            || rows[rp->which[i]].outcome == SM_REPLAY_SAME)
        {
            rows[rp->which[i]].intent.replay_of = rows[rp->which[i]].id;
        }
    }

    return 0;
}


/*
 * Bounds the rows to those that one call may copy.  The request does not show
 * how much that is, because the payloads are in the store.
 */

static int
sm_store_replay_bound(sm_store_t *store, sm_call_t *call, sm_replay_t *rp,
    sm_replay_row_t *rows, size_t *n)
{
    size_t  i, k;

    if (*n < 2) {
        return 0;
    }

    for (i = 0; i < *n; i++) {
        rp->stored[i].id = rows[i].id;
    }

    if (sm_store_intents_length(store, call, rp->stored, *n) != 0) {
        return -1;
    }

    k = sm_batch_copies(rp->stored, *n);

    for (i = k; i < *n; i++) {
        rows[i].outcome = SM_REPLAY_LEFT;
    }

    memset(rp->stored, 0, *n * sizeof(sm_get_row_t));

    *n = k;

    return 0;
}


int
sm_store_intents_replay(sm_store_t *store, sm_call_t *call,
    sm_replay_row_t *rows, size_t n)
{
    int                rc;
    size_t             i, k;
    sm_replay_t        rp;
    sm_payload_row_t  *named;

    if (sm_store_replay_alloc(call, &rp, n) != 0
        || sm_store_replay_bound(store, call, &rp, rows, &n) != 0)
    {
        return -1;
    }

    for (i = 0; i < n; i++) {
        rp.sources[i].id = rows[i].id;
        rp.sources[i].bare = 1;
    }

    if (sm_store_intent_payload(store, call, rp.sources, n) != 0) {
        return -1;
    }

    named = sm_arena_calloc(&call->arena, n, sizeof(sm_payload_row_t));
    if (named == NULL) {
        return sm_call_no_memory(call);
    }

    for (i = 0, k = 0; i < n; i++) {
        rc = sm_store_replay_name(call, &rp.sources[i], &rows[i],
                                  &rp.there[i].id);
        if (rc < 0) {
            return -1;
        }

        if (rc == 0) {
            rp.there[i].id.data = NULL;
            continue;
        }

        named[k].id = rp.there[i].id;
        named[k++].bare = 1;
    }

    if (k && sm_store_intent_payload(store, call, named, k) != 0) {
        return -1;
    }

    for (i = 0, k = 0; i < n; i++) {

        if (rp.there[i].id.data == NULL) {
            continue;
        }

        rp.there[i] = named[k++];

        if (sm_store_replay_number(store, call, &rp.sources[i], &rows[i],
                                   &rp.there[i])
            != 0)
        {
            return -1;
        }
    }

    return sm_store_replay_insert(store, call, &rp, rows, n) == 0
           && sm_store_replay_read(store, call, &rp, rows, n) == 0 ? 0 : -1;
}
