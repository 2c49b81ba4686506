/* refused: first */
/* as: src/api/a.c */

#include <sys/random.h>

#include "ngx_http_submission_api.h"
