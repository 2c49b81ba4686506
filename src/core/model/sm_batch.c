
#include "sm_batch.h"


int
sm_batch_ids_doc(sm_arena_t *arena, const sm_get_row_t *rows, size_t n,
    sm_str_t *doc)
{
    size_t    i;
    sm_out_t  out;

    sm_out_init_arena(&out, arena);

    sm_out_c(&out, "[");

    for (i = 0; i < n; i++) {
        sm_out_c(&out, i ? "," : "");
        sm_json_out_str(&out, rows[i].id);
    }

    sm_out_c(&out, "]");

    return sm_out_done(&out, doc);
}


int
sm_submit_too_far(const sm_submit_row_t *row, int64_t now)
{
    return row->posted.not_before - SM_NOT_BEFORE_MAX > now;
}


int64_t
sm_submit_due(const sm_submit_row_t *row, int64_t now)
{
    return row->posted.not_before > now ? row->posted.not_before : now;
}


void
sm_submit_created(sm_submit_row_t *row, int64_t now)
{
    sm_intent_t  *intent = &row->intent;

    memset(intent, 0, sizeof(sm_intent_t));

    row->outcome = SM_SUBMIT_CREATED;

    intent->id = row->id;
    intent->target = row->contract->target;
    intent->status = SM_STATUS_PENDING;
    intent->created_at = now;
    intent->next_attempt_at = sm_submit_due(row, now);
    intent->posted = row->posted;
    intent->traceparent = row->trace.parent;
}


void
sm_submit_found(sm_submit_row_t *row)
{
    sm_str_t  sent;

    sent.data = row->hash;
    sent.len = SM_HASH_LEN;

    row->outcome = sm_str_eq(row->intent.hash, sent)
                   && sm_str_eq(row->intent.target, row->contract->target)
                   && sm_posted_differ(&row->intent.posted, &row->posted)
                      == NULL
                   ? SM_SUBMIT_SAME : SM_SUBMIT_CONFLICT;
}


size_t
sm_batch_copies(const sm_get_row_t *rows, size_t n)
{
    size_t   i;
    int64_t  bytes;

    for (i = 0, bytes = 0; i < n; i++) {
        bytes += rows[i].length;

        if (i && bytes > SM_COPIES) {
            break;
        }
    }

    return i;
}
