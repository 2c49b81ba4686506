
/*
 * A target's contract: where and how its intents are submitted.  It is copied
 * onto each intent when the intent is created, and never looked up again.
 */

#ifndef SM_CONTRACT_H
#define SM_CONTRACT_H


#include "sm_arena.h"
#include "sm_field.h"
#include "sm_gateway.h"


#define SM_TARGET_MAX        128        /* characters */
#define SM_OUTCOMES_MAX      1000       /* bytes of the joined list */
#define SM_DELAY_MAX         86400000   /* milliseconds */
#define SM_ACCEPTANCE_MAX    31536000   /* seconds */
#define SM_ATTEMPTS_MAX      1000000
#define SM_DELAYS_MAX        500        /* bytes of retry_schedule */
#define SM_NOTIFY_MAX        1000       /* bytes of notify */

/*
 * The version of the newest contracts that this module understands.  A row's
 * contract_version says from which version on a module understands its
 * contract; without one it is 1.
 */
#define SM_CONTRACT_VERSION  1

/* The policies, for messages. */
#define SM_POLICY_EXPECTED   "\"deadline\", \"max_attempts\" or \"one_shot\""


typedef enum {
    SM_POLICY_NONE = 0,
    SM_POLICY_DEADLINE,
    SM_POLICY_MAX_ATTEMPTS,
    SM_POLICY_ONE_SHOT,
    SM_POLICY_COUNT
} sm_policy_e;


typedef struct {
    sm_str_t      target;

    sm_gateway_e  gateway_type;
    sm_str_t      gateway_url;

    sm_policy_e   policy;
    int64_t       max_acceptance_seconds;   /* deadline */
    int64_t       max_attempts;             /* max_attempts */
    sm_str_t      terminal_outcomes;        /* separated by single spaces */

    int64_t       retry_delay;              /* milliseconds */
    int64_t       retry_max;                /* milliseconds, 0: no limit */
    int64_t       retry_backoff;            /* percent, 100: constant delay */
    int64_t       retry_jitter;             /* percent */

    sm_str_t      retry_schedule;           /* milliseconds, separated by single
                                               spaces; no data: none */
    sm_str_t      notify;                   /* sm_webhook.h; no data: none */
} sm_contract_t;


/*
 * A contract as it is stored: with the names of its type and its policy, which
 * this module may not know, and the version that it needs.  The table has the
 * keys of documents.
 */

typedef struct {
    sm_contract_t  contract;
    sm_str_t       type;
    sm_str_t       policy;
    int64_t        version;                 /* 0: none was given */
} sm_contract_row_t;

extern const sm_field_t  sm_contract_fields[];

/*
 * The columns that are written.  The version, which follows them, is only read.
 */
#define SM_CONTRACT_COLUMNS  13

void sm_contract_store(const sm_contract_t *c, sm_contract_row_t *row);

/* Writes a contract as a document for procedures, without the last brace. */
void sm_contract_out(sm_out_t *out, const sm_contract_t *c);

/*
 * Reads a stored contract.  Returns -1 if this module does not understand it;
 * then it has no policy, and "why" says why.  This is the only place where a
 * stored contract is checked: SQL compares contract_version, and nothing else.
 */
int sm_contract_load(sm_contract_t *c, const sm_contract_row_t *row, char *why,
    size_t size);


void sm_contract_init(sm_contract_t *c);

sm_str_t sm_policy_name(sm_policy_e policy);
sm_policy_e sm_policy_by_name(sm_str_t name);

/* Returns NULL, or what is wrong. */
const char *sm_target_check(sm_str_t target);

/*
 * Checks the policy's argument and the retries.  Returns -1 after writing to
 * "why" what is wrong.
 */
int sm_contract_terms(const sm_contract_t *c, char *why, size_t size);

/* Checks the whole contract in the same way. */
int sm_contract_check(const sm_contract_t *c, char *why, size_t size);


#endif /* SM_CONTRACT_H */
