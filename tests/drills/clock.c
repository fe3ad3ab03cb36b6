/*
 * Preloaded by the drill of a clock that jumps: shifts the wall clock of Python programs by the seconds in the file that
 * REPLAY_DRILL_CLOCK names. The monotonic clock and sleeping stay as they are. Benchmark tools are left alone.
 *
 * libfaketime also intercepts clock_nanosleep, with which Python sleeps, so that a wait no longer takes its time.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static int (*real_clock_gettime)(clockid_t, struct timespec *);

__attribute__((constructor)) static void prepare(void) {
    real_clock_gettime = dlsym(RTLD_NEXT, "clock_gettime");
}

static long shift(void) {
    const char *path = getenv("REPLAY_DRILL_CLOCK");
    char text[32] = "";
    int saved = errno;
    long seconds = 0;

    if (path == NULL || strncmp(program_invocation_short_name, "python", 6) != 0)
        return 0;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file >= 0) {
        if (read(file, text, sizeof text - 1) > 0)
            seconds = strtol(text, NULL, 10);
        close(file);
    }
    errno = saved;
    return seconds;
}

int clock_gettime(clockid_t clock, struct timespec *now) {
    if (real_clock_gettime == NULL)
        prepare();
    int status = real_clock_gettime(clock, now);
    if (status == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
        now->tv_sec += shift();
    return status;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
    struct timespec exact;
    int status = clock_gettime(CLOCK_REALTIME, &exact);
    (void)zone;
    if (status == 0) {
        now->tv_sec = exact.tv_sec;
        now->tv_usec = exact.tv_nsec / 1000;
    }
    return status;
}

time_t time(time_t *where) {
    struct timespec exact;
    clock_gettime(CLOCK_REALTIME, &exact);
    if (where != NULL)
        *where = exact.tv_sec;
    return exact.tv_sec;
}
