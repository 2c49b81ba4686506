/* refused: pure */
/* as: src/core/a.c */

#include <fcntl.h>


int  a(void);


int
a(void)
{
    return open("/etc/passwd", O_RDONLY);
}
