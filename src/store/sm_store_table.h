
/*
 * The operations of the store.  Each is one row of SM_STORE_OPS.  From it come
 * the slot of sm_store_ops_t, the functions that the back ends have to define,
 * their tables, and, where it is nothing but the operation on a connection
 * (CALL, not OWN), the function of sm_store.h.
 *
 * All return 0, or -1 with the call's status and error set.
 */

#ifndef SM_STORE_TABLE_H
#define SM_STORE_TABLE_H


/*
 * ping                 Whether the store commits; it changes nothing.
 * tidy                 Now and then: bounds what grows by itself.
 *
 * begin_write          Waits until the store can be written to; intents_submit
 *                      goes on.
 * intents_submit       Commits, or leaves nothing behind.
 *
 * intents_length       A read: the bytes of payloads, which are not read.
 * intent_events        A read: the events of an intent.
 * intents_list         The newest, of a target and a status.
 * intents_search       Any other list: up to row->limit + 1 keys of it.
 *
 * lease_...            One conditional statement each, on the store's time;
 *                      lease->held says whether it found its row.  Durations
 *                      are milliseconds.  lease_watch reads the row, and
 *                      where its holder is told that there is something to do:
 *                      NULL where that is not known.
 * candidate_heartbeat  An instance that does not know when it started has
 *                      started now, and is told.
 *
 * The executor's operations are fenced: SM_STORE_LEASE_LOST, or the lease was
 * held at the time of the call, and to its commit if it writes.  They tell the
 * store's time in call->now.
 *
 * queue_page        A read: it changes and locks nothing.
 * attempts_turn        In one transaction: appends the attempts that have
 *                      ended, and moves their intents; then marks in flight
 *                      those that are pending and due.  "refused" says why a
 *                      contract is not understood.  If that is because it is of
 *                      a newer version, the intent is gone; otherwise it may
 *                      have been begun, and is to be given back.
 * attempts_expire      In one transaction: ends those that are pending and
 *                      past their deadline by the store's clock; the others are
 *                      early, with the time of their next attempt, or gone,
 *                      as those of a newer version are here, too.
 * attempts_in_doubt    A read: up to "limit" of what is in flight under an
 *                      epoch before the fence's, in an order of its own, after
 *                      that row of it, or NULL.  "refused" says why a contract
 *                      is not understood.
 * inbox_page           A read: what is in the inbox now.
 * inbox_move           In one transaction: each row that is still in the inbox
 *                      becomes an intent, or a refusal if it has a reason or
 *                      its id is another intent's, and leaves the inbox.  Of
 *                      a larger payload a refusal keeps max_payload bytes.
 * retention            In one transaction: a batch of intents that ended long
 *                      ago lose payload and attempts, or go.
 * job_next             A read: the job to work on, with an id if there is one.
 * job_apply            In one transaction: what a batch of a job does to its
 *                      intents, and how far the job is then; nothing if it has
 *                      been stopped.
 * targets_paused       A read: the targets that are paused now.
 *
 * stats_put            The leader's numbers, in place of those before.
 *
 * stats_get            A read of that row, by anybody; and so is
 * backlog_get          of what has an attempt to come, up to a bound.
 *
 * These write an entry of the audit in the transaction of the change, and where
 * they change nothing, none.
 *
 * intents_cancel       Each is canceled if it is pending and not in flight, by
 *                      one statement; a turn finds it gone.  On a server each
 *                      is a transaction: whoever waits for a turn holds no row
 *                      that the turn may wait for.
 * replays_insert       Each is a copy of an intent that has ended, under
 *                      another id.
 * target_set           Each target is paused, or goes on; on a server each is a
 *                      transaction.
 *
 * jobs_add             Each is a job, unless there is one with its id.
 * jobs_stop            Each ends where it is.
 *
 * intent_payload       A read, and so are audit_list and jobs_list.
 *
 * schedules_get        A read: schedules by their ids; call->now is the time.
 * schedule_write       In one transaction: changes a schedule, if it has still
 *                      the revision, and writes the audit.  Without a fence it
 *                      is not an executor that does so.
 * schedules_due        A read, fenced: what is due, and when the next one is.
 * schedules_fire       In one transaction: makes the intents of schedules that
 *                      are as they were read, and moves them on; what is not is
 *                      left.  A server may leave all if one of them is not.
 *                      Without a fence it is done by hand, and audited.
 */

