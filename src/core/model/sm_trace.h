
/*
 * The context of a trace, as W3C's Trace Context has it: what came with an
 * intent, and what is sent with its attempts.
 */

#ifndef SM_TRACE_H
#define SM_TRACE_H


#include "sm_arena.h"
#include "sm_intent.h"


#define SM_TRACE_PARENT_LEN   55        /* 00-<trace id>-<span id>-<flags> */
#define SM_TRACE_ID_LEN       32
#define SM_TRACE_SPAN_LEN     16
#define SM_TRACE_STATE_MAX    512       /* bytes that are kept */


/*
 * Keeps what is valid, in the arena: a "traceparent" of an unknown version
 * becomes one of version 00, and of the members of a "tracestate" as many are
 * kept as there is room for.  Without a valid traceparent there is no context;
 * an invalid tracestate is dropped alone.  Returns -1 without memory.
 */
int sm_trace_read(sm_arena_t *arena, sm_str_t parent, sm_str_t state,
    sm_trace_t *trace);

/*
 * Returns the trace id of a traceparent that was kept, or no data if there is
 * none or it is not valid.
 */
sm_str_t sm_trace_id(sm_str_t parent);

/*
 * Writes 8 bytes as 16 hexadecimal digits. 0 is not a valid span, and becomes
 * another one.
 */
void sm_trace_span(uint64_t random, char span[SM_TRACE_SPAN_LEN]);

/* Writes the same traceparent with another span. */
void sm_trace_child(sm_str_t parent, const char span[SM_TRACE_SPAN_LEN],
    char child[SM_TRACE_PARENT_LEN]);


#endif /* SM_TRACE_H */
