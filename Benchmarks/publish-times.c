// Preloaded into the service by Benchmarks/service: notes when the library is asked to publish.
// One line for each message on standard output, which the service does not use: CLOCK_BOOTTIME in ns, topic.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

typedef int publish(void *, int *, const char *, int, const void *, int, bool, const void *);

int mosquitto_publish_v5(void *client, int *mid, const char *topic, int length, const void *payload, int qos,
                         bool retain, const void *properties) {
    struct timespec time;
    clock_gettime(CLOCK_BOOTTIME, &time);
    char line[400];
    int count = snprintf(line, sizeof line, "%lld %s\n", time.tv_sec * 1000000000LL + time.tv_nsec, topic);
    if (count > 0 && count < (int)sizeof line && write(1, line, (size_t)count) < 0) return 1;
    publish *next = (publish *)dlsym(RTLD_NEXT, "mosquitto_publish_v5");
    return next(client, mid, topic, length, payload, qos, retain, properties);
}
