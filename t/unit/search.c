
/*
 * What can be asked of a list, and where its pages begin and end.  Broken by: a
 * combination that no index answers, a cursor that leaves the bounds, an end of
 * a prefix that leaves ids out or takes in others.
 */

#include "sm_search.h"
#include "tap.h"


#define LAST  253402214400000000


static void
test_check(void)
{
    size_t       i;
    const char  *field, *text;

    static const struct {
        sm_list_row_t  row;
        const char    *field;
    } t[] = {
        { { .limit = 1 }, NULL },
        { { .status = SM_STATUS_PENDING, .target = sm_str("t"), .from = 1,
            .to = 2, .asc = 1 }, NULL },
        { { .by = SM_LIST_COMPLETED }, NULL },
        { { .by = SM_LIST_COMPLETED, .status = SM_STATUS_ACCEPTED,
            .target = sm_str("t"), .from = 1 }, NULL },
        { { .by = SM_LIST_COMPLETED, .reason = sm_str("r") }, NULL },
        { { .by = SM_LIST_COMPLETED, .reason = sm_str("r"),
            .target = sm_str("t"), .to = 9 }, NULL },
        { { .by = SM_LIST_COMPLETED, .reason = sm_str("r"),
            .status = SM_STATUS_REJECTED }, NULL },
        { { .by = SM_LIST_COMPLETED, .reason = sm_str("r"),
            .status = SM_STATUS_EXHAUSTED }, NULL },
        { { .prefix = sm_str("p") }, NULL },
        { { .prefix = sm_str("p"), .asc = 1, .after_id = sm_str("p1") }, NULL },
        { { .prefix = sm_str("p"), .after_id = sm_str("p") }, NULL },

        { { .reason = sm_str("r") }, "reason" },
        { { .reason = sm_str("r"), .status = SM_STATUS_REJECTED }, "reason" },
        { { .by = SM_LIST_COMPLETED, .reason = sm_str("r"),
            .status = SM_STATUS_ACCEPTED }, "reason" },
        { { .by = SM_LIST_COMPLETED, .status = SM_STATUS_PENDING }, "by" },
        { { .from = 2, .to = 1 }, "to" },
        { { .from = 2, .to = 2 }, "to" },
        { { .prefix = sm_str("p"), .status = SM_STATUS_PENDING }, "idPrefix" },
        { { .prefix = sm_str("p"), .target = sm_str("t") }, "idPrefix" },
        { { .prefix = sm_str("p"), .reason = sm_str("r") }, "idPrefix" },
        { { .prefix = sm_str("p"), .from = 1 }, "idPrefix" },
        { { .prefix = sm_str("p"), .to = 1 }, "idPrefix" },
        { { .prefix = sm_str("p"), .by = SM_LIST_COMPLETED }, "idPrefix" },
        { { .prefix = sm_str("pq"), .after_id = sm_str("p") }, "after" },
        { { .prefix = sm_str("p"), .after_id = sm_str("q") }, "after" }
    };

    for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        field = NULL;
        text = sm_search_check(&t[i].row, &field);

        is_str(text ? field : NULL, t[i].field, "combination %zu: %s", i,
               text ? text : "good");
    }
}


static void
test_kinds(void)
{
    int            by, asc, i, n, same;
    char           seen[2 * SM_LIST_BYS];
    sm_list_row_t  row;

    for (by = 0, n = 0, same = 0; by < SM_LIST_BYS; by++) {
        for (asc = 0; asc < 2; asc++, n++) {
            memset(&row, 0, sizeof(row));
            row.by = by;
            row.asc = asc;

            seen[n] = sm_search_kind(&row);

            for (i = 0; i < n; i++) {
                same += seen[i] == seen[n];
            }

            is_int(sm_search_plain(&row), by == 0 && asc == 0,
                   "by %d, %s: plain or not", by, asc ? "up" : "down");
        }
    }

    is_int(same, 0, "each list has a kind of its own");
    is_int(seen[0], 0, "the newest have none");
}


