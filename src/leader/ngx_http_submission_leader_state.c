
/*
 * The state of the leader, and what goes with each change of it.
 *
 * The matrix of src/core/rule/sm_leader.c has a row for each state and event:
 * the next state, and the actions.  _apply() is the one place where the state
 * changes, and the actions are run in the order of sm_leader_act_e: the epoch
 * is known before it is logged, and published before the executor starts.
 * Whatever happens (an answer of the store, a deadline, the exit of the worker)
 * is made an event; nothing else touches ld->state, ld->epoch or ld->deadline.
 */

#include "ngx_http_submission_lease.h"


static const ngx_uint_t  ngx_http_submission_leader_levels[] = {
    [SM_LEADER_LOG_NONE] = NGX_LOG_DEBUG,
    [SM_LEADER_LOG_INFO] = NGX_LOG_INFO,
    [SM_LEADER_LOG_NOTICE] = NGX_LOG_NOTICE,
    [SM_LEADER_LOG_ERR] = NGX_LOG_ERR
};

_Static_assert(sizeof(ngx_http_submission_leader_levels)
               / sizeof(ngx_http_submission_leader_levels[0])
               == SM_LEADER_LOG_COUNT, "a level for each of the table's");


void
ngx_http_submission_leader_log(ngx_http_submission_leader_t *ld,
    ngx_uint_t level, const char *event, const char *reason,
    const char *sql_error)
{
    char                         buf[SM_TIME_LEN];
    sm_str_t                     error;
    sm_out_t                     out;
    ngx_http_submission_field_t  field;

    error = sm_str_c(sql_error ? sql_error : "");

    sm_out_init(&out, buf, sizeof(buf));

    if (ld->expires_at) {
        sm_out_time(&out, ld->expires_at);

    } else {
        sm_out_c(&out, "-");
    }

    ngx_log_error(level, ngx_cycle->log, 0,
                  "submission: %s manager=%V holder_id=%V lease_epoch=%L "
                  "expires_at=%*s%s%s%V",
                  event, &ld->manager->conf->name, &ld->manager->holder_id,
                  ld->epoch, (size_t) (out.last - out.start), out.start,
                  reason ? " reason=" : "", reason ? reason : "",
                  ngx_http_submission_field(&field, " sql_error=", error));
}


/* why an instance does not lead any more, for the feed of events */

static const struct {
    const char                      *reason;
    const char                      *text;
} ngx_http_submission_leader_reasons[] = {
    { "store_error", "the store failed" },
    { "deadline", "it could not renew its lease in time" },
    { "not_held", "its lease was not its own any more" },
    { "lease_lost", "its lease was not its own any more" },
    { "no_connections", "it had no connections left to send with, so it left "
                        "the lease to another instance" },
    { "no_memory", "it had no memory left" },
    { NULL, "it had to stop" }
};


static void
ngx_http_submission_leader_note_lost(ngx_http_submission_leader_t *ld,
    ngx_http_submission_change_t *change)
{
    sm_str_t    error;
    ngx_uint_t  i;

    static const sm_str_t  none;

    if (ld->state == SM_LEADER_ST_DRAINING) {
        ngx_http_submission_event_lease(ld->manager, SM_FEED_LEADER_LEFT,
                                        ld->epoch, "%V stopped leading (epoch "
                                        "%L): its worker exits.",
                                        &ld->manager->holder_id, ld->epoch);
        return;
    }

    for (i = 0; ngx_http_submission_leader_reasons[i].reason; i++) {
        if (change->reason
            && ngx_strcmp(ngx_http_submission_leader_reasons[i].reason,
                          change->reason)
               == 0)
        {
            break;
        }
    }

    /* the feed is for readers, too, who do not see paths */

    error = change->sql_error
            ? ngx_http_submission_health_error(ld->manager->conf,
                                               sm_str_c(change->sql_error))
            : none;

    ngx_http_submission_event_lease(ld->manager, SM_FEED_LEADER_LOST,
                                    ld->epoch, "%V does not lead any more "
                                    "(epoch %L): %s%s%*s.",
                                    &ld->manager->holder_id, ld->epoch,
                                    ngx_http_submission_leader_reasons[i].text,
                                    error.len ? ": " : "", error.len,
                                    error.data);
}


