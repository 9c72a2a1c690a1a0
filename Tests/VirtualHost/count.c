/* The bare counter that our own ways are measured against: counts reports, does nothing else.
 *
 *   count raw ADAPTER SECONDS      listen on a raw HCI socket while another program scans
 *   count mgmt ADAPTER SECONDS     advertisement pattern monitor on the management socket
 *
 * Ends after that time or at SIGTERM. Prints reports, CPU milliseconds of this process, and what the socket dropped.
 */
#include <bluetooth/bluetooth.h>
#include <bluetooth/hci.h>
#include <bluetooth/hci_lib.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { CONTROL_CHANNEL = 3, MEMINFO_DROPS = 8, MEMINFO_COUNT = 9 };

static volatile sig_atomic_t is_ending;

static void on_signal(int signal)
{
    (void)signal;
    is_ending = 1;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static int open_channel(int channel, int adapter)
{
    struct sockaddr_hci address = {.hci_family = AF_BLUETOOTH, .hci_dev = adapter, .hci_channel = channel};
    int s = socket(AF_BLUETOOTH, SOCK_RAW | SOCK_CLOEXEC, BTPROTO_HCI);
    int room = 4 << 20;
    if (s < 0 || bind(s, (struct sockaddr *)&address, sizeof address)) {
        perror("HCI socket");
        exit(2);
    }
    setsockopt(s, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof room);
    return s;
}

int main(int argc, char **argv)
{
    if (argc < 4)
        return 64;
    int is_raw = !strcmp(argv[1], "raw"), adapter = atoi(argv[2]);
    int s = open_channel(is_raw ? 0 : CONTROL_CHANNEL, is_raw ? adapter : HCI_DEV_NONE);
    if (is_raw) {
        struct hci_filter filter;
        hci_filter_clear(&filter);
        hci_filter_set_ptype(HCI_EVENT_PKT, &filter);
        hci_filter_set_event(EVT_LE_META_EVENT, &filter);
        setsockopt(s, SOL_HCI, HCI_FILTER, &filter, sizeof filter);
    } else {
        uint8_t duty[] = {0x4c, 0, adapter, 0, 10, 0, 0x13, 0, 2, 0x60, 0, 0x14, 0, 2, 0x60, 0};
        uint8_t monitor[6 + 1 + 34] = {0x52, 0, adapter, 0, 35, 0, 1, 0xff, 0, 4, 0x4c, 0, 2, 0x15};
        if (write(s, duty, sizeof duty) < 0 || write(s, monitor, sizeof monitor) < 0)
            perror("write");
    }
    long reports = 0;
    puts("ready");
    fflush(stdout);
    signal(SIGTERM, on_signal);
    uint8_t b[2048];
    for (double end = now() + atof(argv[3]); now() < end && !is_ending;) {
        struct pollfd p = {s, POLLIN, 0};
        if (poll(&p, 1, 100) <= 0)
            continue;
        ssize_t n = read(s, b, sizeof b);
        if (is_raw)
            reports += n > 4 && b[1] == 0x3e && (b[3] == 0x02 || b[3] == 0x0d) ? b[4] : 0;
        else
            reports += n > 6 && (b[0] == 0x12 || b[0] == 0x2f) && b[1] == 0;
    }
    struct rusage usage;
    uint32_t memory[MEMINFO_COUNT] = {0};
    socklen_t length = sizeof memory;
    getrusage(RUSAGE_SELF, &usage);
    getsockopt(s, SOL_SOCKET, SO_MEMINFO, memory, &length);
    printf("count %s reports=%ld dropped=%u cpu_ms=%.1f\n", argv[1], reports, memory[MEMINFO_DROPS],
           usage.ru_utime.tv_sec * 1e3 + usage.ru_utime.tv_usec / 1e3 + usage.ru_stime.tv_sec * 1e3 +
               usage.ru_stime.tv_usec / 1e3);
    return 0;
}
