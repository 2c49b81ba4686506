
/*
 * Carries out requests about schedules.
 *
 * A schedule is read first, because its next time depends on what is stored
 * and on a time zone.  Then it is written if it still has the revision that
 * was read.  If another request was faster, all begins again.
 *
 * A request that is repeated, as after a commit whose answer was lost, changes
 * nothing: a PUT of the stored definition succeeds, and so does a pause of a
 * schedule that is paused.
 */

#include "sm_store_ops.h"
#include "sm_store_zone.h"
#include "sm_tag.h"


#define SM_SCHEDULE_TRIES   20


static const struct {
    sm_str_t     action;
    const char  *audit;
} sm_schedule_actions[] = {
    { sm_str("put"), "schedule_put" },
    { sm_str("delete"), "schedule_delete" },
    { sm_str("pause"), "schedule_pause" },
    { sm_str("resume"), "schedule_resume" },
    { sm_str("retry"), NULL }
};

_Static_assert(sm_nelts(sm_schedule_actions) == SM_SCHEDULE_ACTIONS,
               "a row for each action");


sm_str_t
sm_store_schedule_action(sm_schedule_action_e action)
{
    return sm_schedule_actions[action].action;
}


const char *
sm_store_schedule_audit(sm_schedule_action_e action)
{
    return sm_schedule_actions[action].audit;
}


static int
sm_schedule_no_memory(sm_call_t *call)
{
    return sm_call_no_memory(call);
}


/*
 * Gives the range of ids of a page.  All characters of an id are greater than
 * "!" and less than DEL.
 */

int
sm_store_schedules_range(sm_call_t *call, const sm_schedule_page_t *page,
    sm_str_t *first, sm_str_t *last)
{
    char  *p;

    if (page->id.data) {
        *first = page->id;
        *last = page->id;
        return 0;
    }

    *last = sm_str_c("\x7f");

    p = sm_arena_alloc(&call->arena, page->after.len + 1);
    if (p == NULL) {
        return sm_schedule_no_memory(call);
    }

    if (page->after.len) {
        (void) memcpy(p, page->after.data, page->after.len);
    }

    p[page->after.len] = '!';

    first->data = p;
    first->len = page->after.len + 1;

    return 0;
}


/*
 * Reads the schedule of a row as it is now.  Returns 1 if it exists, 0 if not,
 * or -1.
 */

static int
sm_schedule_read(sm_store_t *store, sm_call_t *call, sm_schedule_row_t *row,
    unsigned payload)
{
    sm_schedule_page_t  page;

    memset(&page, 0, sizeof(sm_schedule_page_t));

    page.id = row->id;
    page.limit = 1;
    page.payload = payload;

    if (sm_store_schedules_get(store, call, &page) != 0) {
        return -1;
    }

    memset(&row->schedule, 0, sizeof(sm_schedule_t));
    memset(&row->rule, 0, sizeof(sm_schedule_rule_t));

    row->schedule.id = row->id;

    if (page.n == 0) {
        return 0;
    }

    row->schedule = page.rows[0];

    /* A definition that is not understood has no times, but can be replaced. */

    switch (sm_schedule_load(&call->arena, row->schedule.body, &row->rule)) {

    case 0:
        break;

    case -1:
        memset(&row->rule, 0, sizeof(sm_schedule_rule_t));
        break;

    default: /* -2 */
        return sm_schedule_no_memory(call);
    }

    return 1;
}


static int
sm_schedule_expected(sm_schedule_row_t *row)
{
    int64_t  revision;

    revision = row->schedule.revision;

    if ((row->if_match.data && sm_tags_have(row->if_match, revision, 0) != 1)
        || (row->if_none_match.data
            && sm_tags_have(row->if_none_match, revision, 1) == 1))
    {
        row->outcome = SM_SCHEDULE_CHANGED;
        return 0;
    }

    return 1;
}


/*
 * Writes a change.  Returns 1 if it was written, and the row then has the new
 * state, 0 if the caller has to begin again, or -1.
 */

