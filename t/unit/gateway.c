
/*
 * The table of gateway types, against what the documents say of each.  Broken
 * by: a row that lacks something, another path, an answer that is read in
 * another way, a header that is not sent.
 */

#include "sm_gateway.h"
#include "tap.h"


static void
test_rows(void)
{
    size_t               i, n;
    const sm_gateway_t  *g;

    static const struct {
        const char         *name;
        const char         *path;
        sm_gateway_read_e   read;
        size_t              outcomes;
    } t[] = {
        { "sms", "/sms/send", SM_GATEWAY_READ_BODY, 3 },
        { "push", "/push/send", SM_GATEWAY_READ_BODY, 4 },
        { "http", "", SM_GATEWAY_READ_STATUS, 0 },
        { "webhook", "", SM_GATEWAY_READ_STATUS, 0 },
    };

    is_int(sizeof(t) / sizeof(t[0]), SM_GATEWAY_COUNT - 1, "all types");

    for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        g = sm_gateway(sm_gateway_by_name(sm_str_c(t[i].name)));

        is_str(g->name.data, t[i].name, "a type");
        is_str(g->path, t[i].path, "its path");
        is_int(g->read, t[i].read, "how its answer is read");
        is_str(g->content_type, "application/json", "what it is sent");

        /* a webhook has a block of its own */

        is_int(strstr(SM_GATEWAY_EXPECTED, t[i].name) != NULL,
               strcmp(t[i].name, "webhook") != 0, "messages name it");

        for (n = 0; g->outcomes && g->outcomes[n].len; n++) {
            ok(strstr(g->expected, g->outcomes[n].data), "and its outcome %s",
               g->outcomes[n].data);
        }

        is_int(n, t[i].outcomes, "its outcomes");
    }
}


static void
test_headers(void)
{
    size_t                      i, k, n;
    const sm_gateway_header_t  *h;

    static const char *const  names[] = {
        "Idempotency-Key", "X-Submission-Attempt", "X-Submission-Epoch"
    };

    for (i = SM_GATEWAY_NONE + 1; i < SM_GATEWAY_COUNT; i++) {
        h = sm_gateway(i)->headers;

        for (n = 0; h[n].name; n++) {
            is_str(h[n].name, names[h[n].value], "a header by its value");
            is_int(strlen(h[n].lowcase), strlen(h[n].name), "its length");

            for (k = 0; h[n].name[k]; k++) {
                if (h[n].lowcase[k] != (h[n].name[k] >= 'A'
                                        && h[n].name[k] <= 'Z'
                                        ? h[n].name[k] | 0x20 : h[n].name[k]))
                {
                    break;
                }
            }

            is_int(h[n].name[k], 0, "it is the same in lower case");
        }

        /* a webhook has the id of its message instead of a key */

        is_int(n, SM_GATEWAY_VALUE_COUNT - (i == SM_GATEWAY_WEBHOOK),
               "the headers of a type");
    }
}


static void
test_rejects(void)
{
    unsigned  status, n;

    for (status = 0, n = 0; status < 1000; status++) {
        n += sm_gateway_rejects(status);
    }

    is_int(n, 97, "so many statuses reject");
    ok(sm_gateway_rejects(400) && sm_gateway_rejects(499), "from 400 to 499");
    ok(!sm_gateway_rejects(408) && !sm_gateway_rejects(425)
       && !sm_gateway_rejects(429), "but for those that are of the moment");
}


int
main(void)
{
    test_rows();
    test_headers();
    test_rejects();

    return done_testing();
}
