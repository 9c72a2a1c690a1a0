#include "fault_vfs.h"

#include <sqlite3.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

// One write since the last sync: enough to undo it, and to do it again.
typedef struct write_record {
    struct write_record *previous;
    struct write_record *next;
    sqlite3_int64 offset;
    sqlite3_int64 old_size;
    int length;
    int is_truncation;
    int old_length;
    unsigned char *old_bytes;
    unsigned char *new_bytes;
} write_record;

typedef struct fault_file {
    sqlite3_file base;
    fault_vfs *vfs;
    struct fault_file *next;
    write_record *first;
    write_record *last;
    sqlite3_file *real;
    uint64_t inode;
} fault_file;

struct fault_vfs {
    sqlite3_vfs base;
    sqlite3_vfs *real;
    char name[64];
    fault_file *files;
    _Atomic int fault;
    _Atomic int holds_syncs;
    _Atomic int held;
    _Atomic int dead;
    _Atomic uint64_t operations;
    _Atomic uint64_t syncs;
    _Atomic uint64_t bytes;
    _Atomic uint64_t cut_at;
    _Atomic uint64_t bad_inode;
    _Atomic int64_t bad_offset;
    _Atomic uint32_t seed;
};

static sqlite3_file *real_of(sqlite3_file *file) { return ((fault_file *)file)->real; }
static fault_vfs *vfs_of(sqlite3_file *file) { return ((fault_file *)file)->vfs; }

static void forget(fault_file *file) {
    while (file->first) {
        write_record *record = file->first;
        file->first = record->next;
        free(record->old_bytes);
        free(record->new_bytes);
        free(record);
    }
    file->last = NULL;
}

static uint32_t draw(fault_vfs *vfs) {
    uint32_t x = vfs->seed ? vfs->seed : 1;
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    vfs->seed = x;
    return x;
}

static void remember(fault_file *file, const void *bytes, int length, sqlite3_int64 offset, int is_truncation) {
    write_record *record = calloc(1, sizeof *record);
    if (!record) abort();
    file->real->pMethods->xFileSize(file->real, &record->old_size);
    record->offset = offset;
    record->length = length;
    record->is_truncation = is_truncation;
    sqlite3_int64 old = record->old_size - offset;
    if (!is_truncation && old > length) old = length;
    if (old > 0) {
        record->old_bytes = malloc((size_t)old);
        if (!record->old_bytes) abort();
        record->old_length = (int)old;
        file->real->pMethods->xRead(file->real, record->old_bytes, (int)old, offset);
    }
    if (length > 0) {
        record->new_bytes = malloc((size_t)length);
        if (!record->new_bytes) abort();
        memcpy(record->new_bytes, bytes, (size_t)length);
    }
    record->previous = file->last;
    if (file->last) file->last->next = record;
    else file->first = record;
    file->last = record;
}

// Takes everything back to the last sync, then does again what the card may have managed.
static void lose_unsynced(fault_file *file) {
    const sqlite3_io_methods *methods = file->real->pMethods;
    for (write_record *record = file->last; record; record = record->previous) {
        if (record->old_length > 0) methods->xWrite(file->real, record->old_bytes, record->old_length, record->offset);
        methods->xTruncate(file->real, record->old_size);
    }
    for (write_record *record = file->first; record; record = record->next) {
        uint32_t luck = draw(file->vfs) % 4;
        if (luck == 0) continue;
        if (record->is_truncation) {
            methods->xTruncate(file->real, record->offset);
            continue;
        }
        int length = record->length;
        if (luck == 1) length = (int)(draw(file->vfs) % (uint32_t)(length + 1));
        if (length > 0) methods->xWrite(file->real, record->new_bytes, length, record->offset);
    }
    forget(file);
}

// Counts an operation that changes a file; not 0 if it must not happen.
static int begin(fault_vfs *vfs) {
    if (vfs->dead) return SQLITE_IOERR;
    uint64_t operation = ++vfs->operations;
    if (vfs->cut_at == 0 || operation < vfs->cut_at) return SQLITE_OK;
    vfs->dead = 1;
    for (fault_file *file = vfs->files; file; file = file->next) lose_unsynced(file);
    return SQLITE_IOERR;
}

