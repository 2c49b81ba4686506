
/*
 * An index by name: a hash table of nodes that are embedded in the structs
 * which it finds.
 *
 * The hashes are kept apart from the nodes, so that a miss costs one cache
 * line, and growing touches no node.  Clients choose the names, so the hash is
 * keyed: they cannot choose names that collide.
 */

#ifndef SM_INDEX_H
#define SM_INDEX_H


#include "sm_str.h"


typedef struct {
    uint32_t           hash;            /* never 0 */
    uint32_t           len;             /* of the name */
} sm_index_node_t;

typedef struct {
    uint32_t          *hashes;          /* 0 if the slot is free */
    sm_index_node_t  **nodes;
    size_t             n;
    size_t             size;            /* a power of two */
    size_t             name;            /* offset of the name from the node */
    uint64_t           key[2];
} sm_index_t;


/* "key" must be random.  Returns -1 if there is no memory. */
int sm_index_init(sm_index_t *index, size_t name, const uint64_t key[2]);

/* Calls done() for each node that is left. */
void sm_index_destroy(sm_index_t *index, void (*done)(sm_index_node_t *node));

/*
 * Destroys the index in slices of up to "max" slots.  Returns 1 if there is
 * more to destroy; until then the index must not be used for anything else.
 */
int sm_index_destroy_some(sm_index_t *index,
    void (*done)(sm_index_node_t *node), size_t max);

/* "hash" is that of the name. */
sm_index_node_t *sm_index_find(const sm_index_t *index, uint32_t hash,
    sm_str_t name);

/*
 * The caller has set the node's hash and its name, which must not be in the
 * index yet.  Returns -1 if there is no memory.
 */
int sm_index_add(sm_index_t *index, sm_index_node_t *node);
void sm_index_remove(sm_index_t *index, sm_index_node_t *node);

/* SipHash-2-4 */
uint64_t sm_siphash(const uint64_t key[2], sm_str_t s);


static inline sm_str_t
sm_index_name(const sm_index_t *index, const sm_index_node_t *node)
{
    sm_str_t  name = { node->len, (const char *) node + index->name };

    return name;
}


static inline uint32_t
sm_index_hash(const sm_index_t *index, sm_str_t name)
{
    uint32_t  hash;

    hash = (uint32_t) sm_siphash(index->key, name);

    return hash ? hash : 1;
}


#endif /* SM_INDEX_H */
