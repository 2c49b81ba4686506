
#ifndef SM_TEXT_H
#define SM_TEXT_H


#include "sm_str.h"


/* "2026-02-02T12:00:10.123456Z" */
#define SM_TIME_LEN  27

/* the last microsecond of the year 9999: later ones no SQL Server knows */
#define SM_TIME_MAX  253402300799999999


/*
 * Bytes written one after another into memory of a size known in advance.
 * What does not fit is dropped and leaves "full" set, to be checked once.
 */
typedef struct {
    char      *start;
    char      *last;
    char      *end;
    unsigned   full;
} sm_out_t;


void sm_out_init(sm_out_t *out, void *buf, size_t size);
void sm_out_bytes(sm_out_t *out, const char *data, size_t len);
void sm_out_str(sm_out_t *out, sm_str_t s);
void sm_out_c(sm_out_t *out, const char *s);
void sm_out_int(sm_out_t *out, int64_t n);
void sm_out_time(sm_out_t *out, int64_t usec);

/*
 * Foreign text, cleaned for logs and SQL: spaces at both ends are removed, a
 * control character becomes a space, and a byte that is not UTF-8 becomes
 * "?".  It is cut after "max" UTF-16 units, by which SQL Server measures, and
 * takes at most sm_clean_size(max) bytes.
 */
#define sm_clean_size(max)  (3 * (max))

void sm_out_clean(sm_out_t *out, sm_str_t s, size_t max);

/* likewise, but "max" counts characters; at most sm_clip_size(max) bytes */
#define sm_clip_size(max)  (4 * (max))

void sm_out_clip(sm_out_t *out, sm_str_t s, size_t max);

/*
 * Text as visible ASCII: every other byte, and "%" itself, is a "%" and two hex
 * digits, so that different texts stay different.  It takes at most
 * sm_visible_size(s.len) bytes.
 */
#define sm_visible_size(len)  (3 * (len))

void sm_out_visible(sm_out_t *out, sm_str_t s);

/*
 * Foreign text in quotes, for a log line: a quote and a backslash get a
 * backslash before them, control characters and bytes that are not UTF-8
 * become "\x1f".  What does not fit is left out; the quotes are always there.
 */
void sm_out_quoted(sm_out_t *out, sm_str_t s);

/* base64url, without padding; it takes sm_base64url_size(s.len) bytes */
#define sm_base64url_size(len)  (((len) * 4 + 2) / 3)

void sm_out_base64url(sm_out_t *out, sm_str_t s);

/*
 * Decodes it into memory for as many bytes as "s" has.  It ends at "=", and
 * what follows that does not count.  -1: it is none.
 */
int sm_base64url(char *dst, sm_str_t s, size_t *len);

/* the offset of the first byte that is not part of valid UTF-8, or s.len */
size_t sm_utf8_check(sm_str_t s);
size_t sm_utf8_length(sm_str_t s);
int sm_utf8_has_control(sm_str_t s);

sm_str_t sm_trim(sm_str_t s);

/* "." or "..": as a part of a path it is gone before it is sent */
int sm_is_dots(sm_str_t s);

int sm_parse_uint(sm_str_t s, int64_t max, int64_t *n);


#endif /* SM_TEXT_H */