static int file_close(sqlite3_file *file) {
    fault_file *self = (fault_file *)file;
    for (fault_file **link = &self->vfs->files; *link; link = &(*link)->next) {
        if (*link != self) continue;
        *link = self->next;
        break;
    }
    forget(self);
    int code = self->real->pMethods ? self->real->pMethods->xClose(self->real) : SQLITE_OK;
    free(self->real);
    return code;
}

static int file_read(sqlite3_file *file, void *bytes, int length, sqlite3_int64 offset) {
    fault_vfs *vfs = vfs_of(file);
    if (vfs->dead) return SQLITE_IOERR_READ;
    // What SQLite's layer makes of EIO.
    if (vfs->bad_inode && ((fault_file *)file)->inode == vfs->bad_inode && offset <= vfs->bad_offset
        && vfs->bad_offset < offset + length)
        return SQLITE_IOERR_CORRUPTFS;
    return real_of(file)->pMethods->xRead(real_of(file), bytes, length, offset);
}

static int file_write(sqlite3_file *file, const void *bytes, int length, sqlite3_int64 offset) {
    fault_vfs *vfs = vfs_of(file);
    if (begin(vfs) != SQLITE_OK) return SQLITE_IOERR_WRITE;
    switch (vfs->fault) {
    case FAULT_FULL: return SQLITE_FULL;
    case FAULT_IO: return SQLITE_IOERR_WRITE;
    case FAULT_READ_ONLY: return SQLITE_READONLY;
    default: break;
    }
    if (vfs->cut_at) remember((fault_file *)file, bytes, length, offset, 0);
    vfs->bytes += (uint64_t)length;
    return real_of(file)->pMethods->xWrite(real_of(file), bytes, length, offset);
}

static int file_truncate(sqlite3_file *file, sqlite3_int64 size) {
    fault_vfs *vfs = vfs_of(file);
    if (begin(vfs) != SQLITE_OK) return SQLITE_IOERR_TRUNCATE;
    if (vfs->fault == FAULT_IO || vfs->fault == FAULT_READ_ONLY) return SQLITE_IOERR_TRUNCATE;
    if (vfs->cut_at) remember((fault_file *)file, NULL, 0, size, 1);
    return real_of(file)->pMethods->xTruncate(real_of(file), size);
}

static int file_sync(sqlite3_file *file, int flags) {
    fault_vfs *vfs = vfs_of(file);
    if (begin(vfs) != SQLITE_OK) return SQLITE_IOERR_FSYNC;
    if (vfs->fault == FAULT_IO || vfs->fault == FAULT_SYNC) return SQLITE_IOERR_FSYNC;
    if (vfs->holds_syncs) {
        // Not for ever: a caller that waits for the disk is to be seen, and not to hang.
        vfs->held += 1;
        struct timespec time = {0, 1000000};
        int left = 30000;
        while (vfs->holds_syncs && left > 0) {
            nanosleep(&time, NULL);
            left -= 1;
        }
        if (left == 0) vfs->holds_syncs = 0;
        vfs->held -= 1;
    }
    vfs->syncs += 1;
    forget((fault_file *)file);
    (void)flags;
    // The machine that runs the tests keeps its power: a real sync would only slow them.
    return SQLITE_OK;
}

static int file_size(sqlite3_file *file, sqlite3_int64 *size) {
    return real_of(file)->pMethods->xFileSize(real_of(file), size);
}
static int file_lock(sqlite3_file *file, int level) {
    return real_of(file)->pMethods->xLock(real_of(file), level);
}
static int file_unlock(sqlite3_file *file, int level) {
    return real_of(file)->pMethods->xUnlock(real_of(file), level);
}
static int file_check_lock(sqlite3_file *file, int *result) {
    return real_of(file)->pMethods->xCheckReservedLock(real_of(file), result);
}
static int file_control(sqlite3_file *file, int operation, void *argument) {
    return real_of(file)->pMethods->xFileControl(real_of(file), operation, argument);
}
static int file_sector_size(sqlite3_file *file) { return real_of(file)->pMethods->xSectorSize(real_of(file)); }
// No promise beyond what any disk keeps: the unix layer's "power-safe overwrite" is not assumed.
static int file_characteristics(sqlite3_file *file) {
    (void)file;
    return 0;
}
static int file_shm_map(sqlite3_file *file, int page, int size, int extend, void volatile **address) {
    return real_of(file)->pMethods->xShmMap(real_of(file), page, size, extend, address);
}
static int file_shm_lock(sqlite3_file *file, int offset, int count, int flags) {
    return real_of(file)->pMethods->xShmLock(real_of(file), offset, count, flags);
}
static void file_shm_barrier(sqlite3_file *file) { real_of(file)->pMethods->xShmBarrier(real_of(file)); }
static int file_shm_unmap(sqlite3_file *file, int delete) {
    return real_of(file)->pMethods->xShmUnmap(real_of(file), delete);
}

