/* refused: thread */
/* as: src/module/a.c */

static const ngx_http_submission_op_t  ops[] = {

    ngx_http_submission_op_api(NOTES, "notes",
        sm_notes_row_t, ngx_http_submission_notes_call,
        .reply = ngx_http_submission_notes_reply)
};
