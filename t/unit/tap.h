#ifndef TAP_H
#define TAP_H

/*
 * A test program is a main() of checks that ends in "return done_testing();".
 * Each check prints one TAP line, a failed one also says, on the standard
 * error, where it stands and what it saw; the exit status is non-zero if any
 * failed.
 *
 * main() begins with what the test needs: needs_no_store() where no store has
 * a part in it, so that it is run once; store.h has needs_sqlite() and
 * needs_server().  Where that is not there the test is skipped, and says why.
 */

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>


static int  tap_run, tap_failed;


#define ok(cond, ...)                                                         \
    tap_ok((cond) ? 1 : 0, __FILE__, __LINE__, #cond, __VA_ARGS__)

#define is_int(got, expected, ...)                                            \
    tap_is_int((intmax_t) (got), (intmax_t) (expected),                       \
               __FILE__, __LINE__, #got, __VA_ARGS__)

#define is_str(got, expected, ...)                                            \
    tap_is_str((got), (expected), __FILE__, __LINE__, #got, __VA_ARGS__)

/* bytes with a length: embedded zeros count, no terminator is needed */
#define is_mem(got, got_len, expected, expected_len, ...)                     \
    tap_is_mem((got), (size_t) (got_len), (expected), (size_t) (expected_len),\
               __FILE__, __LINE__, #got, __VA_ARGS__)

#define diag(...)                                                             \
    (fputs("# ", stdout), printf(__VA_ARGS__), putchar('\n'), fflush(stdout))


static inline void
skip_all(const char *why)
{
    printf("1..0 # SKIP %s\n", why);
    exit(0);
}


/* SUBMISSION_TEST_STORE is one for each run of all tests */

static inline void
needs_no_store(void)
{
    const char  *string;

    string = getenv("SUBMISSION_TEST_STORE");

    if (string && *string && strcmp(string, "sqlite") != 0) {
        skip_all("no store has a part in it");
    }
}


static inline int
tap_result(int good, const char *file, int line, const char *what,
    const char *fmt, va_list args)
{
    va_list  again;

    tap_run++;
    tap_failed += !good;

    va_copy(again, args);

    printf("%sok %d - ", good ? "" : "not ", tap_run);
    vprintf(fmt, args);
    putchar('\n');
    fflush(stdout);

    if (!good) {
        fputs("#   Failed test '", stderr);
        vfprintf(stderr, fmt, again);
        fprintf(stderr, "': %s\n#   at %s line %d\n", what, file, line);
    }

    va_end(again);

    return good;
}


__attribute__((format(printf, 5, 6)))
static inline int
tap_ok(int good, const char *file, int line, const char *what,
    const char *fmt, ...)
{
    va_list  args;

    va_start(args, fmt);
    tap_result(good, file, line, what, fmt, args);
    va_end(args);

    return good;
}


__attribute__((format(printf, 6, 7)))
static inline int
tap_is_int(intmax_t got, intmax_t expected, const char *file, int line,
    const char *what, const char *fmt, ...)
{
    va_list  args;

    va_start(args, fmt);
    tap_result(got == expected, file, line, what, fmt, args);
    va_end(args);

    if (got != expected) {
        fprintf(stderr, "#       got: %" PRIdMAX "\n"
                "#  expected: %" PRIdMAX "\n",
                got, expected);
    }

    return got == expected;
}


static inline void
tap_diag_mem(const char *label, const char *p, size_t len)
{
    size_t  i;

    fprintf(stderr, "#  %s: ", label);

    if (p == NULL) {
        fputs("NULL\n", stderr);
        return;
    }

    fputc('"', stderr);

    for (i = 0; i < len && i < 2000; i++) {
        if (p[i] >= 0x20 && p[i] < 0x7f) {
            fputc(p[i], stderr);

        } else {
            fprintf(stderr, "\\x%02x", (unsigned char) p[i]);
        }
    }

    fprintf(stderr, "\"%s (%zu bytes)\n", i < len ? "..." : "", len);
}


static inline int
tap_compare(const char *got, size_t got_len, const char *expected,
    size_t expected_len, const char *file, int line, const char *what,
    const char *fmt, va_list args)
{
    int  good;

    if (got == NULL || expected == NULL) {
        good = (got == expected);

    } else {
        good = (got_len == expected_len
                && (got_len == 0 || memcmp(got, expected, got_len) == 0));
    }

    tap_result(good, file, line, what, fmt, args);

    if (!good) {
        tap_diag_mem("     got", got, got_len);
        tap_diag_mem("expected", expected, expected_len);
    }

    return good;
}


__attribute__((format(printf, 6, 7)))
static inline int
tap_is_str(const char *got, const char *expected, const char *file, int line,
    const char *what, const char *fmt, ...)
{
    int      good;
    va_list  args;

    va_start(args, fmt);
    good = tap_compare(got, got ? strlen(got) : 0,
                       expected, expected ? strlen(expected) : 0,
                       file, line, what, fmt, args);
    va_end(args);

    return good;
}


__attribute__((format(printf, 8, 9)))
static inline int
tap_is_mem(const void *got, size_t got_len, const void *expected,
    size_t expected_len, const char *file, int line, const char *what,
    const char *fmt, ...)
{
    int      good;
    va_list  args;

    va_start(args, fmt);
    good = tap_compare(got, got_len, expected, expected_len,
                       file, line, what, fmt, args);
    va_end(args);

    return good;
}


static inline int
done_testing(void)
{
    printf("1..%d\n", tap_run);

    if (tap_failed) {
        printf("# %d of %d failed\n", tap_failed, tap_run);
    }

    fflush(stdout);

    return tap_failed ? 1 : 0;
}


#endif /* TAP_H */
