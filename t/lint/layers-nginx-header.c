/* refused: nginx */
/* as: src/store/a.c */

#include <ngx_config.h>