static const sqlite3_io_methods methods = {
    .iVersion = 2,
    .xClose = file_close,
    .xRead = file_read,
    .xWrite = file_write,
    .xTruncate = file_truncate,
    .xSync = file_sync,
    .xFileSize = file_size,
    .xLock = file_lock,
    .xUnlock = file_unlock,
    .xCheckReservedLock = file_check_lock,
    .xFileControl = file_control,
    .xSectorSize = file_sector_size,
    .xDeviceCharacteristics = file_characteristics,
    .xShmMap = file_shm_map,
    .xShmLock = file_shm_lock,
    .xShmBarrier = file_shm_barrier,
    .xShmUnmap = file_shm_unmap,
};

static int vfs_open(sqlite3_vfs *base, const char *name, sqlite3_file *file, int flags, int *out_flags) {
    fault_vfs *vfs = (fault_vfs *)base;
    fault_file *self = (fault_file *)file;
    memset(self, 0, sizeof *self);
    if (vfs->dead) return SQLITE_CANTOPEN;
    self->vfs = vfs;
    self->real = calloc(1, (size_t)vfs->real->szOsFile);
    if (!self->real) return SQLITE_NOMEM;
    int code = vfs->real->xOpen(vfs->real, name, self->real, flags, out_flags);
    if (code != SQLITE_OK) {
        free(self->real);
        return code;
    }
    struct stat status;
    if (name && stat(name, &status) == 0) self->inode = status.st_ino;
    self->base.pMethods = &methods;
    self->next = vfs->files;
    vfs->files = self;
    return SQLITE_OK;
}

static int vfs_delete(sqlite3_vfs *base, const char *name, int sync) {
    fault_vfs *vfs = (fault_vfs *)base;
    if (begin(vfs) != SQLITE_OK || vfs->fault == FAULT_READ_ONLY) return SQLITE_IOERR_DELETE;
    return vfs->real->xDelete(vfs->real, name, sync);
}

fault_vfs *fault_vfs_register(const char *name) {
    sqlite3_initialize();
    sqlite3_vfs *real = sqlite3_vfs_find(NULL);
    fault_vfs *vfs = calloc(1, sizeof *vfs);
    if (!real || !vfs) abort();
    // The functions that are not ours ask the real layer's own data, which does not know of us.
    vfs->base = *real;
    vfs->real = real;
    strncpy(vfs->name, name, sizeof vfs->name - 1);
    vfs->base.zName = vfs->name;
    vfs->base.pNext = NULL;
    vfs->base.szOsFile = (int)sizeof(fault_file);
    vfs->base.xOpen = vfs_open;
    vfs->base.xDelete = vfs_delete;
    sqlite3_vfs_register(&vfs->base, 0);
    return vfs;
}

void fault_vfs_unregister(fault_vfs *vfs) {
    sqlite3_vfs_unregister(&vfs->base);
    free(vfs);
}

void fault_vfs_set_fault(fault_vfs *vfs, int fault) { vfs->fault = fault; }
void fault_vfs_set_bad_sector(fault_vfs *vfs, const char *path, int64_t offset) {
    struct stat status;
    vfs->bad_offset = offset;
    vfs->bad_inode = path && stat(path, &status) == 0 ? status.st_ino : 0;
}
void fault_vfs_hold_syncs(fault_vfs *vfs, int holds) { vfs->holds_syncs = holds; }
int fault_vfs_held(const fault_vfs *vfs) { return vfs->held; }
void fault_vfs_cut_power_at(fault_vfs *vfs, uint64_t operation, uint32_t seed) {
    vfs->seed = seed;
    vfs->cut_at = operation ? vfs->operations + operation : 0;
}
int fault_vfs_is_dead(const fault_vfs *vfs) { return vfs->dead; }
uint64_t fault_vfs_operations(const fault_vfs *vfs) { return vfs->operations; }
uint64_t fault_vfs_syncs(const fault_vfs *vfs) { return vfs->syncs; }
uint64_t fault_vfs_bytes_written(const fault_vfs *vfs) { return vfs->bytes; }
