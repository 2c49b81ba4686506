/* refused: pure */
/* as: src/core/a.c */

#include <time.h>


time_t  a(void);


time_t
a(void)
{
    return time(NULL);
}