static int
sm_schedule_write(sm_store_t *store, sm_call_t *call, const sm_fence_t *fence,
    sm_schedule_row_t *row, sm_schedule_action_e action,
    const sm_schedule_t *schedule, sm_str_t detail)
{
    sm_schedule_write_t  write;

    write.action = action;
    write.revision = row->schedule.revision;
    write.schedule = schedule;
    write.actor = &row->actor;
    write.detail = detail;

    if (sm_store_schedule_write(store, call, fence, &write) != 0) {
        return -1;
    }

    return write.done;
}


/*
 * Computes the next time.  It stays if the times of the definition have not
 * changed; otherwise it is the first that is not before now.  An interval
 * without a start begins one interval from now.
 */

static int
sm_schedule_plan(sm_call_t *call, sm_schedule_row_t *row,
    sm_schedule_rule_t *rule, int64_t *next)
{
    int                        rc;
    int64_t                    now, last;
    sm_zones_t                 zones;
    const sm_schedule_zone_t  *zone;

    if (row->schedule.revision && sm_schedule_same_times(rule, &row->rule)) {
        rule->start = row->rule.start;
        *next = row->schedule.next_run_at / SM_SCHEDULE_SECOND;

        if (*next || row->configured) {
            return 1;
        }
    }

    now = call->now / SM_SCHEDULE_SECOND;
    last = row->schedule.last_run_at / SM_SCHEDULE_SECOND;

    if (rule->interval && rule->start == 0) {
        rule->start = now + rule->interval;
    }

    memset(&zones, 0, sizeof(sm_zones_t));

    rc = sm_zones_get(&zones, rule->zone, &zone);

    if (rc == -2) {
        return sm_schedule_no_memory(call);
    }

    if (rc != 0) {
        row->outcome = SM_SCHEDULE_NO_ZONE;
        return 0;
    }

    rc = sm_schedule_next(rule, zone, now > last ? now : last, next);

    sm_zones_done(&zones);

    if (rc != 0 || (*next == 0 && !row->configured)) {
        row->outcome = SM_SCHEDULE_NO_TIME;
        return 0;
    }

    return 1;
}


static int
sm_schedule_is(const sm_schedule_row_t *row, const sm_schedule_t *wanted)
{
    return row->schedule.revision
           && row->schedule.configured == wanted->configured
           && sm_str_eq(row->schedule.target, wanted->target)
           && sm_str_eq(row->schedule.body, wanted->body)
           && sm_str_eq(row->schedule.hash, wanted->hash);
}


/* Returns 1 if the row has its outcome, 0 to begin again, or -1. */

static int
sm_schedule_put(sm_store_t *store, sm_call_t *call, const sm_fence_t *fence,
    sm_schedule_row_t *row)
{
    int                 rc;
    int64_t             next;
    unsigned            there;
    sm_schedule_t       wanted;
    sm_submit_row_t    *submit;
    sm_schedule_rule_t  rule;

    rc = sm_schedule_read(store, call, row, 0);
    if (rc < 0) {
        return -1;
    }

    there = rc;

    if (row->schedule.configured && !row->configured) {
        row->outcome = SM_SCHEDULE_CONFIGURED;
        return 1;
    }

    submit = sm_arena_calloc(&call->arena, 1, sizeof(sm_submit_row_t));

    if (submit == NULL
        || sm_schedule_load(&call->arena, row->body, &rule) != 0)
    {
        return sm_schedule_no_memory(call);
    }

    submit->payload = row->payload;

    rc = sm_schedule_plan(call, row, &rule, &next);
    if (rc != 1) {
        return rc == 0 ? 1 : -1;
    }

    memset(&wanted, 0, sizeof(sm_schedule_t));

    wanted.id = row->id;
    wanted.target = row->target;
    wanted.payload = row->payload;
    wanted.hash.data = submit->hash;
    wanted.hash.len = SM_HASH_LEN;
    wanted.next_run_at = next * SM_SCHEDULE_SECOND;
    wanted.configured = row->configured;

    if (sm_store_hash(store, call, submit, 1) != 0) {
        return -1;
    }

    if (sm_schedule_body(&call->arena, &rule, &wanted.body) != 0) {
        return sm_schedule_no_memory(call);
    }

    if (sm_schedule_is(row, &wanted)) {
        row->outcome = SM_SCHEDULE_DONE;
        return 1;
    }

    if (!sm_schedule_expected(row)) {
        return 1;
    }

    row->outcome = there ? SM_SCHEDULE_DONE : SM_SCHEDULE_CREATED;

    rc = sm_schedule_write(store, call, fence, row, SM_SCHEDULE_PUT, &wanted,
                           wanted.body);

    return rc == 1 && !row->configured
           ? (sm_schedule_read(store, call, row, 0) < 0 ? -1 : 1) : rc;
}


