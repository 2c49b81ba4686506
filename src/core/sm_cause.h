
/*
 * Why nginx could not carry out an exchange: what its own error line says, as
 * far as it is known.  Of a line only the words are kept that cannot have a
 * secret in them: no URL, no header, nothing between quotation marks.
 */

#ifndef SM_CAUSE_H
#define SM_CAUSE_H


#include "sm_str.h"


typedef enum {
    SM_CAUSE_NONE = 0,          /* nginx gave no reason */
    SM_CAUSE_OTHER,             /* a line that is not known */
    SM_CAUSE_NO_LIVE,           /* no server of the upstream may be tried */
    SM_CAUSE_NAME,              /* the name of the gateway has no address */
    SM_CAUSE_NO_RESOLVER,
    SM_CAUSE_CONF,              /* the URL cannot be proxied */
    SM_CAUSE_POST_ACTION,       /* the location has one */
    SM_CAUSE_SOCKET,            /* socket(), bind(): "err" */
    SM_CAUSE_CONNECTIONS,       /* worker_connections */
    SM_CAUSE_MEMORY,
    SM_CAUSE_CONNECT,           /* connect(): "err" */
    SM_CAUSE_CERTIFICATE,       /* this side refuses it: "detail" */
    SM_CAUSE_CERTIFICATE_NAME,  /* it is not that of the gateway */
    SM_CAUSE_TLS,               /* the handshake failed: "detail" */
    SM_CAUSE_TLS_CLOSED,
    SM_CAUSE_TIMED_OUT,         /* by a time-out of nginx */
    SM_CAUSE_CLOSED,
    SM_CAUSE_IO,                /* send(), recv(): "err" */
    SM_CAUSE_HEAD_LARGE,        /* of the answer */
    SM_CAUSE_NOT_HTTP,          /* the answer */
    SM_CAUSE_COUNT
} sm_cause_e;

typedef struct {
    sm_cause_e   what;
    int          err;           /* of the system; 0: none */
    sm_str_t     detail;        /* of the line; or empty */
} sm_cause_t;


/* the message of an error line, without what nginx puts before and after it */
void sm_cause_read(sm_str_t line, sm_cause_t *cause);


#endif /* SM_CAUSE_H */
