#pragma once
#include <mosquitto.h>
#include <mqtt_protocol.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>

// Of poll.h, which shows it only to those who define _GNU_SOURCE (and Swift's Glibc does not).
enum { poll_peer_closed = 0x2000 };

// prctl has variable arguments, which Swift does not call.
static inline void name_this_thread(const char *name) { prctl(PR_SET_NAME, name, 0, 0, 0); }
