
/*
 * Work that takes several operations, or more than one transaction, on any
 * store: see src/store/work/.  All functions return 0, or -1 with the call's
 * status and error set.
 */

#ifndef SM_STORE_WORK_H
#define SM_STORE_WORK_H


#include "sm_action.h"
#include "sm_attempt.h"
#include "sm_batch.h"
#include "sm_inbox.h"
#include "sm_job.h"
#include "sm_lease.h"
#include "sm_schedule_row.h"
#include "sm_store_pool.h"


/*
 * What became of attempts in doubt: per target that had some, per intent that
 * has ended, and in total.  The lists are in the memory of the call.
 */

typedef struct sm_recovered_target_s  sm_recovered_target_t;
typedef struct sm_recovered_end_s     sm_recovered_end_t;

struct sm_recovered_target_s {
    sm_str_t               name;
    size_t                 attempts;
    sm_recovered_target_t *next;
};

struct sm_recovered_end_s {
    sm_str_t               id;
    sm_str_t               target;
    int64_t                created_at;      /* or not_before */
    sm_exhausted_e         exhausted;
    unsigned               message;         /* it was a webhook's event */
    sm_recovered_end_t    *next;
};

typedef struct {
    size_t                 attempts;
    size_t                 retries;
    sm_recovered_target_t *targets;
    sm_recovered_end_t    *ended;
} sm_recovered_t;


/*
 * Returns the rows of a batch.  It is called when the store is ready for them,
 * so that rows that arrive while others write are in the same batch.  Returns
 * -1 with the call's status and error set.
 */
typedef int (*sm_store_take_pt)(void *data, sm_call_t *call,
    sm_submit_row_t **rows, size_t *n);


/*
 * If it returns 0, every row has an outcome and is committed; a row whose data
 * the store refused has failed alone, and "error" says why.  If it fails, the
 * outcome of every row is unknown.
 */
int sm_store_intents_submit(sm_store_t *store, sm_call_t *call,
    sm_store_take_pt take, void *data);

int sm_store_intent_history(sm_store_t *store, sm_call_t *call,
    sm_history_row_t *rows, size_t n);
int sm_store_intents_list(sm_store_t *store, sm_call_t *call,
    sm_list_row_t *rows, size_t n);

int sm_store_intents_replay(sm_store_t *store, sm_call_t *call,
    sm_replay_row_t *rows, size_t n);
int sm_store_webhooks_resend(sm_store_t *store, sm_call_t *call,
    sm_resend_row_t *rows, size_t n);


/*
 * A row whose data the store refused is not applied, or it is not begun and
 * becomes SM_BEGIN_REFUSED.  The others are then written in more than one
 * transaction.
 */
int sm_store_attempts_turn(sm_store_t *store, sm_call_t *call,
    const sm_fence_t *fence, sm_complete_row_t *ended, size_t nended,
    sm_begin_row_t *due, size_t ndue);

/*
 * Ends the intents whose deadline has passed.  A row whose data the store
 * refused becomes SM_BEGIN_REFUSED.
 */
int sm_store_attempts_expire(sm_store_t *store, sm_call_t *call,
    const sm_fence_t *fence, sm_begin_row_t *rows, size_t n);

/* A turn that only begins attempts, and a turn that only completes them. */
int sm_store_attempts_begin(sm_store_t *store, sm_call_t *call,
    const sm_fence_t *fence, sm_begin_row_t *rows, size_t n);
int sm_store_attempts_complete(sm_store_t *store, sm_call_t *call,
    const sm_fence_t *fence, sm_complete_row_t *rows, size_t n);


/*
 * Records all attempts in doubt as unknown, with the reason "leader_lost",
 * page by page; the contracts decide what becomes of their intents.  Attempts
 * in "known" are not in doubt: they stay in flight, and are marked if they
 * are.  An attempt that cannot be recorded stays as it is, and "error" says
 * why.
 *
 * At least one fenced transaction writes, so 0 means that the lease was held
 * at its commit.  What was recorded stays recorded even if a later page fails.
 */
