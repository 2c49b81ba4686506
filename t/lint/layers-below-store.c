/* refused: below */
/* as: src/store/a.c */
/* with: src/task/ngx_http_submission_task.h */

#include "ngx_http_submission_task.h"
