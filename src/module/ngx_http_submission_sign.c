
#include "ngx_http_submission_sign.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdlib.h>


#define NGX_HTTP_SUBMISSION_SIGN_HASH  32


static int
ngx_http_submission_sign_hash(const sm_str_t *parts, size_t n,
    unsigned char hash[NGX_HTTP_SUBMISSION_SIGN_HASH])
{
    int          good;
    size_t       i;
    EVP_MD_CTX  *ctx;

    ctx = EVP_MD_CTX_new();
    if (ctx == NULL) {
        return 0;
    }

    good = EVP_DigestInit_ex(ctx, EVP_sha256(), NULL) == 1;

    for (i = 0; good && i < n; i++) {
        good = EVP_DigestUpdate(ctx, parts[i].data, parts[i].len) == 1;
    }

    good = good && EVP_DigestFinal_ex(ctx, hash, NULL) == 1;

    EVP_MD_CTX_free(ctx);

    return good;
}


int
ngx_http_submission_sign_id(sm_str_t lease_name, sm_str_t id,
    char msg[NGX_HTTP_SUBMISSION_SIGN_ID])
{
    size_t         i;
    sm_str_t       parts[3];
    unsigned char  hash[NGX_HTTP_SUBMISSION_SIGN_HASH];

    parts[0] = lease_name;
    parts[1] = sm_str_c("\n");
    parts[2] = id;

    if (!ngx_http_submission_sign_hash(parts, 3, hash)) {
        return 0;
    }

    (void) memcpy(msg, "msg_", 4);

    for (i = 0; i < 16; i++) {
        msg[4 + 2 * i] = "0123456789abcdef"[hash[i] >> 4];
        msg[5 + 2 * i] = "0123456789abcdef"[hash[i] & 0xf];
    }

    return 1;
}


static char *
ngx_http_submission_sign_copy(char *p, sm_str_t s)
{
    if (s.len) {
        (void) memcpy(p, s.data, s.len);
    }

    return p + s.len;
}


size_t
ngx_http_submission_sign(const sm_str_t *keys, size_t n, sm_str_t msg,
    sm_str_t seconds, sm_str_t body,
    char signatures[NGX_HTTP_SUBMISSION_SIGN_SIZE])
{
    char           *p, *text;
    size_t          i, len;
    unsigned char   mac[NGX_HTTP_SUBMISSION_SIGN_HASH];

    len = msg.len + seconds.len + body.len + 2;

    text = malloc(len);
    if (text == NULL) {
        return 0;
    }

    p = text;
    p = ngx_http_submission_sign_copy(p, msg);
    *p++ = '.';
    p = ngx_http_submission_sign_copy(p, seconds);
    *p++ = '.';
    (void) ngx_http_submission_sign_copy(p, body);

    p = signatures;

    for (i = 0; i < n; i++) {

        if (HMAC(EVP_sha256(), keys[i].data, (int) keys[i].len,
                 (unsigned char *) text, len, mac, NULL)
            == NULL)
        {
            p = signatures;
            break;
        }

        (void) memcpy(p, i ? " v1," : "v1,", i ? 4 : 3);
        p += i ? 4 : 3;

        /* 44 digits, and a zero where the next space goes */

        p += EVP_EncodeBlock((unsigned char *) p, mac, sizeof(mac));
    }

    free(text);

    return p - signatures;
}