/*
 * Finds the next times of what a PUT would make.  A schedule that is paused may
 * have a planned time that has passed: that one is left out.
 */

static int
sm_schedule_preview(sm_store_t *store, sm_call_t *call, sm_schedule_row_t *row)
{
    int                        rc;
    int64_t                    at, now;
    sm_zones_t                 zones;
    sm_schedule_rule_t         rule;
    const sm_schedule_zone_t  *zone;

    if (sm_schedule_read(store, call, row, 0) < 0) {
        return -1;
    }

    if (sm_schedule_load(&call->arena, row->body, &rule) != 0) {
        return sm_schedule_no_memory(call);
    }

    rc = sm_schedule_plan(call, row, &rule, &at);
    if (rc != 1) {
        return rc == 0 ? 1 : -1;
    }

    memset(&zones, 0, sizeof(sm_zones_t));

    if (sm_zones_get(&zones, rule.zone, &zone) != 0) {
        return sm_schedule_no_memory(call);
    }

    now = call->now / SM_SCHEDULE_SECOND;
    rc = at > now ? 0 : sm_schedule_next(&rule, zone, now, &at);

    for (row->ntimes = 0;
         rc == 0 && at && row->ntimes < SM_SCHEDULE_PREVIEW;
         rc = sm_schedule_next(&rule, zone, at, &at))
    {
        row->times[row->ntimes++] = at;
    }

    sm_zones_done(&zones);

    row->outcome = SM_SCHEDULE_DONE;

    return 1;
}


/* Writes {"reason":"..."}. */

static int
sm_schedule_detail(sm_call_t *call, const char *key, sm_str_t value,
    sm_str_t *detail)
{
    sm_out_t  out;

    detail->data = NULL;
    detail->len = 0;

    if (value.data == NULL) {
        return 0;
    }

    sm_out_init_arena(&out, &call->arena);

    sm_out_c(&out, "{\"");
    sm_out_c(&out, key);
    sm_out_c(&out, "\":");
    sm_json_out_str(&out, value);
    sm_out_c(&out, "}");

    return sm_out_done(&out, detail) == 0 ? 0 : sm_schedule_no_memory(call);
}


static int
sm_schedule_change(sm_store_t *store, sm_call_t *call, sm_schedule_row_t *row)
{
    int                   rc;
    sm_str_t              detail;
    sm_schedule_t         wanted;
    sm_schedule_action_e  action;

    action = row->op == SM_SCHEDULE_OP_DELETE ? SM_SCHEDULE_DELETE
             : row->op == SM_SCHEDULE_OP_PAUSE ? SM_SCHEDULE_PAUSE
             : SM_SCHEDULE_RESUME;

    rc = sm_schedule_read(store, call, row, 0);

    if (rc < 1) {
        row->outcome = row->if_match.data ? SM_SCHEDULE_CHANGED
                                          : SM_SCHEDULE_NOT_FOUND;
        return rc < 0 ? -1 : 1;
    }

    if (action == SM_SCHEDULE_DELETE && row->schedule.configured) {
        row->outcome = SM_SCHEDULE_CONFIGURED;
        return 1;
    }

    row->outcome = SM_SCHEDULE_DONE;

    if ((action == SM_SCHEDULE_PAUSE && row->schedule.paused_at)
        || (action == SM_SCHEDULE_RESUME && row->schedule.paused_at == 0
            && row->schedule.error.data == NULL))
    {
        return 1;
    }

    if (!sm_schedule_expected(row)) {
        return 1;
    }

    wanted = row->schedule;
    wanted.pause_reason = row->reason;

    if (sm_schedule_detail(call, "reason", row->reason, &detail) != 0) {
        return -1;
    }

    rc = sm_schedule_write(store, call, NULL, row, action, &wanted, detail);

    return rc == 1 && action != SM_SCHEDULE_DELETE
           ? (sm_schedule_read(store, call, row, 0) < 0 ? -1 : 1) : rc;
}


