/* refused: sql */
/* as: src/task/a.c */

#include <libpq-fe.h>
