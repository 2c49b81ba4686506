
/*
 * Types of gateways: each is one row of a table.
 */

#ifndef SM_GATEWAY_H
#define SM_GATEWAY_H


#include "sm_str.h"


#define SM_GATEWAY_URL_MAX   1024       /* bytes */

/* The types, for messages. */
#define SM_GATEWAY_EXPECTED  "\"sms\", \"push\" or \"http\""


typedef enum {
    SM_GATEWAY_NONE = 0,
    SM_GATEWAY_SMS,
    SM_GATEWAY_PUSH,
    SM_GATEWAY_HTTP,
    SM_GATEWAY_WEBHOOK,             /* only the targets of webhooks */
    SM_GATEWAY_COUNT
} sm_gateway_e;


/* Which part of an answer decides. */

typedef enum {
    SM_GATEWAY_READ_NOTHING = 0,
    SM_GATEWAY_READ_BODY,           /* of a 2xx: {"status":..., "reason":...} */
    SM_GATEWAY_READ_STATUS,         /* of HTTP */
    SM_GATEWAY_READ_COUNT
} sm_gateway_read_e;


/* The value of a header of a request. */

typedef enum {
    SM_GATEWAY_VALUE_ID = 0,        /* the intent's, as visible ASCII */
    SM_GATEWAY_VALUE_NUMBER,        /* the attempt's */
    SM_GATEWAY_VALUE_EPOCH,
    SM_GATEWAY_VALUE_COUNT
} sm_gateway_value_e;

typedef struct {
    const char               *name;         /* NULL: the end of a list */
    const char               *lowcase;
    sm_gateway_value_e        value;
} sm_gateway_header_t;


typedef struct {
    sm_str_t                  name;
    const char               *path;         /* after the contract's URL */
    sm_gateway_read_e         read;

    /*
     * the reasons for which it may reject, and the same for messages; NULL if
     * that is each status of sm_gateway_rejects(), as "http_4xx"
     */
    const sm_str_t           *outcomes;
    const char               *expected;

    const char               *content_type;
    const sm_gateway_header_t  *headers;
} sm_gateway_t;


const sm_gateway_t *sm_gateway(sm_gateway_e type);

sm_str_t sm_gateway_name(sm_gateway_e type);
sm_gateway_e sm_gateway_by_name(sm_str_t name);

/* Returns NULL, or what is wrong. */
const char *sm_gateway_url_check(sm_str_t url);

/*
 * Returns whether a status of HTTP is about the request, so that the next
 * attempt would get the same answer, and not about the moment.
 */
int sm_gateway_rejects(unsigned status);

/* Returns whether a gateway of the type may reject for this reason. */
int sm_outcome_known(sm_gateway_e type, sm_str_t reason);

/* Returns "invalid_request, invalid_recipient, ...", for messages. */
const char *sm_outcomes_expected(sm_gateway_e type);


#endif /* SM_GATEWAY_H */
