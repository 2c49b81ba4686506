
/*
 * The executor's operations in SQLite.
 */

#include "sm_store_sqlite.h"
