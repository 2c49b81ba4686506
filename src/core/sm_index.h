
/*
 * An index by name: a hash table of nodes that are part of what they find.
 *
 * The hashes stand apart from the nodes, so that to find nothing costs one
 * cache line, and to grow touches no node.  Names come from clients: with a key
 * that nobody knows they cannot be chosen to meet in one place.
 */

#ifndef SM_INDEX_H
#define SM_INDEX_H


#include "sm_str.h"


typedef struct {
    uint32_t           hash;            /* never 0 */
    uint32_t           len;             /* of the name */
} sm_index_node_t;

typedef struct {
    uint32_t          *hashes;          /* 0: the slot is free */
    sm_index_node_t  **nodes;
    size_t             n;
    size_t             size;            /* a power of two */
    size_t             name;            /* its offset from the node */
    uint64_t           key[2];
} sm_index_t;


/* "key" is random; -1: no memory */
int sm_index_init(sm_index_t *index, size_t name, const uint64_t key[2]);

/* "done" is called for each node that is left */
void sm_index_destroy(sm_index_t *index, void (*done)(sm_index_node_t *node));

/*
 * The same in slices: looks at up to "max" slots, from the last one down.
 * 1: there is more to destroy, and nothing else may be done with the index.
 */
int sm_index_destroy_some(sm_index_t *index,
    void (*done)(sm_index_node_t *node), size_t max);

/* "hash" is the name's */
sm_index_node_t *sm_index_find(const sm_index_t *index, uint32_t hash,
    sm_str_t name);

/*
 * The node has its name, which is not in the index, and its hash.  -1: no
 * memory.
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