/* says who led before, as far as this instance knows */

static void
ngx_http_submission_leader_note_acquired(ngx_http_submission_leader_t *ld)
{
    int64_t            ended;
    ngx_str_t         *holder;
    const sm_lease_t  *former;

    holder = &ld->manager->holder_id;

    if (ld->own && ld->own == ld->epoch - 1) {
        ngx_http_submission_event_lease(ld->manager, SM_FEED_LEADER_ACQUIRED,
                                        ld->epoch, "%V goes on leading (epoch "
                                        "%L): it took its own lease over.",
                                        holder, ld->epoch);
        return;
    }

    former = &ld->former;

    if (former->epoch == 0 || former->epoch != ld->epoch - 1
        || sm_str_eq(former->holder, ngx_http_submission_str(holder)))
    {
        ngx_http_submission_event_lease(ld->manager, SM_FEED_LEADER_ACQUIRED,
                                        ld->epoch, "%V became the leader "
                                        "(epoch %L).", holder, ld->epoch);
        return;
    }

    ended = ld->expires_at / 1000 - ld->manager->conf->lease_duration
            - former->expires_at / 1000;

    if (ended < 0 || !former->held) {
        ngx_http_submission_event_lease(ld->manager, SM_FEED_LEADER_ACQUIRED,
                                        ld->epoch, "%V became the leader "
                                        "(epoch %L); %*s had given its lease "
                                        "up.", holder, ld->epoch,
                                        former->holder.len,
                                        former->holder.data);
        return;
    }

    ngx_http_submission_event_lease(ld->manager, SM_FEED_LEADER_ACQUIRED,
                                    ld->epoch, "%V became the leader (epoch "
                                    "%L); the lease of %*s had ended %L.%L "
                                    "s before.", holder, ld->epoch,
                                    former->holder.len,
                                    former->holder.data, ended / 1000,
                                    ended % 1000 / 100);
}


static void
ngx_http_submission_leader_publish(ngx_http_submission_leader_t *ld)
{
    ngx_http_submission_role_t  role;

    ngx_memzero(&role, sizeof(ngx_http_submission_role_t));

    role.leader = ld->state == SM_LEADER_ST_LEADER;
    role.pid = ngx_pid;
    role.epoch = ld->epoch;
    role.expires_at = ld->expires_at;
    role.deadline = ld->deadline;

    ngx_http_submission_zone_publish(ld->manager->sh, &role);
}


/* what fails again and again is logged once at its level, and then lower */

static void
ngx_http_submission_leader_tell(ngx_http_submission_leader_t *ld,
    const sm_leader_row_t *row, ngx_http_submission_change_t *change)
{
    sm_leader_log_e  level;

    level = ld->failing ? row->again : row->level;

    if (level != SM_LEADER_LOG_NONE) {
        ngx_http_submission_leader_log(ld,
                                     ngx_http_submission_leader_levels[level],
                                     row->log, change->reason,
                                     change->sql_error);
    }

    if (row->again != row->level) {
        ld->failing = 1;
    }

    if (row->state == SM_LEADER_ST_LEADER && row->next != row->state) {
        ngx_http_submission_leader_note_lost(ld, change);

    } else if (row->state != SM_LEADER_ST_LEADER
               && row->next == SM_LEADER_ST_LEADER)
    {
        ngx_http_submission_leader_note_acquired(ld);
    }
}


static void
ngx_http_submission_leader_disarm(ngx_event_t *ev)
{
    if (ev->timer_set) {
        ngx_del_timer(ev);
    }
}


static void
ngx_http_submission_leader_arm(ngx_event_t *ev, ngx_msec_int_t wait)
{
    ngx_http_submission_leader_disarm(ev);

    ngx_add_timer(ev, wait > 0 ? wait : 1);
}


