
/*
 * Text that is written piece by piece.
 *
 * The memory is of a fixed size, or it grows.  A piece for which there is no
 * room, or no memory, is dropped and leaves "full" set.  So a writer calls one
 * function after another, and whoever takes the text checks "full" once.
 * Memory that grows may move: no pointer into it outlives the next piece.
 */

#ifndef SM_OUT_H
#define SM_OUT_H


#include "sm_arena.h"


/* "2026-02-02T12:00:10.123456Z" */
#define SM_TIME_LEN   27

/* The first size of memory that grows: an id, and a bit more. */
#define SM_OUT_FIRST  64


/* Returns "size" bytes that begin with the first "len" of "old", or NULL. */

typedef void *(*sm_out_grow_pt)(void *data, void *old, size_t len,
    size_t size);

typedef struct {
    char            *start;
    char            *last;
    char            *end;
    unsigned         full;
    sm_out_grow_pt   grow;      /* NULL if the size is fixed */
    void            *data;      /* the first argument of grow() */
} sm_out_t;


void sm_out_init(sm_out_t *out, void *buf, size_t size);
void sm_out_init_grow(sm_out_t *out, sm_out_grow_pt grow, void *data);
void sm_out_init_arena(sm_out_t *out, sm_arena_t *arena);

/* Makes room for "len" more bytes.  Returns -1 without setting "full". */
int sm_out_room(sm_out_t *out, size_t len);

/* Begins again, in the same memory. */
void sm_out_rewind(sm_out_t *out);

/* Returns -1 if a piece of the text was dropped. */
int sm_out_done(const sm_out_t *out, sm_str_t *text);

/* Returns the byte that was written last, or 0. */
char sm_out_last(const sm_out_t *out);

void sm_out_bytes(sm_out_t *out, const char *data, size_t len);
void sm_out_str(sm_out_t *out, sm_str_t s);
void sm_out_c(sm_out_t *out, const char *s);
void sm_out_int(sm_out_t *out, int64_t n);

/* Writes "n" of a unit that is a power of ten: 1500 of 1000 is 1.5. */
void sm_out_decimal(sm_out_t *out, int64_t n, int64_t unit);
void sm_out_time(sm_out_t *out, int64_t usec);


#endif /* SM_OUT_H */
