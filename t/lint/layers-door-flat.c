/* refused: door */
/* as: src/module/a.c */
/* with: src/task/ngx_http_submission_queue.h */

#include "ngx_http_submission_queue.h"
