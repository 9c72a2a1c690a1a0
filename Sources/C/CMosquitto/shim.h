#pragma once
#include <mosquitto.h>
#include <mqtt_protocol.h>

// Of poll.h, which shows it only to those who define _GNU_SOURCE (and Swift's Glibc does not).
enum { poll_peer_closed = 0x2000 };

// dup3 is shown only with _GNU_SOURCE, and ioctl has variable arguments.
#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>
extern int dup3(int from, int to, int flags);
static inline int replace_descriptor(int from, int to) { return dup3(from, to, O_CLOEXEC); }
static inline int bytes_to_read(int descriptor) {
    int count = 0;
    return ioctl(descriptor, FIONREAD, &count) == 0 ? count : 0;
}
