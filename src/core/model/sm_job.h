
/*
 * Jobs: many intents that are replayed or canceled at once, by a filter.
 *
 * A job is a row of the store, and whoever leads works it off in batches, along
 * the list that its filter asks for, oldest first.  The list ends at the time
 * at which the job was made: so a job ends, and never meets what it has made.
 */

#ifndef SM_JOB_H
#define SM_JOB_H


#include "sm_action.h"
#include "sm_batch.h"


#define SM_JOB_ID_MAX     64            /* characters */
#define SM_JOB_LIMIT_MAX  1000000000
#define SM_JOB_SAMPLE     10            /* ids that a dry run shows */
#define SM_JOB_COUNT      10000         /* and those that it counts, at most */


typedef enum {
    SM_JOB_REPLAY = 0,
    SM_JOB_CANCEL,
    SM_JOB_KINDS
} sm_job_kind_e;


typedef enum {
    SM_JOB_NONE = 0,
    SM_JOB_RUNNING,
    SM_JOB_DONE,
    SM_JOB_STOPPED,
    SM_JOB_FAILED,              /* what is stored of it is not understood */
    SM_JOB_STATES
} sm_job_state_e;


/* Times are microseconds since 1970, or 0. */

typedef struct {
    sm_job_kind_e         kind;
    sm_str_t              id;
    sm_str_t              doc;          /* see sm_job_doc() */
    int64_t               limit;        /* 0: none */
    sm_job_state_e        state;
    sm_str_t              position;     /* no data: at the beginning */
    int64_t               seen;         /* intents of the list */
    int64_t               done;
    int64_t               skipped;
    sm_str_t              error;        /* no data: none */
    sm_str_t              actor;
    int64_t               created_at;
    int64_t               modified_at;
    int64_t               completed_at;
} sm_job_t;

extern const sm_field_t  sm_job_fields[];


/*
 * The bytes that a job takes in the memory of a call, at most, with its
 * strings.
 */

#define SM_JOB_MAX  16384


/* What a request asks for. */

typedef struct {
    sm_job_kind_e         kind;
    sm_str_t              id;           /* no data: none was given */
    sm_str_t              doc;
    int64_t               limit;
    unsigned              dry_run;
} sm_job_request_t;


typedef enum {
    SM_JOB_NOT_FOUND = 0,
    SM_JOB_CREATED,             /* or it was stopped now */
    SM_JOB_SAME,                /* it is as it was */
    SM_JOB_CONFLICT,            /* the id is that of another one */
    SM_JOB_OUTCOMES
} sm_job_e;


/* A job that is made or stopped, or the dry run of one. */

typedef struct {
    sm_job_request_t      request;
    sm_actor_t            actor;
    unsigned              tried;        /* it may have been done already */

    sm_job_e              outcome;
    sm_job_t              job;          /* unless it was not found */

    /* of a dry run */
    size_t                count;
    size_t                replayed;     /* skipped: replayed before */
    unsigned              bounded;      /* there may be more */
    sm_str_t              sample[SM_JOB_SAMPLE];
    size_t                nsample;
} sm_job_row_t;


/*
 * A page of jobs, newest first, strictly before (at, id); or the one with this
 * id.
 */

typedef struct {
    sm_job_kind_e         kind;
    sm_str_t              id;           /* no data: all */
    size_t                limit;
    int64_t               after_at;     /* 0: from the newest */
    sm_str_t              after_id;

    sm_job_t             *jobs;
    size_t                n;
    unsigned              more;
} sm_jobs_row_t;


/* An intent of a batch. */

typedef struct {
    sm_str_t              id;
    sm_str_t              target;
    sm_str_t              new_id;       /* of a replay */
    const sm_contract_t  *contract;     /* NULL: its own */
    size_t                nth;          /* of the contracts of the batch */
    int64_t               created_at;

    unsigned              done;
} sm_job_item_t;


/*
 * A batch as it is written, in one transaction with how far the job is then.
 * Nothing is written if the job is not running, or not as far as "seen" says.
 */

