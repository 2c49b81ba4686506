
/*
 * Why nginx could not carry out an exchange, read from its own error line.
 * Only words that cannot contain a secret are kept: no URL, no header, and
 * nothing between quotation marks.
 */

#ifndef SM_CAUSE_H
#define SM_CAUSE_H


#include "sm_str.h"


typedef enum {
    SM_CAUSE_NONE = 0,          /* nginx gave no reason */
    SM_CAUSE_OTHER,             /* no row knows the line */
    SM_CAUSE_NO_LIVE,           /* no server of the upstream may be tried */
    SM_CAUSE_NAME,              /* the name of the gateway has no address */
    SM_CAUSE_NO_RESOLVER,
    SM_CAUSE_CONF,              /* the URL cannot be proxied */
    SM_CAUSE_POST_ACTION,       /* the location has a post_action */
    SM_CAUSE_SOCKET,            /* socket(), bind(): "err" */
    SM_CAUSE_CONNECTIONS,       /* no worker_connections are left */
    SM_CAUSE_MEMORY,
    SM_CAUSE_CONNECT,           /* connect(): "err" */
    SM_CAUSE_CERTIFICATE,       /* this side refuses it: "detail" */
    SM_CAUSE_CERTIFICATE_NAME,  /* it names another host */
    SM_CAUSE_TLS,               /* the handshake failed: "detail" */
    SM_CAUSE_TLS_CLOSED,
    SM_CAUSE_TIMED_OUT,         /* a time-out of nginx */
    SM_CAUSE_CLOSED,
    SM_CAUSE_IO,                /* send(), recv(): "err" */
    SM_CAUSE_HEAD_LARGE,        /* the answer's head is too large */
    SM_CAUSE_NOT_HTTP,          /* the answer is not HTTP */
    SM_CAUSE_COUNT
} sm_cause_e;

typedef struct {
    sm_cause_e   what;
    int          err;           /* errno, or 0 */
    sm_str_t     detail;        /* words of the line, or empty */
} sm_cause_t;


/* "line" is the message alone, without what nginx adds before and after it. */
void sm_cause_read(sm_str_t line, sm_cause_t *cause);


#endif /* SM_CAUSE_H */
