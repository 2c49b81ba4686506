
/*
 * Lists of intents: what can be asked for together, and where a page begins
 * and ends.  Each combination is answered by an index, so that the rows which
 * are read are bounded by the page, and not by the history; what could not be
 * is refused.
 */

#ifndef SM_SEARCH_H
#define SM_SEARCH_H


#include "sm_batch.h"
#include "sm_cursor.h"


/*
 * A page by a time has the intents strictly after (at, id) in the list's order,
 * up to "end".  That bound is included if the newest come first, and not if the
 * oldest do.
 */

typedef struct {
    int64_t      at;
    sm_str_t     id;
    int64_t      end;
} sm_search_span_t;


/* A page by the id has the ids of [low, high) but "skip". */

typedef struct {
    sm_str_t     low;
    sm_str_t     high;
    sm_str_t     skip;          /* never without data */
} sm_search_ids_t;


/*
 * Returns NULL, or what cannot be combined; "field" is the argument at fault.
 */
const char *sm_search_check(const sm_list_row_t *row, const char **field);

/*
 * Returns whether it is the list of the newest, which may be of a target and a
 * status and has no bounds.
 */
int sm_search_plain(const sm_list_row_t *row);

/* Returns the kind of the list's cursors, see sm_cursor.h. */
char sm_search_kind(const sm_list_row_t *row);

void sm_search_span(const sm_list_row_t *row, sm_search_span_t *span);
void sm_search_ids(const sm_list_row_t *row, sm_search_ids_t *ids);

/*
 * Sets row->prefix and row->prefix_end, which is in "buf", of
 * SM_SEARCH_PREFIX(prefix.len) bytes.  Returns NULL, or what is wrong with the
 * prefix.
 */
#define SM_SEARCH_PREFIX(len)  ((len) + 1)

const char *sm_search_prefix(sm_list_row_t *row, sm_str_t prefix, char *buf);


#endif /* SM_SEARCH_H */
