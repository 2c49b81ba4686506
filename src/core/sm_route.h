
/*
 * Routes: which row of a table a path and a method belong to.
 *
 * A pattern is segments with slashes between them.  One that is "*" stands for
 * any segment, and what stands there is given back.  Of the rows that fit, the
 * first counts.
 */

#ifndef SM_ROUTE_H
#define SM_ROUTE_H


#include "sm_text.h"


#define SM_ROUTE_SEGMENTS  8


/* bits, in the order in which "Allow" names them */

#define SM_ROUTE_GET     0x01
#define SM_ROUTE_HEAD    0x02
#define SM_ROUTE_POST    0x04
#define SM_ROUTE_PUT     0x08
#define SM_ROUTE_DELETE  0x10

#define SM_ROUTE_READ    (SM_ROUTE_GET|SM_ROUTE_HEAD)

/* as many bytes as sm_route_allow() may write */
#define SM_ROUTE_ALLOW   sizeof("GET, HEAD, POST, PUT, DELETE")


/* what a row of any table of routes begins with */

typedef struct {
    const char   *pattern;
    unsigned      methods;
} sm_route_t;

typedef struct {
    const void   *rows;
    size_t        n;
    size_t        size;                 /* of a row */
} sm_route_table_t;

#define sm_route_table(rows)                                                  \
    { rows, sizeof(rows) / sizeof(rows[0]), sizeof(rows[0]) }


typedef enum {
    SM_ROUTE_FOUND = 0,
    SM_ROUTE_NOT_FOUND,                 /* 404 */
    SM_ROUTE_NOT_ALLOWED,               /* 405: "methods" are */
    SM_ROUTE_RESULTS
} sm_route_e;

typedef struct {
    const void   *row;
    unsigned      methods;              /* of all rows that the path fits */
    unsigned      n;
    sm_str_t      any[SM_ROUTE_SEGMENTS];   /* where the pattern has "*" */
} sm_route_match_t;


/*
 * The part of a URI after the prefix, as it was sent: no query, nothing
 * decoded, so that a segment may have a slash as "%2F".  0: the URI is not
 * under the prefix, or has segments that are not plain ("", "." and ".."), and
 * is to be taken as the server has resolved it.  If the prefix ends within a
 * segment there is nothing at the path: it is empty.
 */
int sm_route_raw(sm_str_t uri, sm_str_t prefix, sm_str_t *path);

/* the same of a URI that is resolved; 0: it is not under the prefix */
int sm_route_resolved(sm_str_t uri, sm_str_t prefix, sm_str_t *path);

/*
 * Decodes "%XX" as nginx does; what is not two digits is dropped.
 * Returns how many bytes it has written, at most those of the source.
 */
size_t sm_route_decode(char *dst, sm_str_t src);

/*
 * "path" is what is after the prefix, and begins with a slash or after one.
 * With a buffer of its length, its segments are decoded into that, and then
 * compared; without one, they are taken as they are.
 */
sm_route_e sm_route_find(const sm_route_table_t *table, unsigned method,
    sm_str_t path, char *buf, sm_route_match_t *match);

/* "GET, HEAD, POST" */
void sm_route_allow(sm_out_t *out, unsigned methods);


#endif /* SM_ROUTE_H */
