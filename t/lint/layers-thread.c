/* refused: thread */
/* as: src/executor/a.c */

#include "ngx_http_submission_task.h"


/* a thread has no event loop: its timers belong to another thread */

void
ngx_http_submission_a_thread(ngx_http_submission_task_t *task)
{
    ngx_http_submission_count(task->manager, 0, 1);
    ngx_add_timer(&task->thread.event, 1);
}
