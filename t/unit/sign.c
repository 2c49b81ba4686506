
/*
 * Secrets and signatures of Standard Webhooks, against the example of its text,
 * and against OpenSSL's command line.  Broken by: a secret that is used as text,
 * or is cut; a message that is put together in another way; a second key that is
 * left out; an id that shows what a client has sent.
 */

#include <stdio.h>
#include <stdlib.h>

#include "sm_webhook.h"
#include "tap.h"

#include "ngx_http_submission_sign.c"


#define SECRET  "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
#define OTHER   "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"
#define MSG     "msg_p5jXN8AQM9LWM0D4loKWxJek"
#define SIGNED  "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="

static sm_arena_t  arena;


static const char *
keys_of(const char *text, sm_str_t keys[SM_WEBHOOK_KEYS], size_t *n)
{
    return sm_webhook_keys(&arena, sm_str_c(text), keys, n);
}


static void
test_vector(void)
{
    char      out[NGX_HTTP_SUBMISSION_SIGN_SIZE];
    size_t    n, len;
    sm_str_t  keys[SM_WEBHOOK_KEYS];

    is_str(keys_of(SECRET "\n", keys, &n), NULL, "the secret of the text");
    is_int(n, 1, "one key");
    is_int(keys[0].len, 24, "of 24 bytes");

    len = ngx_http_submission_sign(keys, n, sm_str_c(MSG),
                                   sm_str_c("1614265330"),
                                   sm_str_c("{\"test\": 2432232314}"), out);
    is_mem(out, len, SIGNED, strlen(SIGNED), "its signature");

    is_str(keys_of(OTHER "\r\n\n" SECRET, keys, &n), NULL, "two");
    is_int(n, 2, "two keys");

    len = ngx_http_submission_sign(keys, n, sm_str_c(MSG),
                                   sm_str_c("1614265330"),
                                   sm_str_c("{\"test\": 2432232314}"), out);
    is_int(len, 2 * 47 + 1, "two signatures");
    is_mem(out + 48, len - 48, SIGNED, strlen(SIGNED), "the second one");
    ok(memcmp(out, "v1,", 3) == 0 && out[47] == ' ', "beside another");
}


/* openssl dgst, with the key in hexadecimal digits */

static void
test_openssl(void)
{
    int         pair;
    char        out[NGX_HTTP_SUBMISSION_SIGN_SIZE], hex[2 * 64 + 1];
    char        command[1024], got[128];
    FILE       *pipe;
    size_t      i, k, n, len;
    sm_str_t    keys[SM_WEBHOOK_KEYS];

    static const char  *secrets[] = {
        SECRET, OTHER,
        "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8gISIjJCUmJygpKissLS4v"
        "MDEyMzQ1Njc4OTo7PD0+Pw==",
        "whsec_//79/Pv6+fj39vX08/Lx8O/u7ezr6uno5+bl5A"
    };

    for (i = 0; i < sizeof(secrets) / sizeof(secrets[0]); i++) {

        is_str(keys_of(secrets[i], keys, &n), NULL, "secret %d", (int) i);

        for (k = 0; k < keys[0].len; k++) {
            (void) sprintf(hex + 2 * k, "%02x",
                           (unsigned char) keys[0].data[k]);
        }

        (void) snprintf(command, sizeof(command),
                        "printf %%s 'msg_1.12.{\"a\":\"b c\"}' | openssl dgst "
                        "-sha256 -mac HMAC -macopt hexkey:%s -binary "
                        "| openssl base64 -A", hex);

        memset(got, 0, sizeof(got));
        pipe = popen(command, "r");

        if (pipe == NULL) {
            abort();
        }

        (void) !fread(got, 1, sizeof(got) - 1, pipe);
        pair = pclose(pipe);

        len = ngx_http_submission_sign(keys, n, sm_str_c("msg_1"),
                                       sm_str_c("12"),
                                       sm_str_c("{\"a\":\"b c\"}"), out);
        is_int(pair, 0, "openssl has signed");
        is_mem(out + 3, len - 3, got, strlen(got), "as openssl does");
    }
}


