
#ifndef SM_TEXT_H
#define SM_TEXT_H


#include "sm_out.h"


/* The last microsecond of the year 9999, the last that SQL Server can store. */
#define SM_TIME_MAX  253402300799999999


/*
 * Cleans foreign text for logs and SQL: spaces at both ends are removed, a
 * control character becomes a space, and a byte that is not UTF-8 becomes
 * "?".  The text is cut after "max" UTF-16 units, because SQL Server counts
 * those, and takes at most sm_clean_size(max) bytes.
 */
#define sm_clean_size(max)  (3 * (max))

void sm_out_clean(sm_out_t *out, sm_str_t s, size_t max);

/* Cleans text like sm_out_clean(), but "max" counts characters. */
#define sm_clip_size(max)  (4 * (max))

void sm_out_clip(sm_out_t *out, sm_str_t s, size_t max);

/*
 * Writes text as visible ASCII: every other byte, and "%" itself, becomes "%"
 * and two hex digits, so that different texts stay different.  It takes at
 * most sm_visible_size(s.len) bytes.
 */
#define sm_visible_size(len)  (3 * (len))

void sm_out_visible(sm_out_t *out, sm_str_t s);

/*
 * Writes foreign text in quotes, for a log line.  A quote and a backslash are
 * escaped with a backslash; control characters and bytes that are not UTF-8
 * become "\x1f".  Text that does not fit is cut; both quotes are always there.
 */
void sm_out_quoted(sm_out_t *out, sm_str_t s);

/* Writes base64url without padding, sm_base64url_size(s.len) bytes. */
#define sm_base64url_size(len)  (((len) * 4 + 2) / 3)

void sm_out_base64url(sm_out_t *out, sm_str_t s);

/*
 * Decodes base64url; dst has room for s.len bytes.  The input ends at the
 * first "=".  Returns -1 if it is not base64url.
 */
int sm_base64url(char *dst, sm_str_t s, size_t *len);

/* Returns the offset of the first byte that is not valid UTF-8, or s.len. */
size_t sm_utf8_check(sm_str_t s);
size_t sm_utf8_length(sm_str_t s);
int sm_utf8_has_control(sm_str_t s);

sm_str_t sm_trim(sm_str_t s);

/*
 * Takes the next word off a list separated by spaces.  Returns 0 if there is
 * none.
 */
int sm_next_word(sm_str_t *rest, sm_str_t *word);

/* Clients remove "." and ".." from a path, so no id may be one of them. */
int sm_is_dots(sm_str_t s);

int sm_parse_uint(sm_str_t s, int64_t max, int64_t *n);


#endif /* SM_TEXT_H */
