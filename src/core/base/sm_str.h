
/*
 * A counted string.  It is not terminated, and may hold any byte.
 */

#ifndef SM_STR_H
#define SM_STR_H


#include <stddef.h>
#include <stdint.h>
#include <string.h>


typedef struct {
    size_t       len;
    const char  *data;
} sm_str_t;


#define sm_str(s)       { sizeof(s) - 1, s }
#define sm_null_str     { 0, NULL }

#define sm_nelts(a)     (sizeof(a) / sizeof((a)[0]))


static inline int
sm_str_eq(sm_str_t a, sm_str_t b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.data, b.data, a.len) == 0);
}


static inline sm_str_t
sm_str_c(const char *s)
{
    sm_str_t  str = { strlen(s), s };

    return str;
}


#endif /* SM_STR_H */
