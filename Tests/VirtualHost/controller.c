/* A Bluetooth LE controller for the virtual host (transport.h says how it reaches the kernel): it answers what the kernel's start-up asks,
 * scans when told to, and puts on the air what its script says. Its log (standard error) is evidence.
 *
 *   controller [-x] [-d] [-v] [-u|-r] [-a ADDRESS] [SCRIPT|-]
 *     -x  a Bluetooth 5 controller: extended scanning, extended advertising reports, advertising sets
 *     -d  the duplicate filter compares the data too (default: address and event type only)
 *     -v  log every HCI command
 *     -a  the controller's own public address
 *     -l  FOLDER: linked with the other controllers of this folder: each hears what another one advertises, with -50 dBm
 *     -u  one that is not configured, -r  one that the kernel does not use (both with /dev/vhci only)
 *
 * The script has one command on a line; '#' starts a comment. Reports go out only while the host scans, and only in
 * the window of each scan interval.
 *   waitscan [MS]                     wait until the host scans; ends with status 3 if it does not in time
 *   waitoff [MS]                      wait until it does not
 *   sleep MS
 *   adv ADDRESS RSSI HEX [TYPE [ADDRESSTYPE]]     one report; TYPE 0 ADV_IND, 2 SCAN_IND, 3 NONCONN, 4 SCAN_RSP;
 *                                     ADDRESSTYPE 0 public, 1 random
 *   ibeacon ADDRESS RSSI UUID MAJOR MINOR POWER
 *   pack N                            the next N reports travel in one event
 *   beacon ID ADDRESS MS JITTER RSSI SIGMA UUID MAJOR MINOR POWER     start or replace a periodic iBeacon
 *   rssi ID RSSI | stop ID            change or stop it
 *   flood RATE SECONDS ADDRESSES [SIGMA]          iBeacons from ADDRESSES in turn, RATE each second
 *   hex H4PACKET                      raw bytes to the host: malformed events, other events
 *   deaf                              report nothing any more, answer commands, until HCI Reset
 *   hang                              answer nothing and report nothing, until HCI Reset
 *   refuse STATUS                     refuse to switch the scan on, with this status; 0: accept again
 *   stuck STATUS                      refuse to switch it off, with this status; 0: accept again
 *   mute 1|0                          do not answer the command that switches it on; answer again
 *   silent STATUS                     refuse to switch advertising on, with this status; 0: accept again
 *   stat                              log the counters
 *   quit [STATUS]
 * After the last line it goes on answering and advertising until SIGTERM.
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "transport.h"

enum { BEACONS = 1024, SEEN = 65536 };
#define SECOND 1000000000LL

enum family { NEITHER, LEGACY, EXTENDED };

static bool has_extended, has_sets, filter_compares_data, logs_commands;
static uint8_t own_address[6] = {0x42, 0x00, 0x00, 0x01, 0xaa, 0x00};

static struct {
    bool on, active, filter, deaf, hung;
    enum family family; /* which commands have been used since the last reset */
    int interval, window; /* 0.625 ms */
    int64_t since; /* when it was switched on */
} scan;

/* Orders that last, over resets too. */
static struct {
    int refusal, stuck, silent; /* HCI status; 0: none */
    int mute;
} fault;

static struct {
    unsigned long sent, filtered, unheard, commands, unknown, scans_on, scans_off, flooded, resets, refused, advertised;
} count;

static uint64_t seen[SEEN];

static struct beacon {
    bool on;
    uint8_t address[6], data[31];
    double interval, jitter, rssi, sigma; /* ms, ms, dBm, dB */
    int length;
    int64_t due;
} beacons[BEACONS];

static struct {
    double rate, sigma;
    int addresses, next;
    int64_t start, end;
    long done;
} flood;

static struct {
    uint8_t bytes[255];
    int length, reports, wanted;
} event;

/* What the host advertises: the one advertisement of legacy commands, or the sets by their handles. */
enum { SETS = 8, MOST_SETS = 5 };
static struct set {
    bool exists, on, is_legacy;
    uint8_t handle, address[6], data[251];
    bool has_address;
    int type; /* as in a legacy report: 0 ADV_IND, 2 SCAN_IND, 3 NONCONN */
    int address_type, length;
    double interval; /* ms */
    int64_t due, end; /* end 0: none */
    unsigned long sent;
} sets[SETS];
static uint8_t random_address[6];
static enum family advertising_family;

