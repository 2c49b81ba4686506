
/*
 * Trees of nodes with names: the targets of the configuration, those of the
 * zone, and the histories of the board.
 */

#include "ngx_http_submission_tools.h"


ngx_str_node_t *
ngx_http_submission_named(ngx_rbtree_t *tree, sm_str_t name)
{
    ngx_str_t  str;

    str.data = (u_char *) name.data;
    str.len = name.len;

    return ngx_str_rbtree_lookup(tree, &str,
                                 ngx_crc32_long(str.data, str.len));
}


void
ngx_http_submission_named_insert(ngx_rbtree_t *tree, ngx_str_node_t *node,
    sm_str_t name)
{
    node->str.data = (u_char *) name.data;
    node->str.len = name.len;
    node->node.key = ngx_crc32_long(node->str.data, node->str.len);

    ngx_rbtree_insert(tree, &node->node);
}