int sm_store_attempts_recover(sm_store_t *store, sm_call_t *call,
    const sm_fence_t *fence, sm_known_row_t *known, size_t nknown, size_t page,
    uint32_t random, sm_recovered_t *recovered);


/*
 * A row whose data the store refuses becomes a refusal without affecting
 * others, which are then written in more than one transaction.
 */
int sm_store_inbox_move(sm_store_t *store, sm_call_t *call,
    const sm_fence_t *fence, size_t max_payload, sm_inbox_row_t *rows,
    size_t n);


/*
 * Whether another live instance has a target that this one does not have.  The
 * instances are read with the first question of a call.  Returns -1 on errors.
 */

typedef struct {
    sm_str_t               names_hash;  /* of the targets of this instance */

    unsigned               read;
    uint32_t              *names;
    size_t                 n;
} sm_elsewhere_t;

int sm_store_elsewhere(sm_store_t *store, sm_call_t *call,
    sm_elsewhere_t *elsewhere, sm_str_t target);


/* Counts the intents a job would find, up to SM_JOB_COUNT. */
int sm_store_job_count(sm_store_t *store, sm_call_t *call, sm_job_row_t *row);


/* Works on the next batch of the job that has waited longest. */

typedef struct {
    size_t                 limit;       /* intents */

    /* Returns the configured contract of a target, or NULL. */
    const sm_contract_t *(*contract)(void *data, sm_str_t target);
    void                  *data;
    sm_elsewhere_t         elsewhere;

    sm_job_t               job;         /* before; no id: there is no job */
    unsigned               first;       /* it had not begun */
    sm_job_state_e         state;       /* after the batch */
    size_t                 done;        /* in this batch */
    size_t                 skipped;
    sm_job_item_t         *items;
    size_t                 n;
    unsigned               waits;       /* the next intent cannot be done yet */
} sm_job_work_t;

/*
 * A job whose next intent is to have today's contract of a target that only
 * another instance has yet waits, and other jobs take their turns.  An intent whose data the store refuses is skipped without affecting others,
 * which are then written in more than one transaction.
 */
int sm_store_job_work(sm_store_t *store, sm_call_t *call,
    const sm_fence_t *fence, sm_job_work_t *work);

/* Writes the first half of the SHA-256 of a text as SM_JOB_HASH digits. */
int sm_store_text_hash(sm_store_t *store, sm_call_t *call, sm_str_t s,
    char *hash);


/*
 * Carries out requests about schedules, row by row.  Each takes several
 * transactions, of which one writes.
 */
int sm_store_schedules(sm_store_t *store, sm_call_t *call,
    sm_schedule_row_t *rows, size_t n);
int sm_store_schedules_list(sm_store_t *store, sm_call_t *call,
    sm_schedule_list_t *rows, size_t n);

/*
 * The leader's work on schedules.  _seed() writes the schedules of the
 * configuration that are new or changed, removes those it no longer has, and
 * lets schedules run again whose target is configured again.  _tick() fires
 * the schedules that are due.
 */

typedef struct {
    const sm_contract_t  *(*contract)(void *data, sm_str_t target);
    void                 *data;
    size_t                limit;        /* schedules in one transaction */
    size_t                bytes;        /* of payloads in one transaction */

    size_t                created;      /* intents that were created */
    size_t                found;        /* intents that existed already */
    size_t                schedules;    /* schedules that were due */
    int64_t               skipped;
    int64_t               missed;
    int64_t               next_due;     /* by the store's clock; 0: none */
    unsigned              more:1;

    sm_schedule_fire_t   *rows;         /* for log lines */
    size_t                n;
} sm_schedule_tick_t;

int sm_store_schedules_seed(sm_store_t *store, sm_call_t *call,
    const sm_fence_t *fence, sm_schedule_row_t *seeds, size_t n,
    sm_schedule_tick_t *tick);
int sm_store_schedules_tick(sm_store_t *store, sm_call_t *call,
    const sm_fence_t *fence, sm_schedule_tick_t *tick);

/*
 * Returns 0 if ICU has a time zone of that name, -1 if not, and -2 without
 * memory.
 */
int sm_store_zone_check(sm_str_t name);


#endif /* SM_STORE_WORK_H */
