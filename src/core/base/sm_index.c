
#include <endian.h>
#include <stdlib.h>

#include "sm_index.h"


#define SM_INDEX_MIN  16


#define sm_rotl(x, b)  ((x) << (b) | (x) >> (64 - (b)))


static void
sm_sip_round(uint64_t v[4])
{
    v[0] += v[1];
    v[2] += v[3];
    v[1] = sm_rotl(v[1], 13) ^ v[0];
    v[3] = sm_rotl(v[3], 16) ^ v[2];
    v[0] = sm_rotl(v[0], 32);

    v[2] += v[1];
    v[0] += v[3];
    v[1] = sm_rotl(v[1], 17) ^ v[2];
    v[3] = sm_rotl(v[3], 21) ^ v[0];
    v[2] = sm_rotl(v[2], 32);
}


static uint64_t
sm_sip_word(const char *p, size_t n)
{
    uint64_t  word;

    word = 0;

    while (n--) {
        word = word << 8 | (unsigned char) p[n];
    }

    return word;
}


static void
sm_sip_add(uint64_t v[4], uint64_t word)
{
    v[3] ^= word;
    sm_sip_round(v);
    sm_sip_round(v);
    v[0] ^= word;
}


uint64_t
sm_siphash(const uint64_t key[2], sm_str_t s)
{
    size_t    i;
    uint64_t  word;
    uint64_t  v[4] = { key[0] ^ 0x736f6d6570736575,
                       key[1] ^ 0x646f72616e646f6d,
                       key[0] ^ 0x6c7967656e657261,
                       key[1] ^ 0x7465646279746573 };

    for (i = 0; i + 8 <= s.len; i += 8) {
        memcpy(&word, s.data + i, 8);
        sm_sip_add(v, le64toh(word));
    }

    sm_sip_add(v, (uint64_t) s.len << 56 | sm_sip_word(s.data + i, s.len - i));

    v[2] ^= 0xff;

    for (i = 0; i < 4; i++) {
        sm_sip_round(v);
    }

    return v[0] ^ v[1] ^ v[2] ^ v[3];
}


static int
sm_index_alloc(sm_index_t *index, size_t size)
{
    index->hashes = calloc(size, sizeof(uint32_t));
    index->nodes = malloc(size * sizeof(sm_index_node_t *));

    if (index->hashes == NULL || index->nodes == NULL) {
        free(index->hashes);
        free(index->nodes);
        return -1;
    }

    index->size = size;

    return 0;
}


int
sm_index_init(sm_index_t *index, size_t name, const uint64_t key[2])
{
    if (sm_index_alloc(index, SM_INDEX_MIN) != 0) {
        return -1;
    }

    index->n = 0;
    index->name = name;
    index->key[0] = key[0];
    index->key[1] = key[1];

    return 0;
}


int
sm_index_destroy_some(sm_index_t *index, void (*done)(sm_index_node_t *node),
    size_t max)
{
    while (index->size && max) {
        index->size--;
        max--;

        if (index->hashes[index->size]) {
            done(index->nodes[index->size]);
        }
    }

    if (index->size) {
        return 1;
    }

    free(index->hashes);
    free(index->nodes);

    index->hashes = NULL;
    index->nodes = NULL;

    return 0;
}


void
sm_index_destroy(sm_index_t *index, void (*done)(sm_index_node_t *node))
{
    (void) sm_index_destroy_some(index, done, SIZE_MAX);
}


static void
sm_index_put(sm_index_t *index, uint32_t hash, sm_index_node_t *node)
{
    size_t  i, mask;

    mask = index->size - 1;

    for (i = hash & mask; index->hashes[i]; i = (i + 1) & mask);

    index->hashes[i] = hash;
    index->nodes[i] = node;
}


static int
sm_index_resize(sm_index_t *index, size_t size)
{
    size_t      i;
    sm_index_t  old = *index;

    if (sm_index_alloc(index, size) != 0) {
        *index = old;
        return -1;
    }

    for (i = 0; i < old.size; i++) {
        if (old.hashes[i]) {
            sm_index_put(index, old.hashes[i], old.nodes[i]);
        }
    }

    free(old.hashes);
    free(old.nodes);

    return 0;
}


sm_index_node_t *
sm_index_find(const sm_index_t *index, uint32_t hash, sm_str_t name)
{
    size_t  i, mask;

    mask = index->size - 1;

    for (i = hash & mask; index->hashes[i]; i = (i + 1) & mask) {
        if (index->hashes[i] == hash
            && sm_str_eq(sm_index_name(index, index->nodes[i]), name))
        {
            return index->nodes[i];
        }
    }

    return NULL;
}


int
sm_index_add(sm_index_t *index, sm_index_node_t *node)
{
    if (index->n >= index->size / 4 * 3
        && sm_index_resize(index, 2 * index->size) != 0)
    {
        return -1;
    }

    sm_index_put(index, node->hash, node);
    index->n++;

    return 0;
}


/* Nodes that stand behind it because their own slot was taken move up. */

void
sm_index_remove(sm_index_t *index, sm_index_node_t *node)
{
    size_t  i, k, mask;

    mask = index->size - 1;

    i = node->hash & mask;

    while (index->hashes[i] != node->hash || index->nodes[i] != node) {
        i = (i + 1) & mask;
    }

    for (k = (i + 1) & mask; index->hashes[k]; k = (k + 1) & mask) {
        if (((k - index->hashes[k]) & mask) >= ((k - i) & mask)) {
            index->hashes[i] = index->hashes[k];
            index->nodes[i] = index->nodes[k];
            i = k;
        }
    }

    index->hashes[i] = 0;
    index->n--;

    if (index->size > SM_INDEX_MIN && index->n < index->size / 8) {
        (void) sm_index_resize(index, index->size / 2);
    }
}
