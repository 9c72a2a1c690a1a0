// A wall clock that can be set while a program runs, for that program alone.
//
// The file that FALSE_CLOCK names holds the seconds by which CLOCK_REALTIME is off. When it is written and closed, the
// program's timers with TFD_TIMER_CANCEL_ON_SET fire as they do when the kernel's clock is set.
#define _GNU_SOURCE
#include "false_clock.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

static time_t offset(void) {
    const char *path = getenv("FALSE_CLOCK");
    int descriptor = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (descriptor < 0) return 0;
    char text[32];
    ssize_t count = read(descriptor, text, sizeof text - 1);
    close(descriptor);
    text[count > 0 ? count : 0] = 0;
    return (time_t)strtoll(text, NULL, 10);
}

static int true_clock(clockid_t clock, struct timespec *result) {
    int (*next)(clockid_t, struct timespec *) = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    return next(clock, result);
}

int clock_gettime(clockid_t clock, struct timespec *result) {
    int outcome = true_clock(clock, result);
    if (outcome == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) result->tv_sec += offset();
    return outcome;
}

time_t time(time_t *result) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (result) *result = now.tv_sec;
    return now.tv_sec;
}

int gettimeofday(struct timeval *restrict result, void *restrict zone) {
    (void)zone;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    result->tv_sec = now.tv_sec;
    result->tv_usec = now.tv_nsec / 1000;
    return 0;
}

// What stands in for a timer on CLOCK_REALTIME, and the thread that makes it fire.
static int stand_in = -1;

static void *watch_file(void *unused) {
    (void)unused;
    int descriptor = inotify_init1(IN_CLOEXEC);
    inotify_add_watch(descriptor, getenv("FALSE_CLOCK"), IN_CLOSE_WRITE);
    char events[4096];
    while (read(descriptor, events, sizeof events) > 0) eventfd_write(stand_in, 1);
    return NULL;
}

int timerfd_create(clockid_t clock, int flags) {
    int (*next)(clockid_t, int) = (int (*)(clockid_t, int))dlsym(RTLD_NEXT, "timerfd_create");
    if (clock != CLOCK_REALTIME || !getenv("FALSE_CLOCK") || stand_in >= 0) return next(clock, flags);
    stand_in = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    // The program takes its signals on a thread of its own.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_t thread;
    if (pthread_create(&thread, NULL, watch_file, NULL) == 0) pthread_detach(thread);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return stand_in;
}

int timerfd_settime(int descriptor, int flags, const struct itimerspec *value, struct itimerspec *old) {
    int (*next)(int, int, const struct itimerspec *, struct itimerspec *) =
        (int (*)(int, int, const struct itimerspec *, struct itimerspec *))dlsym(RTLD_NEXT, "timerfd_settime");
    return descriptor == stand_in ? 0 : next(descriptor, flags, value, old);
}
