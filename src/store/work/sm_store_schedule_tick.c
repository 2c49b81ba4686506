
/*
 * Fires the schedules that are due, and maintains those of the configuration.
 *
 * A look reads a page of schedules and decides what becomes of each.  Then one
 * fenced transaction creates the intents and advances the schedules, if they
 * are still as they were read.  So a crash at any point leaves either an
 * occurrence to come or an intent, and another leader finds one or the other.
 *
 * After a long outage, so many times may have been missed that one transaction
 * would not end in time, and would fail again and again.  So a look decides
 * only as many schedules as its transaction may create intents.  Of a schedule
 * that has more by itself, it takes the first times, and the next look
 * continues from there.  A part that is not the last one does not change the
 * schedule's last intent, which had ended, so the intents of one part do not
 * hold back the next part.
 *
 * A schedule that cannot run, because its target is not configured, gets an
 * error.  It is not due any more, keeps its planned time, and blocks no
 * others.  A leader that has the target lets it run again.
 */

#include <stdio.h>

#include "sm_store_ops.h"
#include "sm_store_zone.h"


/* What a transaction has taken so far. */

typedef struct {
    size_t  intents;
    size_t  bytes;              /* of their payloads */
} sm_schedule_sum_t;


static int
sm_schedule_error(sm_call_t *call, sm_schedule_fire_t *row, const char *what)
{
    row->due.n = 0;
    row->due.left = 0;
    row->due.skipped = 0;
    row->due.missed = 0;
    row->due.next = row->schedule->next_run_at / SM_SCHEDULE_SECOND;
    row->last = 0;
    row->last_intent.data = NULL;

    return sm_arena_strdup(&call->arena, &row->error, sm_str_c(what)) == 0
           ? 0 : sm_call_no_memory(call);
}


/* Returns how many intents of a schedule the transaction can still take. */

static size_t
sm_schedule_room(const sm_schedule_sum_t *sum, const sm_schedule_fire_t *row)
{
    size_t  n, room;

    room = SM_SCHEDULE_INTENTS - sum->intents;

    if (row->schedule->payload.len) {
        n = sum->bytes < SM_SCHEDULE_COPIES ? SM_SCHEDULE_COPIES - sum->bytes
                                            : 0;
        n /= row->schedule->payload.len;
        room = n < room ? n : room;
    }

    return room || sum->intents ? room : 1;
}


static int
sm_schedule_intents(sm_store_t *store, sm_call_t *call, sm_schedule_fire_t *row,
    const sm_contract_t *contract)
{
    size_t            i;
    sm_submit_row_t  *submit;

    row->intents = sm_arena_calloc(&call->arena, row->due.n,
                                   sizeof(sm_submit_row_t));
    if (row->intents == NULL) {
        goto no_memory;
    }

    for (i = 0; i < row->due.n; i++) {
        submit = &row->intents[i];

        submit->contract = contract;
        submit->payload = row->schedule->payload;
        submit->occurrence = 1;

        if (sm_schedule_intent(&call->arena, row->schedule->id,
                               row->due.times[i], &submit->id)
            != 0)
        {
            goto no_memory;
        }

        if (i == 0) {
            if (sm_store_hash(store, call, submit, 1) != 0) {
                return -1;
            }

        } else {
            (void) memcpy(submit->hash, row->intents[0].hash, SM_HASH_LEN);
        }

        row->last = row->due.times[i];

        if (row->due.left == 0) {
            row->last_intent = submit->id;
        }
    }

    return 0;

no_memory:

    return sm_call_no_memory(call);
}


/*
 * Decides what becomes of a schedule.  Returns 1 if it has to wait for the
 * next look, or -1 on errors.
 */

static int
sm_schedule_decide(sm_store_t *store, sm_call_t *call, sm_zones_t *zones,
    const sm_schedule_tick_t *tick, int64_t now, sm_schedule_sum_t *sum,
    sm_schedule_fire_t *row)
{
    int                        rc;
    size_t                     room;
    sm_schedule_rule_t         rule;
    const sm_contract_t       *contract;
    const sm_schedule_zone_t  *zone;

    rc = sm_schedule_load(&call->arena, row->schedule->body, &rule);

    if (rc == -2) {
        return sm_call_no_memory(call);
    }

    if (rc != 0) {
        return sm_schedule_error(call, row, "its rule is not understood");
    }

    contract = tick->contract(tick->data, row->schedule->target);

    if (contract == NULL) {
        return sm_schedule_error(call, row, "its target is not configured");
    }

    rc = sm_zones_get(zones, rule.zone, &zone);

    if (rc == -2) {
        return sm_call_no_memory(call);
    }

    if (rc != 0) {
        return sm_schedule_error(call, row, "its time zone is not known");
    }

    switch (sm_schedule_due(&call->arena, &rule, zone,
                         row->schedule->next_run_at / SM_SCHEDULE_SECOND, now,
                            row->schedule->busy, &row->due))
    {

    case 0:
        break;

    case -1:
        return sm_schedule_error(call, row, "its time zone does not say when "
                                 "it is to run");

    default: /* -2: it runs when there is memory again */
        return sm_call_no_memory(call);
    }

    if (row->due.n == 0) {
        return 0;
    }

    room = sm_schedule_room(sum, row);

    if (room < row->due.n) {

        if (sum->intents) {
            return 1;
        }

        sm_schedule_part(&row->due, room);
    }

    sum->intents += row->due.n;
    sum->bytes += row->due.n * row->schedule->payload.len;

    return sm_schedule_intents(store, call, row, contract);
}


/*
 * Fires the schedules one by one, so that only those fail whose data the store
 * refuses.
 */

