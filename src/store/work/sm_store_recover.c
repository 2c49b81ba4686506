
/*
 * Recovery, the first thing that an executor does.
 *
 * Attempts in flight under an earlier epoch are recorded as unknown, and their
 * contracts decide what becomes of the intents.  Attempts that this worker
 * itself has at gateways, or whose outcome it knows, are left to it.
 *
 * If a contract is not understood, nobody knows whether its intent may be sent
 * again.  The attempt stays in doubt, and the intent has an error that says
 * so, until the contract is repaired or a release leads that understands it.
 */

#include <stdio.h>
#include <stdlib.h>

#include "sm_policy.h"
#include "sm_store_ops.h"
#include "sm_text.h"


#define SM_REFUSED_MAX  200             /* characters of "refused" */


int
sm_store_contract(sm_call_t *call, const sm_contract_row_t *row,
    sm_contract_t *c, sm_str_t *refused)
{
    char      why[128], text[192];
    sm_out_t  out;

    if (sm_contract_load(c, row, why, sizeof(why)) == 0) {
        return 0;
    }

    (void) snprintf(text, sizeof(text), "its contract is not understood: %s",
                    why);

    /* The stored contract may contain any bytes. */

    sm_out_init(&out, sm_arena_alloc(&call->arena,
                                     sm_clean_size(SM_REFUSED_MAX)),
                sm_clean_size(SM_REFUSED_MAX));

    if (out.start == NULL) {
        return sm_call_no_memory(call);
    }

    sm_out_clean(&out, sm_str_c(text), SM_REFUSED_MAX);

    refused->data = out.start;
    refused->len = out.last - out.start;

    return 0;
}


/* Decides what becomes of an attempt that may or may not have been sent. */

static void
sm_store_doubt(const sm_doubt_row_t *doubt, int64_t now, uint32_t random,
    sm_complete_row_t *row)
{
    sm_policy_in_t   in;
    sm_policy_out_t  out;

    memset(&in, 0, sizeof(sm_policy_in_t));

    in.contract = &doubt->contract;
    in.created_at = doubt->created_at;
    in.number = doubt->number;
    in.finished_at = now;
    in.outcome = SM_OUTCOME_UNKNOWN;
    in.reason = sm_str_c("leader_lost");
    in.random = random;

    sm_policy(&in, &out);

    row->id = doubt->id;
    row->number = doubt->number;
    row->epoch = doubt->epoch;
    row->holder = doubt->holder;
    row->started_at = doubt->started_at;
    row->finished_at = now;
    row->outcome = in.outcome;
    row->reason = in.reason;
    row->status = out.status;
    row->exhausted = out.exhausted;
    row->delay = out.delay;
    row->untold = doubt->contract.notify.len == 0;
}


/* Leaves the attempt in doubt, and notes why in the intent and in the log. */

static void
sm_store_hold(sm_call_t *call, const sm_doubt_row_t *doubt,
    sm_complete_row_t *row)
{
    row->id = doubt->id;
    row->number = doubt->number;
    row->epoch = doubt->epoch;
    row->holder = doubt->holder;
    row->outcome = SM_OUTCOME_NONE;
    row->error = doubt->refused;
    row->held = 1;

    sm_call_warn(call, "attempt %lld of intent \"%.*s\" is in doubt, and stays "
                 "so: %.*s", (long long) doubt->number,
                 (int) (doubt->id.len < 128 ? doubt->id.len : 128),
                 doubt->id.data, (int) doubt->refused.len,
                 doubt->refused.data);
}


/* Finds or adds a target; there are few.  Returns NULL without memory. */

static sm_recovered_target_t *
sm_store_recovered_target(sm_call_t *call, sm_recovered_t *recovered,
    sm_str_t name)
{
    sm_recovered_target_t  *t;

    for (t = recovered->targets; t; t = t->next) {
        if (sm_str_eq(t->name, name)) {
            return t;
        }
    }

    t = sm_arena_calloc(&call->arena, 1, sizeof(sm_recovered_target_t));

    if (t) {
        t->name = name;
        t->next = recovered->targets;
        recovered->targets = t;
    }

    return t;
}


/* Notes the end of an intent. */

static void
sm_store_end(const sm_doubt_row_t *doubt, const sm_complete_row_t *row,
    sm_recovered_end_t *end)
{
    end->id = doubt->id;
    end->target = doubt->contract.target;
    end->created_at = doubt->created_at;
    end->exhausted = row->exhausted;
    end->message = doubt->contract.gateway_type == SM_GATEWAY_WEBHOOK;
}


