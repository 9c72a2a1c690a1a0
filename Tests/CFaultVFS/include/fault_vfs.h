#pragma once

#include <stdint.h>

// A layer over SQLite's file access that breaks on command. Each test registers its own, by name,
// for one connection at a time.
typedef struct fault_vfs fault_vfs;

enum {
    FAULT_NONE = 0,
    FAULT_FULL = 1,       // writes find no room
    FAULT_IO = 2,         // writes and syncs fail
    FAULT_READ_ONLY = 3,  // writes are not allowed
    FAULT_SYNC = 4,       // syncs fail
};

fault_vfs *fault_vfs_register(const char *name);
void fault_vfs_unregister(fault_vfs *vfs);

void fault_vfs_set_fault(fault_vfs *vfs, int fault);
// From now on the byte at this offset of this file cannot be read, whatever name the file gets. NULL: all can be.
void fault_vfs_set_bad_sector(fault_vfs *vfs, const char *path, int64_t offset);
// From now on no sync returns before this is called with 0. After half a minute it is as if it had been.
void fault_vfs_hold_syncs(fault_vfs *vfs, int holds);
// How many syncs do not return at this moment.
int fault_vfs_held(const fault_vfs *vfs);
// At the nth write, truncation or sync from now on the power goes: what was not synced is lost, wholly
// or in part as `seed` decides, and nothing works from then on. 0: never.
void fault_vfs_cut_power_at(fault_vfs *vfs, uint64_t operation, uint32_t seed);

int fault_vfs_is_dead(const fault_vfs *vfs);
uint64_t fault_vfs_operations(const fault_vfs *vfs);
uint64_t fault_vfs_syncs(const fault_vfs *vfs);
uint64_t fault_vfs_bytes_written(const fault_vfs *vfs);