#define SM_STORE_READS(OP)                                                    \
    OP(CALL, intents_get, (sm_get_row_t *, rows), (size_t, n))                \
    OP(CALL, intents_length, (sm_get_row_t *, rows), (size_t, n))             \
    OP(OWN, intent_history, (sm_history_row_t *, row))                        \
    OP(CALL, intent_events, (sm_events_row_t *, row))                         \
    OP(OWN, intents_list, (sm_list_row_t *, row))                             \
    OP(OWN, intents_search, (const sm_list_row_t *, row), (sm_key_t *, keys), \
       (size_t *, n))                                                         \
    OP(CALL, lease_watch, (sm_lease_t *, lease), (sm_str_t *, wake_url))      \
    OP(CALL, cluster_get, (sm_cluster_t *, cluster))                          \
    OP(CALL, queue_page, (const sm_fence_t *, fence), (sm_page_t *, page))    \
    OP(CALL, intent_payload, (sm_payload_row_t *, rows), (size_t, n))         \
    OP(CALL, audit_list, (sm_audit_row_t *, rows), (size_t, n))               \
    OP(CALL, failures_get, (sm_failures_row_t *, rows), (size_t, n))          \
    OP(CALL, inbox_page, (const sm_fence_t *, fence),                         \
       (sm_inbox_page_t *, page))                                             \
    OP(CALL, attempts_in_doubt, (const sm_fence_t *, fence),                  \
       (const sm_doubt_row_t *, after), (size_t, limit),                      \
       (sm_doubt_row_t **, rows), (size_t *, n))                              \
    OP(CALL, stats_get, (sm_stats_row_t *, row))                              \
    OP(CALL, backlog_get, (sm_backlog_t *, backlog))                          \
    OP(CALL, jobs_list, (sm_jobs_row_t *, rows), (size_t, n))                 \
    OP(CALL, job_next, (const sm_fence_t *, fence), (sm_job_t *, job))        \
    OP(CALL, targets_paused, (const sm_fence_t *, fence),                     \
       (sm_pauses_t *, pauses))                                               \
    OP(CALL, schedules_get, (sm_schedule_page_t *, page))                     \
    OP(CALL, schedules_due, (const sm_fence_t *, fence),                      \
       (sm_schedule_page_t *, page))

#define SM_STORE_WRITES(OP)                                                   \
    OP(CALL, ping)                                                            \
    OP(CALL, tidy)                                                            \
    OP(OWN, begin_write)                                                      \
    OP(OWN, intents_submit, (sm_submit_row_t *, rows), (size_t, n))           \
    OP(CALL, lease_acquire, (sm_str_t, holder), (int64_t, duration),          \
       (sm_lease_t *, lease))                                                 \
    OP(CALL, lease_renew, (const sm_fence_t *, fence), (int64_t, duration),   \
       (sm_lease_t *, lease))                                                 \
    OP(CALL, lease_takeover, (const sm_fence_t *, fence),                     \
       (int64_t, duration), (sm_lease_t *, lease))                            \
    OP(CALL, lease_release, (const sm_fence_t *, fence),                      \
       (sm_lease_t *, lease))                                                 \
    OP(CALL, candidate_heartbeat, (sm_candidate_t *, candidate),              \
       (int64_t, duration))                                                   \
    OP(CALL, candidate_remove, (sm_str_t, holder))                            \
    OP(OWN, attempts_turn, (const sm_fence_t *, fence),                       \
       (sm_complete_row_t *, ended), (size_t, nended),                        \
       (sm_begin_row_t *, due), (size_t, ndue))                               \
    OP(OWN, attempts_expire, (const sm_fence_t *, fence),                     \
       (sm_begin_row_t *, rows), (size_t, n))                                 \
    OP(CALL, intents_cancel, (sm_cancel_row_t *, rows), (size_t, n))          \
    OP(CALL, replays_insert, (sm_replay_insert_t *, rows), (size_t, n))       \
    OP(OWN, inbox_move, (const sm_fence_t *, fence), (size_t, max_payload),   \
       (sm_inbox_row_t *, rows), (size_t, n))                                 \
    OP(CALL, retention, (const sm_fence_t *, fence), (sm_retention_t *, rt))  \
    OP(CALL, stats_put, (const sm_fence_t *, fence), (sm_str_t, doc))         \
    OP(CALL, jobs_add, (sm_job_row_t *, rows), (size_t, n))                   \
    OP(CALL, jobs_stop, (sm_job_row_t *, rows), (size_t, n))                  \
    OP(CALL, job_apply, (const sm_fence_t *, fence),                          \
       (sm_job_batch_t *, batch))                                             \
    OP(CALL, target_set, (sm_target_set_t *, rows), (size_t, n))              \
    OP(CALL, schedule_write, (const sm_fence_t *, fence),                     \
       (sm_schedule_write_t *, write))                                        \
    OP(CALL, schedules_fire, (const sm_fence_t *, fence),                     \
       (sm_schedule_fire_t *, rows), (size_t, n))

#define SM_STORE_OPS(OP)                                                      \
    SM_STORE_READS(OP)                                                        \
    SM_STORE_WRITES(OP)


/* the parameters of a row, and their names, after others */

#define SM_STORE_PARAM(type, name)  , type name
#define SM_STORE_ARG(type, name)    , name

#define SM_STORE_EACH0(m)
#define SM_STORE_EACH1(m, a)              m a
#define SM_STORE_EACH2(m, a, b)           m a m b
#define SM_STORE_EACH3(m, a, b, c)        m a m b m c
#define SM_STORE_EACH4(m, a, b, c, d)     m a m b m c m d
#define SM_STORE_EACH5(m, a, b, c, d, e)  m a m b m c m d m e

#define SM_STORE_PICK(m, a, b, c, d, e, each, ...)  each

#define SM_STORE_EACH(m, ...)                                                 \
    SM_STORE_PICK(m, ##__VA_ARGS__, SM_STORE_EACH5, SM_STORE_EACH4,           \
                  SM_STORE_EACH3, SM_STORE_EACH2, SM_STORE_EACH1,             \
                  SM_STORE_EACH0, SM_STORE_EACH0)(m, ##__VA_ARGS__)

#define SM_STORE_PARAMS(...)  SM_STORE_EACH(SM_STORE_PARAM, ##__VA_ARGS__)
#define SM_STORE_ARGS(...)    SM_STORE_EACH(SM_STORE_ARG, ##__VA_ARGS__)


#endif /* SM_STORE_TABLE_H */
