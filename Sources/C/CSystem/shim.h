#pragma once

#include <malloc.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/timex.h>

// accept4, which its header shows to programs with GNU's extensions alone. That header must not be included here: compiled without SwiftPM,
// as for fuzzing, its constants then belong to this module, and files that import Glibc alone do not find them.
extern int accept_connection(int listening, void *peer, unsigned int *length, int flags) __asm__("accept4");

// prctl has variable arguments, which Swift does not call.
static inline void name_this_thread(const char *name) { prctl(PR_SET_NAME, name, 0, 0, 0); }
