/* refused: thread */
/* as: src/executor/a.c */

#include "ngx_http_submission_task.h"


static void ngx_http_submission_a(ngx_http_submission_task_t *task);


/* what runs in a thread says so by its name */

void
ngx_http_submission_a_begin(ngx_http_submission_task_t *task)
{
    task->run = ngx_http_submission_a;
}
