/* refused: below */
/* as: src/core/a.c */

#include "sm_store.h"
