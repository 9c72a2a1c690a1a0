// A disk that fails on command, for a whole program as it is shipped.
//
// The file that FAULTY_DISK names says how: `full`, `io`, `readonly`, `slow N` (each sync takes N milliseconds
// longer), or nothing at all. It holds for files whose name contains "/state.db".
#define _GNU_SOURCE
#include "faulty_disk.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static void fault(char *text, size_t size) {
    text[0] = 0;
    const char *path = getenv("FAULTY_DISK");
    if (!path) return;
    int descriptor = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
    if (descriptor < 0) return;
    ssize_t count = syscall(SYS_read, descriptor, text, size - 1);
    syscall(SYS_close, descriptor);
    text[count > 0 ? count : 0] = 0;
}

static int is_database(int descriptor) {
    char link[64], name[512];
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t count = readlink(link, name, sizeof name - 1);
    if (count <= 0) return 0;
    name[count] = 0;
    return strstr(name, "/state.db") != NULL;
}

// 0: go on; otherwise the error of a write.
static int write_error(int descriptor) {
    int saved = errno, error = 0;
    if (is_database(descriptor)) {
        char text[64];
        fault(text, sizeof text);
        if (!strncmp(text, "full", 4)) error = ENOSPC;
        if (!strncmp(text, "io", 2)) error = EIO;
        if (!strncmp(text, "readonly", 8)) error = EROFS;
    }
    errno = error ? error : saved;
    return error;
}

// 0: go on; otherwise the error of a sync.
static int sync_error(int descriptor) {
    if (!is_database(descriptor)) return 0;
    char text[64];
    fault(text, sizeof text);
    if (!strncmp(text, "slow ", 5)) {
        long milliseconds = strtol(text + 5, NULL, 10);
        struct timespec delay = {milliseconds / 1000, milliseconds % 1000 * 1000000};
        nanosleep(&delay, NULL);
    }
    if (!strncmp(text, "io", 2)) {
        errno = EIO;
        return EIO;
    }
    return 0;
}

ssize_t pwrite64(int descriptor, const void *bytes, size_t count, off64_t offset) {
    return write_error(descriptor) ? -1 : syscall(SYS_pwrite64, descriptor, bytes, count, offset);
}

ssize_t pwrite(int descriptor, const void *bytes, size_t count, off_t offset) {
    return pwrite64(descriptor, bytes, count, offset);
}

int ftruncate64(int descriptor, off64_t size) {
    return write_error(descriptor) ? -1 : (int)syscall(SYS_ftruncate, descriptor, size);
}

int ftruncate(int descriptor, off_t size) { return ftruncate64(descriptor, size); }

int fdatasync(int descriptor) { return sync_error(descriptor) ? -1 : (int)syscall(SYS_fdatasync, descriptor); }

int fsync(int descriptor) { return sync_error(descriptor) ? -1 : (int)syscall(SYS_fsync, descriptor); }

int open64(const char *path, int flags, ...) {
    mode_t mode = 0;
    if (flags & (O_CREAT | O_TMPFILE)) {
        va_list rest;
        va_start(rest, flags);
        mode = va_arg(rest, mode_t);
        va_end(rest);
    }
    if ((flags & (O_RDWR | O_WRONLY | O_CREAT)) && strstr(path, "/state.db")) {
        char text[64];
        fault(text, sizeof text);
        if (!strncmp(text, "readonly", 8)) {
            errno = EROFS;
            return -1;
        }
    }
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags | O_LARGEFILE, mode);
}

int open(const char *path, int flags, ...) {
    mode_t mode = 0;
    if (flags & (O_CREAT | O_TMPFILE)) {
        va_list rest;
        va_start(rest, flags);
        mode = va_arg(rest, mode_t);
        va_end(rest);
    }
    return open64(path, flags, mode);
}