static int
sm_schedule_apart(sm_store_t *store, sm_call_t *call, const sm_fence_t *fence,
    sm_schedule_fire_t *rows, size_t n)
{
    size_t  i;

    for (i = 0; i < n; i++) {
        call->status = SM_STORE_OK;

        if (sm_store_schedules_fire(store, call, fence, &rows[i], 1) == 0) {
            continue;
        }

        if (call->status != SM_STORE_CONSTRAINT) {
            return -1;
        }

        call->status = SM_STORE_OK;

        if (sm_schedule_error(call, &rows[i], "the store refused its data") != 0
            || sm_store_schedules_fire(store, call, fence, &rows[i], 1) != 0)
        {
            return -1;
        }
    }

    return 0;
}


static void
sm_schedule_count(sm_schedule_tick_t *tick, const sm_schedule_fire_t *row)
{
    size_t   i;
    int64_t  next;

    if (!row->done) {
        return;
    }

    next = row->error.data ? 0 : row->due.next * SM_SCHEDULE_SECOND;

    if (next && (tick->next_due == 0 || next < tick->next_due)) {
        tick->next_due = next;
    }

    tick->schedules++;
    tick->skipped += row->due.skipped;
    tick->missed += row->due.missed;

    for (i = 0; i < row->due.n; i++) {
        if (row->intents[i].outcome == SM_SUBMIT_CREATED) {
            tick->created++;

        } else {
            tick->found++;
        }
    }
}


int
sm_store_schedules_tick(sm_store_t *store, sm_call_t *call,
    const sm_fence_t *fence, sm_schedule_tick_t *tick)
{
    int                 rc;
    size_t              i;
    int64_t             now;
    sm_zones_t          zones;
    sm_schedule_sum_t   sum;
    sm_schedule_page_t  page;

    memset(&page, 0, sizeof(sm_schedule_page_t));
    memset(&sum, 0, sizeof(sm_schedule_sum_t));

    page.limit = tick->limit;
    page.bytes = tick->bytes;
    page.payload = 1;

    if (sm_store_schedules_due(store, call, fence, &page) != 0) {
        return -1;
    }

    tick->next_due = page.next_due;
    tick->more = page.more;
    tick->n = page.n;

    if (page.n == 0) {
        return 0;
    }

    now = call->now / SM_SCHEDULE_SECOND;

    tick->rows = sm_arena_calloc(&call->arena, page.n,
                                 sizeof(sm_schedule_fire_t));
    if (tick->rows == NULL) {
        return sm_call_no_memory(call);
    }

    memset(&zones, 0, sizeof(sm_zones_t));

    for (i = 0, rc = 0; i < page.n && rc == 0; i++) {
        tick->rows[i].schedule = &page.rows[i];
        rc = sm_schedule_decide(store, call, &zones, tick, now, &sum,
                                &tick->rows[i]);

        if (rc == 0 && tick->rows[i].due.left) {
            tick->more = 1;
        }
    }

    if (rc == 1) {
        tick->more = 1;
        tick->n = i - 1;
        rc = 0;
    }

    sm_zones_done(&zones);

    if (rc == 0) {
        rc = sm_store_schedules_fire(store, call, fence, tick->rows, tick->n);

        if (rc != 0 && call->status == SM_STORE_CONSTRAINT) {
            rc = sm_schedule_apart(store, call, fence, tick->rows, tick->n);
        }
    }

    for (i = 0; i < tick->n && rc == 0; i++) {
        sm_schedule_count(tick, &tick->rows[i]);
    }

    return rc;
}


/*
 * Removes a schedule that the configuration no longer has, or clears the error
 * of one whose target is configured again.
 */

static int
sm_schedule_seed_old(sm_store_t *store, sm_call_t *call,
    const sm_fence_t *fence, const sm_schedule_row_t *seeds, size_t n,
    const sm_schedule_t *schedule, const sm_schedule_tick_t *tick)
{
    size_t               i;
    sm_schedule_write_t  write;

    static const sm_actor_t  leader = { sm_str("configuration"), sm_str("") };

    for (i = 0; i < n && !sm_str_eq(seeds[i].id, schedule->id); i++) {
        /* void */
    }

    memset(&write, 0, sizeof(sm_schedule_write_t));

    write.revision = schedule->revision;
    write.schedule = schedule;
    write.actor = &leader;

    if (schedule->configured && i == n) {
        write.action = SM_SCHEDULE_DELETE;

    } else if (schedule->error.data
               && tick->contract(tick->data, schedule->target) != NULL)
    {
        write.action = SM_SCHEDULE_RETRY;

    } else {
        return 0;
    }

    return sm_store_schedule_write(store, call, fence, &write);
}


int
sm_store_schedules_seed(sm_store_t *store, sm_call_t *call,
    const sm_fence_t *fence, sm_schedule_row_t *seeds, size_t n,
    sm_schedule_tick_t *tick)
{
    size_t              i;
    sm_schedule_page_t  page;

    memset(&page, 0, sizeof(sm_schedule_page_t));

    page.limit = tick->limit;
    page.special = 1;

    do {
        if (sm_store_schedules_get(store, call, &page) != 0) {
            return -1;
        }

        for (i = 0; i < page.n; i++) {
            if (sm_schedule_seed_old(store, call, fence, seeds, n,
                                     &page.rows[i], tick)
                != 0)
            {
                return -1;
            }

            page.after = page.rows[i].id;
        }

    } while (page.more);

    for (i = 0; i < n; i++) {
        if (sm_store_schedule(store, call, fence, &seeds[i]) != 0) {
            return -1;
        }
    }

    return 0;
}
