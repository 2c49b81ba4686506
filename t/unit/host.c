
/*
 * Hosts: which are ours.  Broken by: a name that ends or begins like ours, an
 * address that is spelt as a name, a port that counts for nothing, a pattern
 * that names more than nginx's own "server_name" does.
 */

#include "sm_host.h"
#include "tap.h"


static sm_str_t
test_str(const char *s)
{
    return sm_str_c(s);
}


static void
test_fixed(void)
{
    size_t  i;

    static const char *const  fixed[] = {
        "127.0.0.1", "10.0.0.11", "255.255.255.255", "[::1]",
        "[2001:db8::1]", "localhost", "a.localhost"
    };

    static const char *const  named[] = {
        "", "a.example", "127.0.0.1.example", "1.2.3.4.5", "1.2.3", "0x7f.1",
        "localhost.example", "alocalhost", ".localhost", "::1", "256.1.1.1",
        "1.2.3.", ".1.2.3", "1..2.3", "1.2.3.0004", "1.2.3.4.",
        "1111.1111.1111.1111.1111.1111"
    };

    for (i = 0; i < sm_nelts(fixed); i++) {
        ok(sm_host_is_fixed(test_str(fixed[i])), "\"%s\" is what it says",
           fixed[i]);
    }

    for (i = 0; i < sm_nelts(named); i++) {
        ok(!sm_host_is_fixed(test_str(named[i])), "\"%s\" is looked up",
           named[i]);
    }
}


static void
test_matches(void)
{
    size_t  i;

    static const struct {
        const char  *pattern;
        const char  *host;
        int          expected;
    } cases[] = {
        { "a.example", "a.example", 1 },
        { "a.example", "b.a.example", 0 },
        { "a.example", "a.example.evil", 0 },
        { "a.example", "aa.example", 0 },
        { "*.a.example", "b.a.example", 1 },
        { "*.a.example", "c.b.a.example", 1 },
        { "*.a.example", "a.example", 0 },
        { "*.a.example", "ba.example", 0 },
        { "*.a.example", ".a.example", 0 },
        { ".a.example", "a.example", 1 },
        { ".a.example", "b.a.example", 1 },
        { ".a.example", "ba.example", 0 },
        { "a.*", "a.example", 1 },
        { "a.*", "a.b.example", 1 },
        { "a.*", "a.", 0 },
        { "a.*", "ab.example", 0 },
        { "*", "a.example", 1 },
        { "_", "_", 0 },
        { "_", "a.example", 0 },
        { "", "", 0 },
        { "", "a.example", 0 },
        { "a.example", "", 0 },
        { "*.a", "", 0 },
    };

    for (i = 0; i < sm_nelts(cases); i++) {
        ok(sm_host_matches(test_str(cases[i].pattern), test_str(cases[i].host))
           == cases[i].expected,
           "\"%s\" of \"%s\"", cases[i].host, cases[i].pattern);
    }
}


static void
test_check(void)
{
    size_t  i;

    static const char *const  good[] = {
        "a", "a.example", "*.a.example", ".a.example", "a.*", "*", "a_b-1"
    };

    static const char *const  bad[] = {
        "", "a.example:8080", "[::1]", "http://a", "a b", "A", "*a.example",
        "a.*.example", "*.a.*", "**", "a*", "~a"
    };

    for (i = 0; i < sm_nelts(good); i++) {
        ok(sm_host_check(test_str(good[i])) == NULL, "\"%s\" is a pattern",
           good[i]);
    }

    for (i = 0; i < sm_nelts(bad); i++) {
        ok(sm_host_check(test_str(bad[i])) != NULL, "\"%s\" is none", bad[i]);
    }
}


static void
test_origin(void)
{
    size_t  i;

    static const struct {
        const char  *host;
        const char  *origin;
        int          expected;
    } cases[] = {
        { "a.example", "http://a.example", 1 },
        { "a.example", "https://a.example", 1 },
        { "A.example", "https://a.EXAMPLE", 1 },
        { "a.example:8080", "http://a.example:8080", 1 },
        { "a.example:443", "https://a.example", 1 },
        { "a.example:80", "http://a.example", 1 },
        { "a.example", "https://a.example:443", 1 },
        { "[::1]:8080", "http://[::1]:8080", 1 },
        { "[::1]", "http://[::1]", 1 },
        { "[::1]", "http://[::2]", 0 },
        { "a.example:443", "http://a.example", 0 },
        { "a.example", "http://a.example:8080", 0 },
        { "a.example:8080", "http://a.example", 0 },
        { "a.example:8080", "http://a.example:8081", 0 },
        { "a.example", "http://b.example", 0 },
        { "a.example", "http://a.example.evil", 0 },
        { "a.example", "http://a", 0 },
        { "a.example", "ftp://a.example", 0 },
        { "a.example", "a.example", 0 },
        { "a.example", "null", 0 },
        { "a.example", "", 0 },
        { "", "http://", 0 },
        { "", "", 0 },
        { ":80", "http://:80", 0 },
        { "a.example", "http://a.example/", 0 },
        { "a.example", "http://a.example, http://b", 0 },
        { "a.example", "http://u@a.example", 0 },
    };

    for (i = 0; i < sm_nelts(cases); i++) {
        ok(sm_host_is_origin(test_str(cases[i].host),
                             test_str(cases[i].origin))
           == cases[i].expected,
           "\"%s\" at \"%s\"", cases[i].origin, cases[i].host);
    }
}


int
main(void)
{
    test_fixed();
    test_matches();
    test_check();
    test_origin();

    return done_testing();
}
