
/* The operations that write, for all database servers. */

#ifndef SM_STORE_SERVER_H
#define SM_STORE_SERVER_H


#include "sm_store_sql.h"


/*
 * sm_store_server_doc.c: makes the documents that carry the rows of a batch to
 * a procedure.  All return -1 without memory.
 */
int sm_server_submit_doc(sm_arena_t *arena, const sm_submit_row_t *rows,
    size_t n, sm_str_t *doc, sm_str_t *bytes);
int sm_server_begin_doc(sm_arena_t *arena, const sm_begin_row_t *rows,
    size_t n, sm_str_t *doc);
int sm_server_complete_doc(sm_arena_t *arena, const sm_complete_row_t *rows,
    size_t n, sm_str_t *doc);


/* The operations that write, and their slots in the table of a back end. */

#define SM_SERVER_FUNCTION(kind, name, ...)                                   \
    int sm_server_##name(sm_conn_t *conn, sm_call_t *call                     \
        SM_STORE_PARAMS(__VA_ARGS__));

#define SM_SERVER_SLOT(kind, op, ...)  .op = sm_server_##op,

SM_STORE_WRITES(SM_SERVER_FUNCTION)


#endif /* SM_STORE_SERVER_H */
