
/*
 * The operations of the store.  Each is one row of SM_STORE_OPS, which yields
 * the slot of sm_store_ops_t, the functions that the back ends define, their
 * tables, and for a CALL row also the function of sm_store.h, which runs the
 * operation on one connection.  For an OWN row that function is written by
 * hand.
 *
 * All return 0, or -1 with the call's status and error set.
 */

#ifndef SM_STORE_TABLE_H
#define SM_STORE_TABLE_H


/*
 * ping                 Checks that the store can commit; it changes nothing.
 *                      For a trial, PostgreSQL also writes an intent, and takes
 *                      it back.
 * tidy                 Bounds what grows by itself; it runs now and then.
 *
 * begin_write          Waits until the store can be written; the transaction is
 *                      continued by intents_submit.
 * intents_submit       Commits the whole batch, or leaves nothing behind.
 *
 * intents_length       Reads the lengths of payloads, but not the payloads.
 * intent_events        Reads the events of an intent.
 * webhook_messages     Reads the newest events of a webhook with a status.
 * intents_list         Reads the newest intents of a target and a status.
 * intents_search       Reads up to row->limit + 1 keys of any other list.
 *
 * lease_...            Each is one conditional statement on the store's time;
 *                      lease->held says whether it found its row.  Durations
 *                      are milliseconds.  lease_watch reads the row, and the
 *                      URL that wakes its holder, or NULL if it is not known.
 * candidate_heartbeat  An instance that does not know when it started gets the
 *                      store's time for that.  It is told whether the names of
 *                      its targets are wanted: they are written if it has them
 *                      along, and kept otherwise.
 * cluster_get          Reads the lease and the live instances; of their names,
 *                      only lists with another hash than the caller's.
 *
 * The executor's operations are fenced.  Either they fail with
 * SM_STORE_LEASE_LOST, or the lease was held at the time of the call, and up to
 * the commit of one that writes.  They set call->now to the store's time.
 *
 * queue_page           Reads a page of the queue; it changes and locks nothing.
 * attempts_turn        In one transaction, appends the attempts that have ended
 *                      and moves their intents, then marks intents in flight
 *                      that are pending and due.  "refused" says why a contract
 *                      is not understood.  If it is of a newer version, the
 *                      intent is gone; otherwise it may have been begun, and
 *                      the caller has to give it back.
 * attempts_expire      In one transaction, ends intents that are pending and
 *                      past their deadline by the store's clock.  Others are
 *                      early, with the time of their next attempt, or gone; an
 *                      intent of a newer version counts as gone here, too.
 * attempts_in_doubt    Reads up to "limit" attempts in flight under an epoch
 *                      before the fence's, after the given row, or from the
 *                      first if that is NULL.  "refused" says why a contract is
 *                      not understood.
 * inbox_page           Reads what is in the inbox now.
 * inbox_move           In one transaction, turns each row that is still in the
 *                      inbox into an intent, or into a refusal if it has a
 *                      reason or its id belongs to another intent, and removes
 *                      it.  Of a payload that is larger, a refusal keeps
 *                      at most max_payload bytes.
 * retention            In one transaction, strips or removes a batch of intents
 *                      that ended long ago.
 * job_next             Reads the job to work on; the id is empty if there is
 *                      none.
 * job_apply            In one transaction, applies a batch of a job to its
 *                      intents and stores the job's progress, unless the job
 *                      was stopped.
 * targets_paused       Reads the targets that are paused now.
 *
 * stats_put            Replaces the leader's statistics.
 *
 * The statistics are read without a fence.
 *
 * stats_get            Reads what stats_put wrote.
 * backlog_get          Counts intents that have an attempt to come, to a bound.
 *
 * These write an entry of the audit in the transaction of each change, and no
 * entry if nothing changed.
 *
 * intents_cancel       Cancels each intent that is pending and not in flight,
 *                      by one statement; a later turn finds it gone.  On a
 *                      server, each is a transaction of its own, so that a
 *                      cancellation that waits for a turn holds no row that the
 *                      turn may need.
 * replays_insert       Copies each intent, which has ended, under a new id.
 * target_set           Pauses or resumes each target; on a server, each is a
 *                      transaction of its own.
 *
 * jobs_add             Adds each job, unless a job with its id exists.
 * jobs_stop            Stops each job where it is.
 *
 * The operations intent_payload, audit_list and jobs_list only read.
 *
 * schedules_get        Reads schedules by id; call->now is the time.
 * schedule_write       In one transaction, changes a schedule if it still has
 *                      the revision, and writes the audit.  Without a fence,
 *                      the caller is not an executor.
 * schedules_due        Reads, fenced, the schedules that are due, and when the
 *                      next one is.
 * schedules_fire       In one transaction, creates the intents of schedules and
 *                      advances them, if they are as they were read.  Others
 *                      are left alone; a server may leave all if one differs.
 *                      Without a fence, it is a run by hand, and is audited.
 */

#define SM_STORE_READS(OP)                                                    \
    OP(CALL, intents_get, (sm_get_row_t *, rows), (size_t, n))                \
    OP(CALL, intents_length, (sm_get_row_t *, rows), (size_t, n))             \
    OP(OWN, intent_history, (sm_history_row_t *, row))                        \
    OP(CALL, intent_events, (sm_events_row_t *, row))                         \
    OP(CALL, webhook_messages, (sm_messages_row_t *, rows), (size_t, n))      \
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


/* Turn the parameters of a row into declarations and into arguments. */

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