/* The other controllers: a datagram socket for each, in one folder. */
static int link_socket = -1;
static char link_folder[80], link_path[108];

/* The script waits for a time, or for the scan to be on (or off). */
static struct {
    int64_t until;
    enum { NOTHING, SCAN_ON, SCAN_OFF } state;
} hold;

static int64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * SECOND + t.tv_nsec;
}

static void say(const char *format, ...)
{
    va_list arguments;
    int64_t t = now();
    fprintf(stderr, "%lld.%06lld ", (long long)(t / SECOND), (long long)(t % SECOND / 1000));
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
}

static void die(int status, const char *what)
{
    say("%s: %s", what, strerror(errno));
    exit(status);
}

/* ---- towards the host ---- */

static void put_event(uint8_t code, const uint8_t *parameters, int length)
{
    uint8_t packet[260] = {PACKET_EVENT, code, length};
    memcpy(packet + 3, parameters, length);
    put(packet, length + 3);
}

static void command_complete(int opcode, const uint8_t *result, int length)
{
    uint8_t parameters[255] = {1, opcode, opcode >> 8};
    memcpy(parameters + 3, result, length);
    put_event(0x0e, parameters, length + 3);
}

/* ---- commands ---- */

static void scan_parameters(enum family family, const uint8_t *p)
{
    const uint8_t *q = family == EXTENDED ? p + 3 : p;
    scan.active = q[0];
    scan.interval = q[1] | q[2] << 8;
    scan.window = q[3] | q[4] << 8;
}

static void scan_enable(bool on, bool filter)
{
    scan.on = on;
    scan.filter = filter;
    if (on) {
        count.scans_on++;
        scan.since = now();
        memset(seen, 0, sizeof seen);
    } else {
        count.scans_off++;
    }
    say("scan %s filter=%d %s interval=%d window=%d duty=%d%%", on ? "on" : "off", filter,
        scan.active ? "active" : "passive", scan.interval, scan.window,
        scan.interval ? scan.window * 100 / scan.interval : 0);
}

/* Whether the script forbids this command. */
static bool misbehaves(int opcode, bool on)
{
    uint8_t status = on ? fault.refusal : fault.stuck;
    if (on && fault.mute) {
        say("does not answer: scan on");
        return true;
    }
    if (!status)
        return false;
    count.refused++;
    say("refuses with 0x%02x: scan %s", status, on ? "on" : "off");
    command_complete(opcode, &status, 1);
    return true;
}

static void scan_command(int opcode, const uint8_t *p)
{
    uint8_t status = 0;
    if (!(opcode & 1) && misbehaves(opcode, p[0]))
        return;
    enum family family = opcode >= 0x2041 ? EXTENDED : LEGACY;
    if (scan.family != NEITHER && scan.family != family) {
        /* Core Specification, Vol 4, Part E, 3.1.1: legacy and extended commands may not be mixed. */
        status = 0x0c;
        count.refused++;
        say("scan command 0x%04x disallowed: mixes legacy and extended", opcode);
    } else if (scan.on && opcode & 1) {
        /* 7.8.10, 7.8.64: not while scanning is enabled. */
        status = 0x0c;
        count.refused++;
        say("scan parameters disallowed: scanning");
    } else {
        scan.family = family;
        if (opcode & 1)
            scan_parameters(family, p);
        else
            scan_enable(p[0], p[1]);
    }
    command_complete(opcode, &status, 1);
}

/* ---- advertising ---- */

static struct set *set_of(int handle, bool makes)
{
    struct set *free_one = NULL;
    int count_of_sets = 0;
    for (struct set *s = sets; s < sets + SETS; s++) {
        if (s->exists && s->handle == handle)
            return s;
        count_of_sets += s->exists;
        if (!s->exists && !free_one)
            free_one = s;
    }
    if (!makes || !free_one || count_of_sets >= MOST_SETS)
        return NULL;
    *free_one = (struct set){.exists = true, .handle = handle};
    return free_one;
}

static void log_set(const struct set *s, const char *what)
{
    char hex[2 * 251 + 1] = "";
    for (int i = 0; i < s->length; i++)
        sprintf(hex + 2 * i, "%02x", s->data[i]);
    say("advertising %s handle=%d type=%d interval=%.1f address=%02X:%02X:%02X:%02X:%02X:%02X data=%s sent=%lu", what, s->handle,
        s->type, s->interval, s->address[5], s->address[4], s->address[3], s->address[2], s->address[1], s->address[0], hex,
        s->sent);
}

