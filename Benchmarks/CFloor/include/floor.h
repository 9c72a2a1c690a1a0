#ifndef FLOOR_H
#define FLOOR_H
#include <stddef.h>
#include <stdint.h>

/// One HCI event of a corpus: where it stands, how long it is, who heard it and when.
struct floor_event {
    uint32_t offset;
    uint16_t length;
    uint8_t receiver;
    int64_t nanoseconds;
};

/// What a pass over the corpus found: proof that two readers did the same work.
struct floor_sum {
    uint64_t reports;
    uint64_t beacons;
    uint64_t checksum;
};

/// Reads every event and adds up the iBeacons in it.
struct floor_sum floor_read(const uint8_t *bytes, const struct floor_event *events, size_t count);

#endif
