
#include "ngx_http_submission.h"