static void set_on(struct set *s, bool on, int duration)
{
    if (on && !s->on) {
        s->due = now();
        memcpy(s->address, s->address_type ? (s->has_address ? s->address : random_address) : own_address, 6);
    }
    if (on != s->on) {
        s->on = on;
        log_set(s, on ? "on" : "off");
    }
    s->end = on && duration ? now() + duration * 10 * SECOND / 1000 : 0;
}

/* The status of a command that switches advertising on or off. */
static uint8_t advertising_enable(bool on, int count_of_sets, const uint8_t *p)
{
    if (on && fault.silent) {
        count.refused++;
        say("refuses with 0x%02x: advertising on", fault.silent);
        return fault.silent;
    }
    if (!count_of_sets) {
        for (struct set *s = sets; s < sets + SETS; s++)
            if (s->exists)
                set_on(s, false, 0);
        return on ? 0x12 : 0;
    }
    struct set *s = set_of(p[0], false);
    if (!s)
        return 0x42; /* unknown advertising identifier */
    set_on(s, on, p[1] | p[2] << 8);
    return 0;
}

/* Core Specification, Vol 4, Part E, 7.8.52 to 7.8.60. */
static void extended_advertising(int opcode, const uint8_t *p)
{
    uint8_t r[8] = {0};
    struct set *s = set_of(p[0], opcode == 0x2036);
    switch (opcode) {
    case 0x2036: { /* parameters: handle, properties, intervals, channels, address type, peer, policy, power, PHYs */
        int properties = p[1] | p[2] << 8;
        if (!s) {
            r[0] = 0x07;
        } else if (s->on) {
            r[0] = 0x0c;
        } else {
            s->type = properties & 1 ? 0 : properties & 2 ? 2 : 3;
            s->interval = (p[3] | p[4] << 8 | p[5] << 16) * 0.625;
            s->address_type = p[10] & 1;
            r[1] = 7; /* dBm */
        }
        return command_complete(opcode, r, 2);
    }
    case 0x2035: /* random address */
        if (s) {
            memcpy(s->address, p + 1, 6);
            s->has_address = true;
        }
        r[0] = s ? 0 : 0x42;
        break;
    case 0x2037: /* data: handle, operation, fragment preference, length */
        if (s) {
            s->length = p[3];
            memcpy(s->data, p + 4, p[3]);
            if (s->on)
                log_set(s, "data");
        }
        r[0] = s ? 0 : 0x42;
        break;
    case 0x2038: r[0] = s ? 0 : 0x42; break;
    case 0x2039: r[0] = advertising_enable(p[0], p[1], p + 2); break;
    case 0x203a: r[1] = 251; return command_complete(opcode, r, 3);
    case 0x203b: r[1] = MOST_SETS; return command_complete(opcode, r, 2);
    case 0x203c: /* remove a set */
        r[0] = !s ? 0x42 : s->on ? 0x0c : 0;
        if (s && !s->on) {
            say("advertising set %d removed", s->handle);
            s->exists = false;
        }
        break;
    case 0x203d:
        for (struct set *each = sets; each < sets + SETS; each++)
            if (each->exists && each->on)
                r[0] = 0x0c;
        if (!r[0]) {
            say("advertising sets cleared");
            memset(sets, 0, sizeof sets);
        }
        break;
    }
    command_complete(opcode, r, 1);
}

/* 7.8.5 to 7.8.9. */
static void legacy_advertising(int opcode, const uint8_t *p)
{
    uint8_t status = 0;
    struct set *s = set_of(0, true);
    s->is_legacy = true;
    switch (opcode) {
    case 0x2006: /* intervals, type, address type */
        if (s->on) {
            status = 0x0c;
        } else {
            s->interval = ((p[0] | p[1] << 8) + (p[2] | p[3] << 8)) / 2 * 0.625;
            s->type = p[4];
            s->address_type = p[5] & 1;
        }
        break;
    case 0x2008:
        s->length = p[0] > 31 ? 31 : p[0];
        memcpy(s->data, p + 1, s->length);
        break;
    case 0x200a: {
        uint8_t parameters[3] = {0};
        status = advertising_enable(p[0], 1, parameters);
    }
    }
    command_complete(opcode, &status, 1);
}

