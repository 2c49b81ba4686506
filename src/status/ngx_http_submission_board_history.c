
/*
 * The history of an instance that has just been started: that of the leader,
 * which adds it to one document a minute, by the minute.
 */

#include "ngx_http_submission_board.h"


/* Without a name it is the history of all targets. */

static void
ngx_http_submission_board_history_one(sm_out_t *out, const sm_series_t *series,
    sm_str_t name)
{
    sm_history_t  history;

    history.name = name;
    sm_history_sum(&history, series);
    sm_history_out(out, &history);
}


void
ngx_http_submission_board_history(ngx_http_submission_manager_t *manager,
    sm_arena_t *arena, sm_str_t *text)
{
    char                               *buf;
    sm_out_t                            out;
    ngx_str_node_t                     *named;
    ngx_rbtree_node_t                  *node;
    ngx_http_submission_board_shctx_t  *board;

    buf = sm_arena_alloc(arena, SM_HISTORY_MAX);
    if (buf == NULL) {
        return;
    }

    sm_out_init(&out, buf, SM_HISTORY_MAX - 1);
    sm_out_c(&out, "[");

    board = ngx_http_submission_board_lock(manager->conf);

    if (board->totals) {
        ngx_http_submission_board_history_one(&out, board->totals,
                                              sm_str_c(""));
    }

    if (board->series.root != board->series.sentinel) {
        for (node = ngx_rbtree_min(board->series.root, board->series.sentinel);
             node;
             node = ngx_rbtree_next(&board->series, node))
        {
            named = (ngx_str_node_t *) node;

            ngx_http_submission_board_history_one(&out,
                         &((ngx_http_submission_board_node_t *) node)->series,
                         ngx_http_submission_str(&named->str));
        }
    }

    ngx_http_submission_board_unlock(manager->conf);

    /* the last byte of the buffer is kept for it */

    out.end++;
    sm_out_c(&out, "]");

    text->data = out.start;
    text->len = out.last - out.start;
}


ngx_uint_t
ngx_http_submission_board_young(ngx_http_submission_manager_t *manager)
{
    ngx_uint_t                          young;
    ngx_http_submission_board_shctx_t  *board;

    board = ngx_http_submission_board_lock(manager->conf);
    young = !board->inherited;
    ngx_http_submission_board_unlock(manager->conf);

    return young;
}


void
ngx_http_submission_board_inherit(ngx_http_submission_manager_t *manager,
    const sm_history_t *histories, size_t n, int64_t at)
{
    size_t                              i;
    sm_series_t                        *series;
    ngx_http_submission_board_shctx_t  *board;

    if (ngx_http_submission_board_old(manager)) {
        return;
    }

    board = ngx_http_submission_board_write(manager->conf);

    for (i = 0; i < n && !board->inherited; i++) {
        series = histories[i].name.len
                 ? ngx_http_submission_board_target(manager->sh->board->pool,
                                                    board, histories[i].name)
                 : board->totals;

        if (series) {
            sm_history_inherit(series, &histories[i], at);
        }
    }

    board->inherited = 1;

    ngx_http_submission_board_unlock(manager->conf);

    ngx_log_debug1(NGX_LOG_DEBUG_HTTP, ngx_cycle->log, 0,
                   "submission: history of the leader targets:%uz", n);
}
