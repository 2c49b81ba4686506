
/*
 * Routes: which row of a table a path and a method belong to.
 *
 * A pattern consists of segments with slashes between them.  The segment "*"
 * matches any segment, which the caller gets.  The first row that matches
 * decides.
 */

#ifndef SM_ROUTE_H
#define SM_ROUTE_H


#include "sm_text.h"


#define SM_ROUTE_SEGMENTS  8


/* Bits, in the order in which "Allow" names the methods. */

#define SM_ROUTE_GET     0x01
#define SM_ROUTE_HEAD    0x02
#define SM_ROUTE_POST    0x04
#define SM_ROUTE_PUT     0x08
#define SM_ROUTE_DELETE  0x10

#define SM_ROUTE_READ    (SM_ROUTE_GET|SM_ROUTE_HEAD)

/* The most bytes that sm_route_allow() may write. */
#define SM_ROUTE_ALLOW   sizeof("GET, HEAD, POST, PUT, DELETE")


/* Each row of a table of routes begins with this. */

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
    SM_ROUTE_NOT_ALLOWED,               /* 405; "methods" are allowed */
    SM_ROUTE_RESULTS
} sm_route_e;

typedef struct {
    const void   *row;
    unsigned      methods;              /* of all rows that match the path */
    unsigned      n;
    sm_str_t      any[SM_ROUTE_SEGMENTS];   /* where the pattern has "*" */
} sm_route_match_t;


/*
 * Gives the part of a URI after the prefix, as it was sent: without the query,
 * and not decoded, so that a segment may have a slash as "%2F".  Returns 0 if
 * the URI is not under the prefix, or has an empty segment, "." or "..": then
 * the caller takes the URI that the server has resolved.  The path is empty if
 * the prefix ends within a segment.
 */
int sm_route_raw(sm_str_t uri, sm_str_t prefix, sm_str_t *path);

/* Does the same with a resolved URI.  Returns 0 outside of the prefix. */
int sm_route_resolved(sm_str_t uri, sm_str_t prefix, sm_str_t *path);

/*
 * Decodes "%XX" as nginx does; a "%" without two digits is dropped.  Returns
 * the number of bytes that were written, at most src.len.
 */
size_t sm_route_decode(char *dst, sm_str_t src);

/*
 * "path" is the part after the prefix, with or without its first slash.  With
 * a buffer of the same length, segments are decoded into it before they are
 * compared; with NULL they are compared as they are.
 */
sm_route_e sm_route_find(const sm_route_table_t *table, unsigned method,
    sm_str_t path, char *buf, sm_route_match_t *match);

/* Writes "GET, HEAD, POST". */
void sm_route_allow(sm_out_t *out, unsigned methods);


#endif /* SM_ROUTE_H */
