
/*
 * Where a page of intents ended: the time and the id of its last one, as the
 * base64url of "<microseconds> <id>".  Clients get it, and may send back
 * anything.
 */

#ifndef SM_CURSOR_H
#define SM_CURSOR_H


#include "sm_intent.h"


#define SM_CURSOR_TIME  (sizeof("9223372036854775807 ") - 1)

/* as many bytes as sm_cursor_out() may write */
#define sm_cursor_size(len)  sm_base64url_size(SM_CURSOR_TIME + (len))

/* of an id that sm_id_check() takes */
void sm_cursor_out(sm_out_t *out, int64_t at, sm_str_t id);

/*
 * "buf" is memory for as many bytes as the cursor has, and the id is a slice of
 * it.  -1: it is none that was given out.
 */
int sm_cursor_parse(sm_str_t cursor, char *buf, int64_t *at, sm_str_t *id);


#endif /* SM_CURSOR_H */
