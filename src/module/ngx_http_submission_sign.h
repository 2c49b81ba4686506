
/*
 * Signs what is sent, as Standard Webhooks has it: HMAC-SHA256 of
 * "<message id>.<seconds>.<body>".  It knows nothing of nginx, so that it can
 * be tested without it.
 */

#ifndef _NGX_HTTP_SUBMISSION_SIGN_H_INCLUDED_
#define _NGX_HTTP_SUBMISSION_SIGN_H_INCLUDED_


#include "sm_webhook.h"


#define NGX_HTTP_SUBMISSION_SIGN_ID    36       /* "msg_" and 32 digits */
#define NGX_HTTP_SUBMISSION_SIGN_ONE   47       /* "v1," and 32 bytes */
#define NGX_HTTP_SUBMISSION_SIGN_SIZE                                         \
    (SM_WEBHOOK_KEYS * (NGX_HTTP_SUBMISSION_SIGN_ONE + 1))


/*
 * Writes the id of a message: a hash of the manager and of the intent that is
 * sent, so that it has no text of a client's.  Both functions return 0 if
 * OpenSSL fails.
 */
int ngx_http_submission_sign_id(sm_str_t lease_name, sm_str_t id,
    char msg[NGX_HTTP_SUBMISSION_SIGN_ID]);

/*
 * Writes the signatures, one for each key, separated by spaces, and returns
 * their length.
 */
size_t ngx_http_submission_sign(const sm_str_t *keys, size_t n, sm_str_t msg,
    sm_str_t seconds, sm_str_t body,
    char signatures[NGX_HTTP_SUBMISSION_SIGN_SIZE]);


#endif /* _NGX_HTTP_SUBMISSION_SIGN_H_INCLUDED_ */
