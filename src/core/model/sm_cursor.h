
/*
 * Where a page of intents ended: the time and the id of its last one, as the
 * base64url of "<kind> <microseconds> <id>".  The kind is a letter for what is
 * listed in which order, so that a cursor of one list is not taken for one of
 * another; the list of the newest intents has no kind.  Clients get cursors,
 * and may send back anything.
 */

#ifndef SM_CURSOR_H
#define SM_CURSOR_H


#include "sm_intent.h"


/* Writes the cursor of an id that sm_id_check() accepts. */
void sm_cursor_out(sm_out_t *out, int64_t at, sm_str_t id);

/*
 * Reads a cursor.  "buf" has room for as many bytes as the cursor, and the id
 * is a slice of it.  Returns -1 if the module never wrote such a cursor.
 */
int sm_cursor_parse(sm_str_t cursor, char *buf, int64_t *at, sm_str_t *id);

/* Write and read a cursor with a kind, which is a letter, or 0 for none. */
void sm_cursor_kind_out(sm_out_t *out, char kind, int64_t at, sm_str_t id);
int sm_cursor_kind_parse(sm_str_t cursor, char *buf, char *kind, int64_t *at,
    sm_str_t *id);


#endif /* SM_CURSOR_H */
