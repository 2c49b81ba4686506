/* refused: first */
/* as: src/api/a.c */

#include "sm_json.h"

#include "ngx_http_submission_api.h"
