
/*
 * Where a page of intents ended: the time and the id of its last one, as
 * "<microseconds> <id>".  Clients get it encoded, and may send back anything.
 */

#ifndef SM_CURSOR_H
#define SM_CURSOR_H


#include "sm_intent.h"


/* as many bytes as sm_cursor_out() may write */
#define sm_cursor_size(len)  (sizeof("9223372036854775807 ") - 1 + (len))

void sm_cursor_out(sm_out_t *out, int64_t at, sm_str_t id);

/* the id is a slice of the cursor; -1: it is none that was given out */
int sm_cursor_parse(sm_str_t cursor, int64_t *at, sm_str_t *id);


#endif /* SM_CURSOR_H */
