// getopt_long keeps its state in global variables, which strict concurrency rightly refuses to import.
// These functions are the same state behind calls; the command line is read once, by one thread.
#pragma once
#include <getopt.h>

static inline void getopt_restart(void) {
    optind = 0; // GNU: also forgets a half-read word
    opterr = 0; // the words for errors are ours
}
static inline int getopt_index(void) { return optind; }
static inline int getopt_option(void) { return optopt; }
static inline const char *getopt_argument(void) { return optarg; }