static void
test_refused(void)
{
    size_t    i, n;
    sm_str_t  keys[SM_WEBHOOK_KEYS];

    static const struct {
        const char  *text;
        const char  *why;
    } t[] = {
        { "", "is missing: the file is empty" },
        { "\n \n", "is missing: the file is empty" },
        { "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "must begin with \"whsec_\"" },
        { SECRET "\nsecret", "must begin with \"whsec_\"" },
        { "whsec_", "must have 24 to 64 bytes after \"whsec_\", as base64" },
        { "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLa",
          "must have 24 to 64 bytes after \"whsec_\", as base64" },
        { "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwA",
          "is not base64 after \"whsec_\"" },
        { "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLa-w",
          "is not base64 after \"whsec_\"" },
        { "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8gISIjJCUmJygpKissL"
          "S4vMDEyMzQ1Njc4OTo7PD0+P0A=",
          "must have 24 to 64 bytes after \"whsec_\", as base64" },
        { SECRET "\n" SECRET "\n" SECRET "\n" SECRET "\n" SECRET "\n" SECRET
          "\n" SECRET "\n" SECRET "\n" SECRET, "is one of more than 8" }
    };

    for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        is_str(keys_of(t[i].text, keys, &n), t[i].why, "refused %d", (int) i);
    }
}


static void
test_id(void)
{
    char      a[NGX_HTTP_SUBMISSION_SIGN_ID], b[NGX_HTTP_SUBMISSION_SIGN_ID];
    sm_str_t  s;

    ok(ngx_http_submission_sign_id(sm_str_c("main"), sm_str_c("order-1"), a),
       "an id");
    is_mem(a, 4, "msg_", 4, "begins so");
    ok(ngx_http_submission_sign_id(sm_str_c("main"), sm_str_c("order-1"), b)
       && memcmp(a, b, sizeof(a)) == 0, "it is the same again");
    ok(ngx_http_submission_sign_id(sm_str_c("main"), sm_str_c("order-2"), b)
       && memcmp(a, b, sizeof(a)) != 0, "another of another intent");
    ok(ngx_http_submission_sign_id(sm_str_c("mai"), sm_str_c("norder-1"), b)
       && memcmp(a, b, sizeof(a)) != 0, "another of another manager");

    s = sm_webhook_first(sm_str_c(" ops 00ff"));
    is_mem(s.data, s.len, " ops 00ff", 9, "an event");
    s = sm_webhook_first(sm_str_c(" ops 00ff~12"));
    is_mem(s.data, s.len, " ops 00ff", 9, "one that is sent again");
}


static void
test_names(void)
{
    sm_str_t  s, notify = sm_str("rejected:ops accepted:audit.log");

    is_str(sm_webhook_name_check(sm_str_c("a.B-9_")), NULL, "a name");
    ok(sm_webhook_name_check(sm_str_c("")) != NULL, "none");
    ok(sm_webhook_name_check(sm_str_c("a b")) != NULL, "with a space");
    ok(sm_webhook_name_check(sm_str_c("a:b")) != NULL, "with a colon");
    ok(sm_webhook_name_check(sm_str_c("\xc3\xa9")) != NULL, "not ASCII");

    s = sm_webhook_name(sm_str_c("webhook ops"));
    is_mem(s.data, s.len, "ops", 3, "the name of a target");
    is_int(sm_webhook_name(sm_str_c("webhook")).len, 0, "not of another");
    is_int(sm_webhook_name(sm_str_c("webhook.ops")).len, 0, "nor of this");

    ok(sm_webhook_told(notify, SM_STATUS_REJECTED), "told of the first");
    ok(sm_webhook_told(notify, SM_STATUS_ACCEPTED), "and of the last");
    ok(!sm_webhook_told(notify, SM_STATUS_EXHAUSTED), "not of others");
    ok(!sm_webhook_told(notify, SM_STATUS_PENDING), "nor of what is not over");
    notify.len = 0;
    ok(!sm_webhook_told(notify, SM_STATUS_REJECTED), "nobody is told");
}


int
main(void)
{
    test_vector();
    test_openssl();
    test_refused();
    test_id();
    test_names();

    sm_arena_free(&arena);

    return done_testing();
}
