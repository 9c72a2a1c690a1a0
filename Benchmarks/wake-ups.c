// What this machine takes to wake a thread, and the thread that woke it, each of which does nothing else but look at the
// clock for so many microseconds, in three turns: the p99 and the median in milliseconds. Latencies of a service whose
// threads wake each other are read against it.
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

enum { COUNT = 1000 };
static int question, answer;
static double work;

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1e3 + time.tv_nsec / 1e6;
}

static void look_at_the_clock(void) {
    for (double start = now(); now() - start < work;) {}
}

static void *echo(void *unused) {
    uint64_t value;
    while (read(question, &value, sizeof value) == sizeof value) {
        look_at_the_clock();
        if (write(answer, &value, sizeof value) < 0) break;
    }
    return unused;
}

static int compare(const void *one, const void *other) {
    double difference = *(const double *)one - *(const double *)other;
    return (difference > 0) - (difference < 0);
}

int main(int count, char **arguments) {
    if (count > 1) work = atof(arguments[1]) / 1e3;
    static double times[COUNT];
    uint64_t value = 1;
    pthread_t thread;
    question = eventfd(0, 0);
    answer = eventfd(0, 0);
    if (pthread_create(&thread, NULL, echo, NULL)) return 1;
    for (int turn = 0; turn < COUNT; turn++) {
        struct timespec pause = {0, 20000000};
        nanosleep(&pause, NULL);
        double start = now();
        look_at_the_clock();
        if (write(question, &value, sizeof value) < 0 || read(answer, &value, sizeof value) < 0) return 1;
        look_at_the_clock();
        times[turn] = now() - start;
    }
    qsort(times, COUNT, sizeof *times, compare);
    printf("%f %f\n", times[COUNT * 99 / 100], times[COUNT / 2]);
    return 0;
}