static void
ngx_http_submission_leader_act(ngx_http_submission_leader_t *ld,
    sm_leader_act_e act, const sm_leader_row_t *row,
    ngx_http_submission_change_t *change)
{
    switch (act) {

    case SM_LEADER_ACT_TAKE:
        ld->epoch = change->epoch;
        ld->expires_at = change->expires_at;
        ld->deadline = change->deadline;
        break;

    case SM_LEADER_ACT_LOG:
        ngx_http_submission_leader_tell(ld, row, change);
        break;

    case SM_LEADER_ACT_FORGET:
        ld->epoch = 0;
        ld->expires_at = 0;
        break;

    case SM_LEADER_ACT_AIM:
        ld->aim = ngx_current_msec;
        break;

    case SM_LEADER_ACT_YIELD:
        ld->yielding = 1;
        ld->yield = ngx_current_msec + ld->manager->conf->lease_duration;
        break;

    case SM_LEADER_ACT_WORKS:
        ld->failures = 0;
        break;

    case SM_LEADER_ACT_STAY:
        ld->tick.cancelable = 0;
        break;

    case SM_LEADER_ACT_PUBLISH:
        ngx_http_submission_leader_publish(ld);
        break;

    case SM_LEADER_ACT_DEADLINE:
        ngx_http_submission_leader_arm(&ld->expiry,
                     (ngx_msec_int_t) (ld->deadline
                                       - ngx_http_submission_lease_msec()));
        break;

    case SM_LEADER_ACT_NO_DEADLINE:
        ngx_http_submission_leader_disarm(&ld->expiry);
        break;

    case SM_LEADER_ACT_TICK:
        ngx_http_submission_leader_arm(&ld->tick, change->wait);
        break;

    case SM_LEADER_ACT_NO_TICK:
        ngx_http_submission_leader_disarm(&ld->tick);
        break;

    case SM_LEADER_ACT_START:
        if (ld->handlers->start(ld->manager, ld->epoch) != NGX_OK) {
            ngx_http_submission_leader_abandon(ld->manager, ld->epoch,
                                               "no_memory");
        }

        break;

    case SM_LEADER_ACT_DROP:
        ld->handlers->lost(ld->manager);
        break;

    case SM_LEADER_ACT_DRAIN:
        ld->handlers->leave(ld->manager);
        break;

    case SM_LEADER_ACT_RELEASE:
        ngx_http_submission_leader_release(ld);
        break;

    case SM_LEADER_ACT_COUNT:
        break;
    }
}


void
ngx_http_submission_leader_apply(ngx_http_submission_leader_t *ld,
    sm_leader_event_e event, ngx_http_submission_change_t *change)
{
    sm_leader_act_e         act;
    const sm_leader_row_t  *row;

    row = sm_leader_row(ld->state, event);

    ngx_log_debug4(NGX_LOG_DEBUG_HTTP, ngx_cycle->log, 0,
                   "submission: leader state:%s event:%s next:%s epoch:%L",
                   sm_leader_state_name(ld->state),
                   sm_leader_event_name(event),
                   sm_leader_state_name(row->next), ld->epoch);

    if (row->kind == SM_LEADER_ROW_IGNORE) {
        return;
    }

    if (row->kind != SM_LEADER_ROW_CHANGE) {
        ngx_log_error(NGX_LOG_ALERT, ngx_cycle->log, 0,
                      "submission: leader_unexpected manager=%V state=%s "
                      "event=%s", &ld->manager->conf->name,
                      sm_leader_state_name(ld->state),
                      sm_leader_event_name(event));
        return;
    }

    ld->state = row->next;

    for (act = 0; act < SM_LEADER_ACT_COUNT; act++) {
        if (row->actions & SM_LEADER_BIT(act)) {
            ngx_http_submission_leader_act(ld, act, row, change);
        }
    }
}


void
ngx_http_submission_leader_event(ngx_http_submission_leader_t *ld,
    sm_leader_event_e event, ngx_msec_t wait, const char *reason,
    const char *sql_error)
{
    ngx_http_submission_change_t  change;

    ngx_memzero(&change, sizeof(ngx_http_submission_change_t));

    change.wait = wait;
    change.reason = reason;
    change.sql_error = sql_error;

    ngx_http_submission_leader_apply(ld, event, &change);
}