static void
test_span(void)
{
    size_t            i;
    sm_search_span_t  span;

    static const struct {
        sm_list_row_t  row;
        int64_t        at;
        const char    *id;
        int64_t        end;
    } t[] = {
        { { .limit = 1 }, LAST, "", 0 },
        { { .asc = 1 }, 0, "", LAST },
        { { .from = 5, .to = 9 }, 9, "", 5 },
        { { .asc = 1, .from = 5, .to = 9 }, 5, "", 9 },
        { { .after_at = 7, .after_id = sm_str("a"), .from = 5, .to = 9 },
          7, "a", 5 },
        { { .asc = 1, .after_at = 7, .after_id = sm_str("a"), .from = 5,
            .to = 9 }, 7, "a", 9 },

        /* a cursor of another page, beyond the bounds */

        { { .after_at = 9, .after_id = sm_str("a"), .from = 5, .to = 9 },
          9, "", 5 },
        { { .asc = 1, .after_at = 4, .after_id = sm_str("a"), .from = 5,
            .to = 9 }, 5, "", 9 },
        { { .asc = 1, .after_at = 5, .after_id = sm_str("a"), .from = 5 },
          5, "a", LAST },
        { { .after_at = 0, .after_id = sm_str("a") }, 0, "a", 0 },
        { { .from = SM_TIME_MAX - 1, .to = SM_TIME_MAX }, LAST, "", LAST }
    };

    for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        sm_search_span(&t[i].row, &span);

        ok(span.at == t[i].at && span.end == t[i].end
           && sm_str_eq(span.id, sm_str_c(t[i].id)), "span %zu", i);
    }
}


static void
test_prefix(void)
{
    char             buf[1024], longest[SM_ID_MAX * 4];
    size_t           i;
    sm_str_t         s;
    sm_list_row_t    row;
    sm_search_ids_t  ids;

    static const char *const  t[][2] = {
        { "a", "b" }, { "order-", "order." }, { "az", "a{" },
        { "\x7e", "\x7f" }, { "\xc3\xa9", "\xc3\xaa" },
        { "a\xdf\xbf", "a\xe0\xa0\x80" },                   /* U+07FF */
        { "\xef\xbf\xbe", "\xef\xbf\xbf" },                 /* U+FFFE */
        { "\xf0\x9f\x98\x80", "\xf0\x9f\x98\x81" },
        { "\xf0\x9f\xbf\xbf", "\xf0\xa0\x80\x80" }, { "a ", "a!" }
    };

    static const char *const  bad[] = {
        "", " a", "\x01", "\xff", "a\xed\x9f\xbf", "\xef\xbf\xbf",
        "\xf4\x8f\xbf\xbf"
    };

    for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        memset(&row, 0, sizeof(row));

        is_str(sm_search_prefix(&row, sm_str_c(t[i][0]), buf), NULL,
               "prefix %zu", i);
        is_mem(row.prefix_end.data, row.prefix_end.len, t[i][1],
               strlen(t[i][1]), "its end");
    }

    for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        ok(sm_search_prefix(&row, sm_str_c(bad[i]), buf) != NULL,
           "no prefix: %zu", i);
    }

    memset(longest, 'x', sizeof(longest));
    s.data = longest;
    s.len = SM_ID_MAX;
    is_str(sm_search_prefix(&row, s, buf), NULL, "200 characters");
    s.len++;
    ok(sm_search_prefix(&row, s, buf) != NULL, "201 are none");

    memset(&row, 0, sizeof(row));
    is_str(sm_search_prefix(&row, sm_str_c("p"), buf), NULL, "a prefix");

    sm_search_ids(&row, &ids);
    ok(sm_str_eq(ids.low, sm_str_c("p")) && sm_str_eq(ids.high, sm_str_c("q"))
       && ids.skip.data && ids.skip.len == 0, "from the first");

    row.after_id = sm_str_c("p5");
    sm_search_ids(&row, &ids);
    ok(sm_str_eq(ids.low, sm_str_c("p")) && sm_str_eq(ids.high, sm_str_c("p5")),
       "down, after one");

    row.asc = 1;
    sm_search_ids(&row, &ids);
    ok(sm_str_eq(ids.low, sm_str_c("p5")) && sm_str_eq(ids.high, sm_str_c("q"))
       && sm_str_eq(ids.skip, sm_str_c("p5")), "up, after one");
}


int
main(void)
{
    test_check();
    test_kinds();
    test_span();
    test_prefix();

    return done_testing();
}