static void advertising_command(int opcode, const uint8_t *p)
{
    uint8_t status = 0x0c;
    enum family family = opcode >= 0x2035 ? EXTENDED : LEGACY;
    if (advertising_family != NEITHER && advertising_family != family) {
        count.refused++;
        say("advertising command 0x%04x disallowed: mixes legacy and extended", opcode);
        return command_complete(opcode, &status, 1);
    }
    advertising_family = family;
    if (family == EXTENDED)
        extended_advertising(opcode, p);
    else
        legacy_advertising(opcode, p);
}

/* 7.8.4: not while legacy advertising or scanning is enabled. */
static void set_random_address(const uint8_t *p)
{
    uint8_t status = 0;
    for (struct set *s = sets; s < sets + SETS; s++)
        if (s->on && s->is_legacy)
            status = 0x0c;
    if (scan.on)
        status = 0x0c;
    if (status) {
        count.refused++;
        say("random address disallowed: %s", scan.on ? "scanning" : "advertising");
    } else {
        memcpy(random_address, p, 6);
    }
    command_complete(0x2005, &status, 1);
}

static void supported_commands(void)
{
    uint8_t r[65] = {0};
    r[1 + 0] = 0x20, r[1 + 5] = 0xc0, r[1 + 14] = 0x28, r[1 + 15] = 0x02;
    r[1 + 25] = 0xf7, r[1 + 26] = 0xff, r[1 + 27] = 0x83, r[1 + 28] = 0x08;
    if (has_extended)
        r[1 + 37] = 0x60;
    command_complete(0x1002, r, sizeof r);
}

static void reset(void)
{
    count.resets++;
    if (scan.deaf || scan.hung)
        say("reset ends %s", scan.hung ? "the hang" : "the deafness");
    else if (scan.on)
        say("reset ends the scan");
    for (struct set *s = sets; s < sets + SETS; s++)
        if (s->on)
            set_on(s, false, 0);
    memset(&scan, 0, sizeof scan);
    memset(sets, 0, sizeof sets);
    advertising_family = NEITHER;
}

static void command(int opcode, const uint8_t *p)
{
    uint8_t r[252] = {0};
    int version = has_extended ? 9 : 8;
    count.commands++;
    if (logs_commands)
        say("command 0x%04x", opcode);
    if (opcode == 0x0c03)
        reset();
    if (scan.hung)
        return;
    switch (opcode) {
    case 0x1001: { /* version */
        uint8_t v[] = {0, version, 0, 0, version, 0xf1, 0x05, 0, 0};
        return command_complete(opcode, v, sizeof v);
    }
    case 0x1002: return supported_commands();
    case 0x1003: r[1 + 4] = 0x60; return command_complete(opcode, r, 9); /* features: LE, no BR/EDR */
    case 0x1005: return command_complete(opcode, r, 8); /* no BR/EDR buffers */
    case 0x1009: memcpy(r + 1, own_address, 6); return command_complete(opcode, r, 7);
    case 0x0c14: return command_complete(opcode, r, 249); /* local name */
    case 0x2002: r[1] = 27, r[3] = 4; return command_complete(opcode, r, 4); /* LE buffers */
    case 0x2003: /* LE features: extended advertising */
        r[2] = has_sets ? 0x10 : 0;
        return command_complete(opcode, r, 9);
    case 0x2005: return set_random_address(p);
    case 0x2006: case 0x2008: case 0x200a: return advertising_command(opcode, p);
    case 0x2035: case 0x2036: case 0x2037: case 0x2038: case 0x2039: case 0x203a: case 0x203b: case 0x203c: case 0x203d:
        if (has_sets)
            return advertising_command(opcode, p);
        break;
    case 0x2007: return command_complete(opcode, r, 2); /* advertising power */
    case 0x200f: r[1] = 8; return command_complete(opcode, r, 2); /* accept list size */
    case 0x2018: /* random number */
        for (int i = 1; i < 9; i++)
            r[i] = rand();
        return command_complete(opcode, r, 9);
    case 0x201c: memset(r + 1, 0xff, 5); return command_complete(opcode, r, 9); /* supported states */
    case 0x200b: case 0x200c: return scan_command(opcode, p);
    case 0x2041: case 0x2042:
        if (has_extended)
            return scan_command(opcode, p);
        break;
    case 0x0c03: case 0x0c01: case 0x0c13: case 0x0c24: case 0x0c63: case 0x0c6d: case 0x2001:
    case 0x2009: case 0x2010: case 0x2011: case 0x2012:
        return command_complete(opcode, r, 1);
    }
    count.unknown++;
    say("unknown command 0x%04x", opcode);
    r[0] = 1;
    command_complete(opcode, r, 1);
}

