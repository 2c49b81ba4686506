
/*
 * The leader's numbers as one block of memory: the stats, their targets, and
 * then the strings.
 */

#include <string.h>

#include "sm_stats.h"


typedef void (*sm_stats_string_pt)(sm_str_t *s, void *data);


static void
sm_stats_strings(sm_stats_target_t *t, sm_stats_string_pt each, void *data)
{
    each(&t->name, data);
    each(&t->pause_reason, data);
    each(&t->pause_actor, data);
    each(&t->error_reason, data);
    each(&t->error_detail, data);
    each(&t->health_why, data);
}


static void
sm_stats_all_strings(sm_stats_t *stats, sm_stats_string_pt each, void *data)
{
    size_t  i;

    sm_stats_strings(&stats->totals, each, data);

    for (i = 0; i < stats->n; i++) {
        sm_stats_strings(&stats->targets[i], each, data);
    }
}


static void
sm_stats_add_length(sm_str_t *s, void *data)
{
    *(size_t *) data += s->len;
}


size_t
sm_stats_pack_size(const sm_stats_t *stats)
{
    size_t  size;

    size = sizeof(sm_stats_t) + stats->n * sizeof(sm_stats_target_t);

    sm_stats_all_strings((sm_stats_t *) stats, sm_stats_add_length, &size);

    return size;
}


typedef struct {
    char    *block;
    size_t   used;
} sm_stats_block_t;


static void
sm_stats_put_string(sm_str_t *s, void *data)
{
    sm_stats_block_t *b = data;

    if (s->len) {
        memcpy(b->block + b->used, s->data, s->len);
    }

    s->data = (char *) b->used;
    b->used += s->len;
}


void
sm_stats_pack(void *block, const sm_stats_t *stats)
{
    sm_stats_t        *copy;
    sm_stats_block_t   b;

    copy = block;
    *copy = *stats;
    copy->targets = (sm_stats_target_t *) (copy + 1);
    copy->limits = NULL;
    copy->nlimits = 0;
    copy->history.data = NULL;
    copy->history.len = 0;
    copy->events = NULL;
    copy->nevents = 0;

    if (stats->n) {
        memcpy(copy->targets, stats->targets,
               stats->n * sizeof(sm_stats_target_t));
    }

    b.block = block;
    b.used = sizeof(sm_stats_t) + stats->n * sizeof(sm_stats_target_t);

    sm_stats_all_strings(copy, sm_stats_put_string, &b);
}


static void
sm_stats_get_string(sm_str_t *s, void *data)
{
    s->data = (char *) data + (size_t) s->data;
}


sm_stats_t *
sm_stats_open(void *block)
{
    sm_stats_t *stats = block;

    stats->targets = (sm_stats_target_t *) (stats + 1);

    sm_stats_all_strings(stats, sm_stats_get_string, block);

    return stats;
}
