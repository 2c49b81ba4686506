
/*
 * The inbox: rows that applications insert in transactions of their own.  Each
 * becomes an intent, by the rules of POST, or is refused.
 */

#ifndef SM_INBOX_H
#define SM_INBOX_H


#include "sm_batch.h"


/* What a store reads for a value that is not a time. */

#define SM_INBOX_NO_TIME     INT64_MIN


typedef enum {
    SM_INBOX_LEFT = 0,          /* it was left there, or is gone */
    SM_INBOX_CREATED,
    SM_INBOX_SAME,              /* the same intent was there before */
    SM_INBOX_REFUSED,
    SM_INBOX_COUNT
} sm_inbox_e;


typedef struct {
    int64_t               seq;
    sm_str_t              id;
    sm_str_t              target;
    sm_str_t              payload;
    int64_t               size;         /* of the payload, bytes */
    unsigned              too_large;    /* and the payload was not read */
    sm_trace_t            trace;        /* as it was left, maybe invalid */

    /* a code as POST answers it, and words; no data if the row is valid */
    sm_str_t              reason;
    sm_str_t              detail;
    sm_submit_row_t       submit;       /* the store reads what is posted */

    sm_inbox_e            outcome;
} sm_inbox_row_t;

extern const sm_field_t  sm_inbox_fields[];


/* An application may choose a "seq", and take a negative one. */

#define SM_INBOX_BEGINNING   INT64_MIN

/*
 * A page has the first rows that are there now.  The order of "seq" is not the
 * order of commits, so no place is kept from one pass to the next.  Within a
 * pass, a page begins after rows that were left in the inbox.
 */

typedef struct {
    int64_t               from;         /* seq, maybe SM_INBOX_BEGINNING */
    size_t                limit;        /* rows */
    size_t                bytes;        /* a row that begins after them waits */
    size_t                max_payload;

    sm_inbox_row_t       *rows;
    size_t                n;
    int64_t               last;         /* seq of the last row */
    unsigned              more;         /* the page is full */
} sm_inbox_page_t;


/*
 * Checks everything but whether the target exists, at the store's time "now",
 * and refuses the row if something is wrong.  Returns -1 without memory.
 */
int sm_inbox_check(sm_arena_t *arena, sm_inbox_row_t *row, int64_t now);

/* Refuse a row for a reason that the check does not know. */
void sm_inbox_refuse(sm_inbox_row_t *row, const char *reason,
    const char *detail);
void sm_inbox_refuse_conflict(sm_inbox_row_t *row);
void sm_inbox_refuse_reserved(sm_inbox_row_t *row);


#endif /* SM_INBOX_H */