/* ---- reports ---- */

static bool is_duplicate(const uint8_t *address, int type, const uint8_t *data, int length)
{
    uint64_t hash = 1469598103934665603ULL, prime = 1099511628211ULL;
    for (int i = 0; i < 6; i++)
        hash = (hash ^ address[i]) * prime;
    hash = (hash ^ type) * prime;
    for (int i = 0; filter_compares_data && i < length; i++)
        hash = (hash ^ data[i]) * prime;
    if (!hash)
        hash = 1;
    int slot = hash % SEEN;
    for (int probes = 0; seen[slot] && probes < SEEN; probes++, slot = (slot + 1) % SEEN)
        if (seen[slot] == hash)
            return true;
    seen[slot] = hash;
    return false;
}

static void append_report(const uint8_t *address, int address_type, int type, int rssi, const uint8_t *data, int length)
{
    static const uint8_t extended_type[] = {0x13, 0x15, 0x12, 0x10, 0x1b};
    uint8_t *p = event.bytes + event.length;
    if (scan.family == EXTENDED) {
        /* type, address, PHYs, set, TX power, RSSI, interval, direct address, length, data */
        uint8_t header[24] = {extended_type[type % 5], 0, address_type};
        memcpy(header + 3, address, 6);
        header[9] = 1, header[11] = 0xff, header[12] = 0x7f, header[13] = rssi, header[23] = length;
        memcpy(p, header, 24);
        memcpy(p + 24, data, length);
        event.length += 24 + length;
    } else {
        p[0] = type, p[1] = address_type, p[8] = length;
        memcpy(p + 2, address, 6);
        memcpy(p + 9, data, length);
        p[9 + length] = rssi;
        event.length += 10 + length;
    }
    event.bytes[1]++;
    event.reports++;
}

/* Whether an advertisement that begins now falls into the window. (A real controller changes the channel with each
 * interval, and an advertising event has a packet on each channel, so one of them is on the channel that it listens to.) */
static bool in_window(void)
{
    int64_t unit = 625000;
    return scan.window >= scan.interval || (now() - scan.since) % (scan.interval * unit) < scan.window * unit;
}

static void report(const uint8_t *address, int address_type, int type, int rssi, const uint8_t *data, int length)
{
    if (!scan.on || scan.deaf || scan.hung || !in_window()) {
        count.unheard++;
        return;
    }
    if (scan.filter && is_duplicate(address, type, data, length)) {
        count.filtered++;
        return;
    }
    if (!event.length) {
        event.bytes[0] = scan.family == EXTENDED ? 0x0d : 0x02;
        event.bytes[1] = 0;
        event.length = 2;
    }
    append_report(address, address_type, type, rssi, data, length);
    count.sent++;
    if (event.reports >= event.wanted || event.length > 180) {
        put_event(0x3e, event.bytes, event.length);
        memset(&event, 0, sizeof event);
    }
}

static double gauss(void)
{
    return sqrt(-2 * log(drand48() + 1e-12)) * cos(6.283185307 * drand48());
}

/* 127 goes through as it is: it says that there is no value. */
static int dBm(double value)
{
    return value == 127 ? 127 : value < -127 ? -127 : value > 20 ? 20 : (int)lrint(value);
}

static int unhex(const char *text, uint8_t *bytes, int room)
{
    int n = 0;
    unsigned value;
    for (; *text; text++) {
        if (!isxdigit((unsigned char)*text))
            continue;
        if (n >= room || sscanf(text, "%2x", &value) != 1)
            return -1;
        bytes[n++] = value;
        text++;
    }
    return n;
}

/* An address is written most significant octet first and sent least significant first. */
static bool read_address(const char *text, uint8_t *address)
{
    uint8_t octets[6];
    if (unhex(text, octets, 6) != 6)
        return false;
    for (int i = 0; i < 6; i++)
        address[i] = octets[5 - i];
    return true;
}

