
/*
 * To be preloaded into nginx: kills the process in the middle of a write to
 * memory that is shared.  The file that SUBMISSION_KILLED names says how many
 * calls of memcpy() with a destination there are still carried out; half of the
 * next one is.  The file is removed then, so that one process dies of it.
 */

#define _GNU_SOURCE

#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>


#define MAPS  64


static char       file[4096];
static pid_t      pid;              /* of whom the rest is */
static int        left;             /* calls; -1: not told yet */
static int        nmaps;
static uintptr_t  maps[MAPS][2];


__attribute__((constructor)) static void
init(void)
{
    const char  *name;

    name = getenv("SUBMISSION_KILLED");
    snprintf(file, sizeof(file), "%s", name ? name : "");
}


/* nginx's zones are anonymous, shared mappings */

static void
find(void)
{
    char           line[512];
    FILE          *in;
    unsigned long  from, to;

    in = fopen("/proc/self/maps", "re");
    nmaps = 0;

    while (in && nmaps < MAPS && fgets(line, sizeof(line), in)) {
        if (strstr(line, " rw-s ") && strstr(line, "/dev/zero")
            && sscanf(line, "%lx-%lx", &from, &to) == 2)
        {
            maps[nmaps][0] = from;
            maps[nmaps++][1] = to;
        }
    }

    if (in) {
        fclose(in);
    }
}


static int
is_shared(uintptr_t p)
{
    int  i;

    for (i = 0; i < nmaps; i++) {
        if (p >= maps[i][0] && p < maps[i][1]) {
            return 1;
        }
    }

    return 0;
}


static int
is_last(const void *p)
{
    FILE  *in;

    if (file[0] == '\0' || gettid() != getpid()) {
        return 0;
    }

    if (pid != getpid()) {
        pid = getpid();
        left = -1;
        find();
    }

    if (!is_shared((uintptr_t) p)) {
        return 0;
    }

    if (left == -1) {
        in = fopen(file, "re");

        if (in == NULL) {
            return 0;
        }

        if (fscanf(in, "%d", &left) != 1) {
            left = -1;
        }

        fclose(in);

        return 0;
    }

    return left-- == 0 && unlink(file) == 0;
}


void *
memcpy(void *to, const void *from, size_t n)
{
    if (is_last(to)) {
        memmove(to, from, n / 2);
        kill(getpid(), SIGKILL);
    }

    return memmove(to, from, n);
}
