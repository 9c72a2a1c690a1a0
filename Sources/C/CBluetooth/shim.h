#pragma once
#include <bluetooth/bluetooth.h>
#include <bluetooth/hci.h>
#include <bluetooth/hci_lib.h>
#include <linux/filter.h>

/* recvmmsg(2), which the C library declares only under _GNU_SOURCE, which Swift's import of it does not set. */
#include <sys/socket.h>
#include <time.h>
struct received_packet {
    struct msghdr header;
    unsigned int length;
};
static inline int receive_packets(int descriptor, struct received_packet *packets, unsigned int most) {
    extern int recvmmsg(int, struct received_packet *, unsigned int, int, struct timespec *);
    return recvmmsg(descriptor, packets, most, MSG_DONTWAIT, 0);
}
