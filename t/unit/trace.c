
/*
 * The context of a trace, by W3C's rules.  Broken by: an invalid traceparent
 * that is passed on, or a valid one that is not; a later version that is taken
 * for an error, or passed on under its number; a tracestate without a valid
 * traceparent; one bad member that is passed on with the others; a list that is
 * cut in the middle of a member; a span of zeros.
 */

#include <stdlib.h>

#include "sm_trace.h"
#include "tap.h"


#define TRACE  "4bf92f3577b34da6a3ce929d0e0e4736"
#define SPAN   "00f067aa0ba902b7"
#define VALID  "00-" TRACE "-" SPAN "-01"


static sm_arena_t  arena;


static sm_trace_t
trace(const char *parent, const char *state)
{
    sm_str_t    none = sm_null_str;
    sm_trace_t  t;

    if (sm_trace_read(&arena, parent ? sm_str_c(parent) : none,
                      state ? sm_str_c(state) : none, &t)
        != 0)
    {
        abort();
    }

    return t;
}


static void
test_parent(void)
{
    size_t      i;
    sm_trace_t  t;

    static const struct {
        const char  *in;
        const char  *out;               /* NULL: dropped */
    } v[] = {
        { VALID, VALID },
        { " " VALID "\t", VALID },
        { "00-" TRACE "-" SPAN "-00", "00-" TRACE "-" SPAN "-00" },
        { "01-" TRACE "-" SPAN "-01", VALID },
        { "cc-" TRACE "-" SPAN "-01-what-the-future-has", VALID },
        { "cc-" TRACE "-" SPAN "-01-", VALID },
        { NULL, NULL },
        { "", NULL },
        { VALID "-", NULL },
        { VALID "0", NULL },
        { "01-" TRACE "-" SPAN "-01.x", NULL },
        { "ff-" TRACE "-" SPAN "-01", NULL },
        { "00-" TRACE "-" SPAN "-0", NULL },
        { "00-" TRACE "-" SPAN "-0G", NULL },
        { "00-" TRACE "-" SPAN ".01", NULL },
        { "00-" TRACE "." SPAN "-01", NULL },
        { "00." TRACE "-" SPAN "-01", NULL },
        { "0x-" TRACE "-" SPAN "-01", NULL },
        { "00-4BF92F3577B34DA6A3CE929D0E0E4736-" SPAN "-01", NULL },
        { "00-" TRACE "-00F067AA0BA902B7-01", NULL },
        { "00-00000000000000000000000000000000-" SPAN "-01", NULL },
        { "00-" TRACE "-0000000000000000-01", NULL },
        { "00-00000000000000000000000000000001-0000000000000001-01",
          "00-00000000000000000000000000000001-0000000000000001-01" },
        { VALID "," VALID, NULL }
    };

    for (i = 0; i < sizeof(v) / sizeof(v[0]); i++) {
        t = trace(v[i].in, "a=1");

        is_mem(t.parent.data, t.parent.len, v[i].out,
               v[i].out ? strlen(v[i].out) : 0, "%s",
               v[i].in ? v[i].in : "none");
        is_int(t.state.len, v[i].out ? 3 : 0, "a tracestate goes with it");
    }
}


static void
test_state(void)
{
    char        in[2048], out[1024], *p;
    size_t      i;
    sm_trace_t  t;

    static const struct {
        const char  *in;
        const char  *out;               /* NULL: dropped */
    } v[] = {
        { "a=1", "a=1" },
        { "a=1,b=2", "a=1,b=2" },
        { " a=1 ,\tb=2\t", "a=1,b=2" },
        { ",,a=1,,", "a=1" },
        { "t@v=1,0a_-*/=x y!", "t@v=1,0a_-*/=x y!" },
        { "", NULL },
        { " , ", NULL },
        { "a", NULL },
        { "a=", NULL },
        { "=1", NULL },
        { "a=1=2", NULL },
        { "A=1", NULL },
        { "_a=1", NULL },
        { "@a=1", NULL },
        { "a@b@c=1", NULL },
        { "a b=1", NULL },
        { "a=1,b=\x7f", NULL },
        { "a=1,b=\xc3\xa9", NULL },
        { "a=1,b=x\ty", NULL },
        { "a=1;b=2", NULL }
    };

    for (i = 0; i < sizeof(v) / sizeof(v[0]); i++) {
        t = trace(VALID, v[i].in);

        is_mem(t.state.data, t.state.len, v[i].out,
               v[i].out ? strlen(v[i].out) : 0, "\"%s\"", v[i].in);
        is_int(t.parent.len, SM_TRACE_PARENT_LEN, "the traceparent stays");
    }

    for (i = 0, p = in; i < 32; i++) {
        p += sprintf(p, "%sk%d=v", i ? "," : "", (int) i);
    }

    t = trace(VALID, in);
    is_mem(t.state.data, t.state.len, in, strlen(in), "32 members");

    (void) sprintf(p, ",k32=v");
    t = trace(VALID, in);
    is_int(t.state.len, 0, "33 are not valid");

    /* 4 members of 202 bytes with commas, 2 short ones */

    for (i = 0, p = in; i < 4; i++) {
        p += sprintf(p, "k%d=%0197d,", (int) i, (int) i);
    }

    (void) sprintf(p, "a=1,b=2");
    (void) sprintf(out, "k0=%0197d,k1=%0197d,a=1,b=2", 0, 1);
    t = trace(VALID, in);
    is_mem(t.state.data, t.state.len, out, strlen(out),
           "long members go first, the last one first");

    for (i = 0, p = in; i < 6; i++) {
        p += sprintf(p, "%sk%d=%0100d", i ? "," : "", (int) i, (int) i);
    }

    t = trace(VALID, in);
    is_mem(t.state.data, t.state.len, in, 4 * 103 + 3,
           "then whole ones from the end");
}


static void
test_child(void)
{
    char      span[SM_TRACE_SPAN_LEN], child[SM_TRACE_PARENT_LEN];
    sm_str_t  id, none = sm_null_str;

    id = sm_trace_id(sm_str_c(VALID));
    is_mem(id.data, id.len, TRACE, 32, "the trace id");
    is_int(sm_trace_id(none).len, 0, "none of nothing");
    is_int(sm_trace_id(sm_str_c("00-x")).len, 0, "none of what is not one");

    sm_trace_span(0x0123456789abcdef, span);
    is_mem(span, sizeof(span), "0123456789abcdef", 16, "a span");

    sm_trace_child(sm_str_c(VALID), span, child);
    is_mem(child, sizeof(child), "00-" TRACE "-0123456789abcdef-01", 55,
           "the same trace with another span");

    sm_trace_span(0, span);
    is_mem(span, sizeof(span), "0000000000000001", 16, "a span is not 0");
}


int
main(void)
{
    test_parent();
    test_state();
    test_child();

    sm_arena_free(&arena);

    return done_testing();
}
