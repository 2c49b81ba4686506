/* refused: once */
/* as: src/api/a.c */

static ngx_int_t
ngx_http_submission_view_not_modified(ngx_http_request_t *r)
{
    return NGX_OK;
}
