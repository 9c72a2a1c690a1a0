// The yardstick: advertising reports taken apart and iBeacons recognised in plain C, with every length checked and
// nothing else. No counters of what is malformed, no joining of fragments, no table of formats.
#include "floor.h"
#include <string.h>

struct beacon {
    uint64_t high, low;
    uint16_t major, minor;
    int8_t power, rssi;
};

static uint64_t big64(const uint8_t *bytes) {
    uint64_t value;
    memcpy(&value, bytes, sizeof value);
    return __builtin_bswap64(value);
}

static int find_beacon(const uint8_t *data, size_t length, struct beacon *beacon) {
    static const uint8_t prefix[4] = {0x4c, 0x00, 0x02, 0x15};
    size_t offset = 0;
    while (offset + 1 < length) {
        size_t size = data[offset];
        if (size == 0 || offset + 1 + size > length) return 0;
        const uint8_t *content = data + offset + 2;
        if (size == 26 && data[offset + 1] == 0xff && memcmp(content, prefix, sizeof prefix) == 0) {
            beacon->high = big64(content + 4);
            beacon->low = big64(content + 12);
            beacon->major = (uint16_t)(content[20] << 8 | content[21]);
            beacon->minor = (uint16_t)(content[22] << 8 | content[23]);
            beacon->power = (int8_t)content[24];
            return 1;
        }
        offset += 1 + size;
    }
    return 0;
}

static void read_event(const uint8_t *event, size_t length, struct floor_sum *sum) {
    if (length < 4 || event[0] != 0x3e || length < (size_t)2 + event[1]) return;
    int extended = event[2] == 0x0d;
    if (!extended && event[2] != 0x02) return;
    size_t header = extended ? 24 : 9;
    size_t end = 2 + event[1];
    size_t offset = 4;
    for (unsigned number = event[3]; number > 0; number--) {
        if (offset + header > end) return;
        size_t data = offset + header;
        size_t next = data + event[data - 1] + (extended ? 0 : 1);
        if (next > end) return;
        struct beacon beacon;
        sum->reports++;
        if (find_beacon(event + data, event[data - 1], &beacon)) {
            beacon.rssi = (int8_t)(extended ? event[offset + 13] : event[next - 1]);
            sum->beacons++;
            sum->checksum += beacon.high ^ beacon.low ^ beacon.major ^ beacon.minor;
            sum->checksum += (uint64_t)(int64_t)(beacon.power + beacon.rssi);
        }
        offset = next;
    }
}

struct floor_sum floor_read(const uint8_t *bytes, const struct floor_event *events, size_t count) {
    struct floor_sum sum = {0, 0, 0};
    for (size_t index = 0; index < count; index++) {
        read_event(bytes + events[index].offset, events[index].length, &sum);
    }
    return sum;
}
