/* refused: below */
/* as: src/core/model/a.c */

#include "sm_queue.h"
