
/*
 * To be preloaded into nginx: threads that end linger in the clean-up of
 * libcrypto, and the process in its last exit handler.  A process that does not
 * wait for its threads cleans up beside them, and dies of it, every time.
 */

#define _GNU_SOURCE

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>


#define THREAD   200000
#define PROCESS  500000


static __thread int  leaving;


void
pthread_exit(void *value)
{
    void  (*next)(void *) __attribute__((noreturn));

    next = (__typeof__(next)) dlsym(RTLD_NEXT, "pthread_exit");

    leaving = 1;
    next(value);
}


int
pthread_rwlock_wrlock(pthread_rwlock_t *lock)
{
    int  (*next)(pthread_rwlock_t *);

    next = (__typeof__(next)) dlsym(RTLD_NEXT, "pthread_rwlock_wrlock");

    if (leaving) {
        usleep(THREAD);
    }

    return next(lock);
}


static void
linger(void)
{
    usleep(PROCESS);
}


/* exit handlers run in reverse: libcrypto's is registered later */

__attribute__((constructor)) static void
init(void)
{
    (void) atexit(linger);
}