static int
sm_schedule_ran(sm_store_t *store, sm_call_t *call, sm_schedule_row_t *row,
    sm_str_t id)
{
    sm_get_row_t  get;

    memset(&get, 0, sizeof(sm_get_row_t));

    get.id = id;

    if (sm_store_intents_get(store, call, &get, 1) != 0) {
        return -1;
    }

    row->intent = get.intent;

    return 1;
}


/*
 * Looks for the intent of a run that is repeated.  It is answered like a
 * duplicate POST, and the schedule stays as it is.  Returns 1 if "outcome" is
 * set, 0 if there is no such intent, or -1.
 */

static int
sm_schedule_repeat(sm_store_t *store, sm_call_t *call, sm_schedule_row_t *row,
    const sm_submit_row_t *submit)
{
    sm_str_t      hash = { SM_HASH_LEN, (char *) submit->hash };
    sm_get_row_t  get;

    memset(&get, 0, sizeof(sm_get_row_t));

    get.id = submit->id;

    if (sm_store_intents_get(store, call, &get, 1) != 0) {
        return -1;
    }

    if (!get.found) {
        return 0;
    }

    row->intent = get.intent;
    row->outcome = sm_str_eq(get.intent.target, row->schedule.target)
                   && sm_str_eq(get.intent.hash, hash)
                   && get.intent.posted.not_before == 0
                   ? SM_SCHEDULE_SAME : SM_SCHEDULE_CONFLICT;

    return 1;
}


/*
 * Creates one occurrence now, whatever the state of the last one.  A run whose
 * answer was lost is tried again with the second of the first try, so it finds
 * the intent that it has created.
 */

static int
sm_schedule_run(sm_store_t *store, sm_call_t *call, sm_schedule_row_t *row)
{
    int                   rc;
    unsigned              again;
    sm_str_t              owner;
    const sm_contract_t  *contract;
    sm_schedule_fire_t    fire;
    sm_submit_row_t      *submit;

    if (row->intent_id.data && sm_schedule_occurrence(row->intent_id, &owner)
        && !sm_str_eq(owner, row->id))
    {
        row->outcome = SM_SCHEDULE_RESERVED;
        return 1;
    }

    rc = sm_schedule_read(store, call, row, 1);

    if (rc < 1) {
        row->outcome = SM_SCHEDULE_NOT_FOUND;
        return rc < 0 ? -1 : 1;
    }

    contract = row->contract(row->data, row->schedule.target);

    if (contract == NULL) {
        row->outcome = SM_SCHEDULE_NO_TARGET;
        return 1;
    }

    submit = sm_arena_calloc(&call->arena, 1, sizeof(sm_submit_row_t));
    if (submit == NULL) {
        return sm_schedule_no_memory(call);
    }

    again = row->first != 0;

    if (!again) {
        row->first = call->now;
    }

    memset(&fire, 0, sizeof(sm_schedule_fire_t));

    fire.schedule = &row->schedule;
    fire.last = row->first / SM_SCHEDULE_SECOND;
    fire.actor = &row->actor;
    fire.due.n = 1;
    fire.intents = submit;

    submit->id = row->intent_id;

    if ((submit->id.data == NULL
         && sm_schedule_intent(&call->arena, row->id, fire.last, &submit->id)
            != 0)
        || sm_schedule_detail(call, "intentId", submit->id, &fire.detail) != 0)
    {
        return sm_schedule_no_memory(call);
    }

    fire.last_intent = submit->id;
    submit->contract = contract;
    submit->payload = row->schedule.payload;
    submit->occurrence = 1;

    if (sm_store_hash(store, call, submit, 1) != 0) {
        return -1;
    }

    rc = sm_schedule_repeat(store, call, row, submit);

    if (rc == 1 && again && row->outcome == SM_SCHEDULE_SAME
        && row->intent.created_at >= row->first)
    {
        row->outcome = SM_SCHEDULE_DONE;
    }

    if (rc != 0) {
        return rc;
    }

    if (sm_store_schedules_fire(store, call, NULL, &fire, 1) != 0) {
        return -1;
    }

    if (!fire.done) {
        return 0;
    }

    row->outcome = submit->outcome == SM_SUBMIT_CONFLICT ? SM_SCHEDULE_CONFLICT
                   : submit->outcome == SM_SUBMIT_SAME ? SM_SCHEDULE_SAME
                                                       : SM_SCHEDULE_DONE;

    return sm_schedule_ran(store, call, row, submit->id);
}


