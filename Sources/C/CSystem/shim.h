#pragma once

#include <malloc.h>
#include <sys/socket.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/timex.h>

// The header shows it to programs with GNU's extensions alone.
extern int accept4(int listening, struct sockaddr *peer, socklen_t *length, int flags);

// prctl has variable arguments, which Swift does not call.
static inline void name_this_thread(const char *name) { prctl(PR_SET_NAME, name, 0, 0, 0); }