static void
sm_store_recovered(sm_call_t *call, const sm_complete_row_t *rows,
    sm_recovered_target_t **of, sm_recovered_end_t *ends, size_t n,
    sm_recovered_t *recovered)
{
    size_t  i;

    for (i = 0; i < n; i++) {

        if (!rows[i].applied) {

            if (call->error[0] == '\0') {
                sm_call_warn(call, "attempt %lld of intent \"%.*s\" is in "
                             "doubt, and cannot be recorded",
                             (long long) rows[i].number,
                             (int) (rows[i].id.len < 128
                                    ? rows[i].id.len : 128),
                             rows[i].id.data);
            }

            continue;
        }

        if (rows[i].held) {
            continue;
        }

        recovered->attempts++;
        of[i]->attempts++;

        if (rows[i].status == SM_STATUS_PENDING) {
            recovered->retries++;

        } else {
            ends[i].next = recovered->ended;
            recovered->ended = &ends[i];
        }
    }
}


static int
sm_store_known_cmp(const void *one, const void *two)
{
    int                    rc;
    size_t                 n;
    const sm_known_row_t  *a, *b;

    a = *(sm_known_row_t *const *) one;
    b = *(sm_known_row_t *const *) two;

    n = a->id.len < b->id.len ? a->id.len : b->id.len;
    rc = n ? memcmp(a->id.data, b->id.data, n) : 0;

    return rc ? rc : (a->id.len > b->id.len) - (a->id.len < b->id.len);
}


/*
 * Sorts the known attempts by the id of their intent, which has one attempt at
 * a time.
 */

static int
sm_store_known(sm_call_t *call, sm_known_row_t *known, size_t n,
    sm_known_row_t ***sorted)
{
    size_t  i;

    *sorted = sm_arena_calloc(&call->arena, n, sizeof(sm_known_row_t *));
    if (*sorted == NULL) {
        return sm_call_no_memory(call);
    }

    for (i = 0; i < n; i++) {
        known[i].in_flight = 0;
        (*sorted)[i] = &known[i];
    }

    qsort(*sorted, n, sizeof(sm_known_row_t *), sm_store_known_cmp);

    return 0;
}


static int
sm_store_is_known(const sm_doubt_row_t *doubt, const sm_fence_t *fence,
    sm_known_row_t **sorted, size_t n)
{
    sm_known_row_t  key, *p, **found;

    if (!sm_str_eq(doubt->holder, fence->holder)) {
        return 0;
    }

    key.id = doubt->id;
    p = &key;

    found = bsearch(&p, sorted, n, sizeof(sm_known_row_t *),
                    sm_store_known_cmp);

    if (found == NULL || (*found)->epoch != doubt->epoch
        || (*found)->number != doubt->number)
    {
        return 0;
    }

    (*found)->in_flight = 1;

    return 1;
}


/*
 * Each page begins after the previous one, so an attempt that stays in doubt
 * is met once.
 */

int
sm_store_attempts_recover(sm_store_t *store, sm_call_t *call,
    const sm_fence_t *fence, sm_known_row_t *known, size_t nknown, size_t page,
    uint32_t random, sm_recovered_t *recovered)
{
    size_t                  i, n, k;
    sm_doubt_row_t         *doubts, *after;
    sm_known_row_t        **sorted;
    sm_complete_row_t      *rows;
    sm_recovered_end_t     *ends;
    sm_recovered_target_t **of;

    memset(recovered, 0, sizeof(sm_recovered_t));

    after = NULL;

    if (sm_store_known(call, known, nknown, &sorted) != 0) {
        return -1;
    }

    do {
        if (sm_store_attempts_in_doubt(store, call, fence, after, page,
                                       &doubts, &n)
            != 0)
        {
            return -1;
        }

        rows = sm_arena_calloc(&call->arena, n, sizeof(sm_complete_row_t));
        of = sm_arena_calloc(&call->arena, n, sizeof(sm_recovered_target_t *));
        ends = sm_arena_calloc(&call->arena, n, sizeof(sm_recovered_end_t));

        if (rows == NULL || of == NULL || ends == NULL) {
            return sm_call_no_memory(call);
        }

        for (i = 0, k = 0; i < n; i++) {

            random = random * 1664525 + 1013904223;

            if (sm_store_is_known(&doubts[i], fence, sorted, nknown)) {
                continue;
            }

            if (doubts[i].refused.data) {
                sm_store_hold(call, &doubts[i], &rows[k++]);
                continue;
            }

            sm_store_doubt(&doubts[i], call->now, random, &rows[k]);
            sm_store_end(&doubts[i], &rows[k], &ends[k]);

            of[k] = sm_store_recovered_target(call, recovered,
                                              doubts[i].contract.target);

            if (of[k++] == NULL) {
                return sm_call_no_memory(call);
            }
        }

        if (sm_store_attempts_complete(store, call, fence, rows, k) != 0) {
            return -1;
        }

        sm_store_recovered(call, rows, of, ends, k, recovered);

        after = n ? &doubts[n - 1] : NULL;

    } while (after && n == page);

    return 0;
}