static int
sm_schedule_one(sm_store_t *store, sm_call_t *call, const sm_fence_t *fence,
    sm_schedule_row_t *row)
{
    switch (row->op) {

    case SM_SCHEDULE_OP_PUT:
        return sm_schedule_put(store, call, fence, row);

    case SM_SCHEDULE_OP_RUN:
        return sm_schedule_run(store, call, row);

    case SM_SCHEDULE_OP_PREVIEW:
        return sm_schedule_preview(store, call, row);

    case SM_SCHEDULE_OP_GET:
        row->outcome = SM_SCHEDULE_NOT_FOUND;

        switch (sm_schedule_read(store, call, row, 1)) {

        case 1:
            row->outcome = SM_SCHEDULE_DONE;
            return 1;

        case 0:
            return 1;

        default:
            return -1;
        }

    default:
        return sm_schedule_change(store, call, row);
    }
}


int
sm_store_schedule(sm_store_t *store, sm_call_t *call, const sm_fence_t *fence,
    sm_schedule_row_t *row)
{
    int       rc;
    unsigned  tries;

    for (tries = 0; tries < SM_SCHEDULE_TRIES; tries++) {
        rc = sm_schedule_one(store, call, fence, row);

        if (rc) {
            return rc < 0 ? -1 : 0;
        }
    }

    return sm_call_fail(call, SM_STORE_TRANSIENT, 0,
                        "a schedule changes all the time");
}


int
sm_store_schedules(sm_store_t *store, sm_call_t *call, sm_schedule_row_t *rows,
    size_t n)
{
    size_t  i;

    for (i = 0; i < n; i++) {
        if (sm_store_schedule(store, call, NULL, &rows[i]) != 0) {
            return -1;
        }
    }

    return 0;
}


static int
sm_schedule_list(sm_store_t *store, sm_call_t *call, sm_schedule_list_t *row)
{
    size_t              i;
    sm_schedule_page_t  page;

    memset(&page, 0, sizeof(sm_schedule_page_t));

    page.after = row->after;
    page.limit = row->limit;

    if (sm_store_schedules_get(store, call, &page) != 0) {
        return -1;
    }

    row->rows = page.rows;
    row->n = page.n;
    row->more = page.more;

    row->rules = sm_arena_calloc(&call->arena, page.n + 1,
                                 sizeof(sm_schedule_rule_t));
    if (row->rules == NULL) {
        return sm_schedule_no_memory(call);
    }

    for (i = 0; i < page.n; i++) {
        switch (sm_schedule_load(&call->arena, page.rows[i].body,
                                 &row->rules[i]))
        {

        case 0:
            break;

        case -1:
            memset(&row->rules[i], 0, sizeof(sm_schedule_rule_t));
            break;

        default: /* -2 */
            return sm_schedule_no_memory(call);
        }
    }

    return 0;
}


int
sm_store_schedules_list(sm_store_t *store, sm_call_t *call,
    sm_schedule_list_t *rows, size_t n)
{
    size_t  i;

    for (i = 0; i < n; i++) {
        if (sm_schedule_list(store, call, &rows[i]) != 0) {
            return -1;
        }
    }

    return 0;
}
