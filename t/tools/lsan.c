/*
 * Linked into the nginx that runs with sanitizers.
 *
 * An nginx that only tests a configuration, signals another, or does not start,
 * returns from main() without freeing a thing, and that is no leak. One that
 * has run leaves by exit(), and ngx_cycle is then the static ngx_exit_cycle:
 * only there leaks are looked for.
 */

extern void  *ngx_cycle;
extern char   __bss_start[], _end[];

int __lsan_is_turned_off(void);


int
__lsan_is_turned_off(void)
{
    return (char *) ngx_cycle < __bss_start || (char *) ngx_cycle >= _end;
}
