
/*
 * What the harnesses share.  Each is a program of libFuzzer, which calls
 * LLVMFuzzerTestOneInput() with whatever reaches new code.  Its input is in
 * memory of its own size, so that reading past the end is caught; a property
 * that does not hold ends the program, and the input is kept.
 */

#ifndef FUZZ_H
#define FUZZ_H


#include <stdio.h>
#include <stdlib.h>

#include "sm_json.h"


#define must(cond, what)                                                      \
    do {                                                                      \
        if (!(cond)) {                                                        \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, what,      \
                    #cond);                                                   \
            abort();                                                          \
        }                                                                     \
    } while (0)


int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);


/* takes n bytes off the input; fewer, with zeros after them, at its end */

static inline uint64_t
fuzz_take(sm_str_t *in, unsigned n)
{
    uint64_t  v;

    for (v = 0; n; n--) {
        v <<= 8;

        if (in->len) {
            v |= (unsigned char) *in->data++;
            in->len--;
        }
    }

    return v;
}


static inline sm_str_t
fuzz_input(const uint8_t *data, size_t size)
{
    sm_str_t  s = { size, (const char *) data };

    return s;
}


/* memory of exactly its size */

static inline sm_str_t
fuzz_copy(sm_str_t s)
{
    char      *p;
    sm_str_t   copy;

    p = malloc(s.len);

    if (s.len) {
        memcpy(p, s.data, s.len);
    }

    copy.data = p;
    copy.len = s.len;

    return copy;
}


static inline void
fuzz_free(sm_str_t s)
{
    free((void *) s.data);
}


static inline void
fuzz_out(sm_arena_t *arena, sm_out_t *out, size_t size)
{
    sm_out_init(out, sm_arena_alloc(arena, size ? size : 1), size);
}


static inline sm_str_t
fuzz_written(const sm_out_t *out)
{
    sm_str_t  s = { out->last - out->start, out->start };

    must(!out->full, "what is written fits into the size it was given");

    return s;
}


/* UTF-16 units, as SQL Server counts */

static inline size_t
fuzz_units(sm_str_t s)
{
    size_t  i, units;

    for (i = 0, units = 0; i < s.len; i++) {
        units += ((unsigned char) s.data[i] & 0xc0) != 0x80;
        units += (unsigned char) s.data[i] >= 0xf0;
    }

    return units;
}


/* text that any column and any log takes */

static inline void
fuzz_clean(sm_str_t s, size_t max)
{
    must(sm_utf8_check(s) == s.len, "text for SQL is UTF-8");
    must(!sm_utf8_has_control(s), "it has no control characters");
    must(fuzz_units(s) <= max, "it is cut");
    must(s.len == 0 || (s.data[0] != ' ' && s.data[s.len - 1] != ' '),
         "it has no spaces at its ends");
}


#endif /* FUZZ_H */