static int ibeacon(uint8_t *data, const char *uuid, int major, int minor, int power)
{
    memcpy(data, "\x02\x01\x06\x1a\xff\x4c\x00\x02\x15", 9);
    if (unhex(uuid, data + 9, 16) != 16)
        return -1;
    data[25] = major >> 8, data[26] = major, data[27] = minor >> 8, data[28] = minor, data[29] = power;
    return 30;
}

static void log_counters(void)
{
    say("stat sent=%lu filtered=%lu unheard=%lu commands=%lu unknown=%lu scans_on=%lu scans_off=%lu resets=%lu "
        "flooded=%ld refused=%lu advertised=%lu", count.sent, count.filtered, count.unheard, count.commands, count.unknown, count.scans_on,
        count.scans_off, count.resets, flood.done, count.refused, count.advertised);
}

/* ---- the script ---- */

static bool line_of_reports(const char *line)
{
    char address_text[32], uuid[64], text[600];
    uint8_t address[6], data[300];
    double rssi;
    int n, type = 0, address_type = 0, major, minor, power;
    if (sscanf(line, "adv %31s %lf %599s %d %d", address_text, &rssi, text, &type, &address_type) >= 3 &&
        read_address(address_text, address) && (n = unhex(text, data, has_extended ? 200 : 31)) >= 0) {
        report(address, address_type, type, dBm(rssi), data, n);
        return true;
    }
    if (sscanf(line, "ibeacon %31s %lf %63s %d %d %d", address_text, &rssi, uuid, &major, &minor, &power) == 6 &&
        read_address(address_text, address) && (n = ibeacon(data, uuid, major, minor, power)) > 0) {
        report(address, 1, 3, dBm(rssi), data, n);
        return true;
    }
    if (sscanf(line, "pack %d", &event.wanted) == 1)
        return true;
    if (!strncmp(line, "hex ", 4) && (n = unhex(line + 4, data, sizeof data)) > 0) {
        put(data, n);
        return true;
    }
    return false;
}

static bool line_of_beacons(const char *line)
{
    char address[32], uuid[64];
    int id, major, minor, power;
    double rssi, seconds;
    struct beacon b = {.on = true};
    if (sscanf(line, "beacon %d %31s %lf %lf %lf %lf %63s %d %d %d", &id, address, &b.interval, &b.jitter, &b.rssi,
               &b.sigma, uuid, &major, &minor, &power) == 10 &&
        id >= 0 && id < BEACONS && read_address(address, b.address) &&
        (b.length = ibeacon(b.data, uuid, major, minor, power)) > 0) {
        b.due = now() + b.interval * drand48() * 1e6;
        beacons[id] = b;
        return true;
    }
    if (sscanf(line, "rssi %d %lf", &id, &rssi) == 2 && id >= 0 && id < BEACONS) {
        beacons[id].rssi = rssi;
        return true;
    }
    if (sscanf(line, "stop %d", &id) == 1 && id >= 0 && id < BEACONS) {
        beacons[id].on = false;
        return true;
    }
    flood.sigma = 0;
    if (sscanf(line, "flood %lf %lf %d %lf", &flood.rate, &seconds, &flood.addresses, &flood.sigma) >= 3) {
        flood.start = now();
        flood.end = flood.start + seconds * SECOND;
        flood.done = flood.next = 0;
        return true;
    }
    return false;
}

static void run_line(char *line)
{
    char word[16];
    double ms = 30000;
    int status = 0;
    line[strcspn(line, "#\r\n")] = 0;
    if (sscanf(line, "%15s", word) != 1)
        return;
    if (!strcmp(word, "waitscan") || !strcmp(word, "waitoff")) {
        sscanf(line, "%*s %lf", &ms);
        hold.state = word[4] == 's' ? SCAN_ON : SCAN_OFF;
        hold.until = now() + ms * 1e6;
    } else if (sscanf(line, "sleep %lf", &ms) == 1) {
        hold.until = now() + ms * 1e6;
    } else if (sscanf(line, "refuse %i", &fault.refusal) == 1 || sscanf(line, "stuck %i", &fault.stuck) == 1 ||
               sscanf(line, "mute %i", &fault.mute) == 1 || sscanf(line, "silent %i", &fault.silent) == 1) {
        say("%s from here", line);
    } else if (!strcmp(word, "deaf")) {
        say("deaf from here");
        scan.deaf = true;
    } else if (!strcmp(word, "hang")) {
        say("hung from here");
        scan.hung = true;
    } else if (!strcmp(word, "stat")) {
        log_counters();
    } else if (!strcmp(word, "quit")) {
        sscanf(line, "quit %d", &status);
        log_counters();
        exit(status);
    } else if (!line_of_reports(line) && !line_of_beacons(line)) {
        say("bad script line: %s", line);
        exit(4);
    }
}

