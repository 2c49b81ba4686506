/* refused: door */
/* as: src/task/a.c */

#include "sm_store_sql.h"
