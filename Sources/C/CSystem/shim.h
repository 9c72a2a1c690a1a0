#pragma once

#include <malloc.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/timex.h>

// prctl has variable arguments, which Swift does not call.
static inline void name_this_thread(const char *name) { prctl(PR_SET_NAME, name, 0, 0, 0); }