/* ---- time ---- */

/* Sends what is due of the flood; returns when the next is. */
static int64_t run_flood(int64_t t)
{
    while (true) {
        int64_t due = flood.start + (int64_t)(flood.done * (SECOND / flood.rate));
        if (due >= flood.end) {
            flood.rate = 0;
            return INT64_MAX;
        }
        if (due > t)
            return due;
        uint8_t address[6] = {flood.next, flood.next >> 8, flood.next >> 16, 0, 0, 0xc0}, data[31];
        ibeacon(data, "f7826da64fa24e988024bc5b71e0893e", flood.next >> 8, flood.next & 255, -59);
        report(address, 1, 3, dBm(-60 - flood.next % 30 + flood.sigma * gauss()), data, 30);
        flood.done++;
        count.flooded++;
        if (++flood.next >= flood.addresses)
            flood.next = 0;
    }
}

static int64_t run_beacons(int64_t t)
{
    int64_t next = INT64_MAX;
    for (struct beacon *b = beacons; b < beacons + BEACONS; b++) {
        if (!b->on)
            continue;
        if (b->due <= t) {
            report(b->address, 1, 3, dBm(b->rssi + b->sigma * gauss()), b->data, b->length);
            b->due += (b->interval + b->jitter * drand48()) * 1e6;
            if (b->due < t)
                b->due = t;
        }
        if (b->due < next)
            next = b->due;
    }
    return next;
}

/* One packet of an advertisement of the host, for the other controllers: address, its type, type, length, data. */
static void transmit(const struct set *s)
{
    uint8_t packet[260];
    char pattern[100];
    glob_t found;
    memcpy(packet, s->address, 6);
    packet[6] = s->address_type, packet[7] = s->type, packet[8] = s->length;
    memcpy(packet + 9, s->data, s->length);
    if (link_socket < 0)
        return;
    snprintf(pattern, sizeof pattern, "%s/*.air", link_folder);
    if (glob(pattern, 0, NULL, &found))
        return;
    for (size_t i = 0; i < found.gl_pathc; i++) {
        struct sockaddr_un to = {.sun_family = AF_UNIX};
        if (!strcmp(found.gl_pathv[i], link_path))
            continue;
        snprintf(to.sun_path, sizeof to.sun_path, "%s", found.gl_pathv[i]);
        sendto(link_socket, packet, 9 + s->length, MSG_DONTWAIT, (struct sockaddr *)&to, sizeof to);
    }
    globfree(&found);
}

static void hear_others(void)
{
    uint8_t packet[260];
    ssize_t n;
    while ((n = recv(link_socket, packet, sizeof packet, MSG_DONTWAIT)) >= 9)
        if (packet[8] == n - 9)
            report(packet, packet[6], packet[7], -50, packet + 9, packet[8]);
}

static void link_open(void)
{
    struct sockaddr_un own = {.sun_family = AF_UNIX};
    snprintf(link_path, sizeof link_path, "%s/%d.air", link_folder, getpid());
    snprintf(own.sun_path, sizeof own.sun_path, "%s", link_path);
    link_socket = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (link_socket < 0 || bind(link_socket, (struct sockaddr *)&own, sizeof own) < 0)
        die(2, link_path);
}

/* An extended advertisement whose duration is over ends by itself (7.7.65.18). */
static void terminate_set(struct set *s)
{
    uint8_t parameters[6] = {0x12, 0x3c, s->handle, 0, 0, 0};
    set_on(s, false, 0);
    put_event(0x3e, parameters, sizeof parameters);
}