typedef struct {
    sm_job_kind_e         kind;
    sm_str_t              id;
    int64_t               seen;
    int64_t               seen_after;
    sm_str_t              position;     /* no data: as it is */
    sm_job_state_e        state;        /* from now on */
    sm_str_t              error;
    int64_t               skipped;      /* besides the items */
    unsigned              again;        /* even what was replayed before */

    sm_job_item_t        *items;
    size_t                n;
    const sm_contract_t **contracts;    /* of the items */
    size_t                ncontracts;

    unsigned              applied;
    size_t                done;         /* of the items */
} sm_job_batch_t;


/* What else a request says of the intents that it replays. */

typedef struct {
    unsigned              original;     /* they keep their contracts */
    unsigned              again;        /* even what was replayed before */
} sm_job_terms_t;


/* What becomes of an intent of the list. */

typedef enum {
    SM_JOB_PASS = 0,            /* the job does not concern it */
    SM_JOB_SKIP,                /* it does, but cannot be done */
    SM_JOB_BEFORE,              /* it was replayed before, and is skipped */
    SM_JOB_TAKE
} sm_job_fit_e;


/* The keys of the document. */

enum {
    SM_JOB_DOC_FILTER = 0,
    SM_JOB_DOC_CONTRACT,
    SM_JOB_DOC_AGAIN,
    SM_JOB_DOC_KEYS
};

extern const sm_json_field_t  sm_job_doc_fields[];


sm_str_t sm_job_kind_name(sm_job_kind_e kind);
sm_str_t sm_job_state_name(sm_job_state_e state);

/*
 * Returns NULL, or what is wrong with the id of a job, which is already
 * trimmed.
 */
const char *sm_job_id_check(sm_str_t id);

/*
 * Reads the body of POST /v1/replays or /v1/cancels; req->kind is set.  The
 * strings are in the arena.  The document has the filter, and what else makes a
 * job: {"filter":{...},"contract":"original","again":true}. Requests for the
 * same job have the same document.
 */
int sm_job_request_parse(sm_arena_t *arena, sm_str_t body,
    sm_job_request_t *req, sm_json_error_t *err);

/*
 * Reads the list that a document asks for, without a limit; its strings are in
 * the arena.
 */
int sm_job_list(sm_arena_t *arena, sm_job_kind_e kind, sm_str_t doc,
    sm_list_row_t *row, sm_job_terms_t *terms, sm_json_error_t *err);

/*
 * Sets where a job goes on.  "row" is its list, and ends where the job was
 * made.
 */
int sm_job_resume(const sm_job_t *job, sm_list_row_t *row);

/* Makes the position after an intent of the list. */
int sm_job_position(sm_arena_t *arena, const sm_list_row_t *row, int64_t at,
    sm_str_t id, sm_str_t *position);

/*
 * Decides what becomes of an intent of the list; a dry run has no created_at.
 */
sm_job_fit_e sm_job_fits(const sm_job_t *job, const sm_job_terms_t *terms,
    const sm_intent_t *intent);

/*
 * Makes the id of a replay: "<id>~<job>", or if that is too long
 * "<job>~<hash>", with the first half of the SHA-256 of the id.
 */
#define SM_JOB_HASH  32

int sm_job_new_id(sm_arena_t *arena, sm_str_t id, sm_str_t job,
    const char *hash, sm_str_t *new_id);

/* Writes the detail of a new job's audit entry: its document, and its limit. */
int sm_job_detail(sm_arena_t *arena, const sm_job_request_t *req,
    sm_str_t *detail);

/*
 * Returns SM_JOB_CREATED if the job is new, or whether the one that is there is
 * the same.
 */
sm_job_e sm_job_outcome(const sm_job_request_t *req, const sm_job_t *job,
    unsigned created);

/* Writes a job as HTTP shows it. */
void sm_job_out(sm_out_t *out, const sm_job_t *job);


#endif /* SM_JOB_H */
