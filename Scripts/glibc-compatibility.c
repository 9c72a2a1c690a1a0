/*
 * The Swift libraries of Debian unstable are compiled against a newer C library than Debian 12 has (2.36). These are the
 * functions that they want of it and that came with glibc 2.38. The newer strtol and sscanf differ in one point only: they
 * read binary numbers with the prefix 0b, for base 0, base 2 and %i.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

long __isoc23_strtol(const char *text, char **end, int base);
unsigned long __isoc23_strtoul(const char *text, char **end, int base);
long long __isoc23_strtoll(const char *text, char **end, int base);
unsigned long long __isoc23_strtoull(const char *text, char **end, int base);
int __isoc23_sscanf(const char *text, const char *format, ...);
size_t strlcpy(char *target, const char *source, size_t size);

long __isoc23_strtol(const char *text, char **end, int base) { return strtol(text, end, base); }

unsigned long __isoc23_strtoul(const char *text, char **end, int base) { return strtoul(text, end, base); }

long long __isoc23_strtoll(const char *text, char **end, int base) { return strtoll(text, end, base); }

unsigned long long __isoc23_strtoull(const char *text, char **end, int base) { return strtoull(text, end, base); }

int __isoc23_sscanf(const char *text, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int count = vsscanf(text, format, arguments);
    va_end(arguments);
    return count;
}

/* POSIX.1-2024: the length of `source`; the copy is cut to fit, and ends with a zero where there is room for one. */
size_t strlcpy(char *target, const char *source, size_t size) {
    size_t length = strlen(source);
    if (size != 0) {
        size_t copied = length < size ? length : size - 1;
        memcpy(target, source, copied);
        target[copied] = '\0';
    }
    return length;
}