static int64_t run_sets(int64_t t)
{
    int64_t next = INT64_MAX;
    for (struct set *s = sets; s < sets + SETS; s++) {
        if (!s->on || s->interval <= 0)
            continue;
        if (s->end && s->end <= t) {
            terminate_set(s);
            continue;
        }
        if (s->due <= t) {
            s->sent++;
            count.advertised++;
            if (!scan.deaf && !scan.hung)
                transmit(s);
            /* 4.4.2.2.1 of Vol 6, Part B: up to 10 ms of chance. */
            s->due += (s->interval + 10 * drand48()) * 1e6;
            if (s->due < t)
                s->due = t;
        }
        if (s->due < next)
            next = s->due;
        if (s->end && s->end < next)
            next = s->end;
    }
    return next;
}

static bool script_is_held(int64_t t)
{
    if ((hold.state == SCAN_ON && scan.on) || (hold.state == SCAN_OFF && !scan.on)) {
        hold.state = NOTHING;
        hold.until = 0;
    } else if (hold.state != NOTHING && t >= hold.until) {
        say("the scan was not switched %s in time", hold.state == SCAN_ON ? "on" : "off");
        exit(3);
    } else if (hold.state == NOTHING && t >= hold.until) {
        hold.until = 0;
    }
    return hold.until || flood.rate > 0;
}

static void on_signal(int signal)
{
    (void)signal;
    log_counters();
    unlink(link_path);
    _exit(0);
}

static void take(const uint8_t *packet, int length)
{
    if (length >= 4 && packet[0] == PACKET_COMMAND)
        command(packet[1] | packet[2] << 8, packet + 4);
    else if (length >= 4 && packet[0] == PACKET_VENDOR)
        say("controller hci%d", packet[2] | packet[3] << 8);
}

static int options(int argc, char **argv)
{
    int option;
    while ((option = getopt(argc, argv, "xdvura:l:")) != -1) {
        switch (option) {
        case 'x': has_extended = has_sets = true; break;
        case 'l': snprintf(link_folder, sizeof link_folder, "%s", optarg); break;
        case 'd': filter_compares_data = true; break;
        case 'v': logs_commands = true; break;
        case 'u': vhci_kind = VHCI_UNCONFIGURED; break;
        case 'r': vhci_kind = VHCI_RAW; break;
        case 'a':
            if (read_address(optarg, own_address))
                break;
            /* fall through */
        default: exit(4);
        }
    }
    if (optind >= argc)
        return -1;
    int script = strcmp(argv[optind], "-") ? open(argv[optind], O_RDWR) : 0;
    if (script < 0)
        die(4, argv[optind]);
    return script;
}

int main(int argc, char **argv)
{
    static char buffer[8192];
    size_t held = 0;
    int script = options(argc, argv);
    signal(SIGTERM, on_signal);
    signal(SIGINT, on_signal);
    setvbuf(stderr, NULL, _IOLBF, 0);
    if (*link_folder)
        link_open();
    host_open();
    while (true) {
        int64_t t = now(), next = t + 3600 * SECOND, due;
        if (flood.rate > 0 && (due = run_flood(t)) < next)
            next = due;
        if ((due = run_beacons(t)) < next)
            next = due;
        if ((due = run_sets(t)) < next)
            next = due;
        bool held_back = script_is_held(t);
        if (hold.until && hold.until < next)
            next = hold.until;
        char *newline = held && !held_back ? memchr(buffer, '\n', held) : NULL;
        if (newline) {
            size_t length = newline - buffer + 1;
            *newline = 0;
            run_line(buffer);
            memmove(buffer, buffer + length, held - length);
            held -= length;
            continue;
        }
        t = now();
        int64_t left = next > t ? next - t : 0;
        struct timespec timeout = {left / SECOND, left % SECOND};
        bool reads_script = script >= 0 && !held_back && held < sizeof buffer - 1;
        /* A negative descriptor is left out. */
        struct pollfd descriptors[] = {{host, POLLIN, 0}, {reads_script ? script : -1, POLLIN, 0}, {link_socket, POLLIN, 0}};
        if (ppoll(descriptors, 3, &timeout, NULL) <= 0)
            continue;
        if (descriptors[2].revents & POLLIN)
            hear_others();
        if (descriptors[0].revents & POLLIN)
            host_read(take);
        if (reads_script && descriptors[1].revents & (POLLIN | POLLHUP)) {
            ssize_t n = read(script, buffer + held, sizeof buffer - 1 - held);
            if (n > 0)
                held += n;
            else {
                buffer[held++] = '\n';
                script = -1;
            }
        }
    }
}
