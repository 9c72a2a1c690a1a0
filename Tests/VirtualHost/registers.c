/* Loaded into User Mode Linux (LD_PRELOAD) where the processor has AMX, whose registers make the state of a process larger than the 2,696
 * octets that Linux 6.1 has room for. The machine's kernel reads such a part of the state, but takes the whole alone, so process 1 would end at
 * once. Here the rest, which no program of the virtual host uses, stays as it is. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <elf.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/types.h>
#include <sys/uio.h>

static long (*machine)(enum __ptrace_request, ...);

__attribute__((constructor)) static void find(void)
{
    *(void **)&machine = dlsym(RTLD_NEXT, "ptrace");
}

long ptrace(enum __ptrace_request request, ...)
{
    /* User Mode Linux has one thread, and its stacks are small. */
    static uint8_t state[65536];
    va_list arguments;
    va_start(arguments, request);
    pid_t process = va_arg(arguments, pid_t);
    void *address = va_arg(arguments, void *), *data = va_arg(arguments, void *);
    va_end(arguments);
    if (request != PTRACE_SETREGSET || (uintptr_t)address != NT_X86_XSTATE)
        return machine(request, process, address, data);
    struct iovec *part = data, whole = {state, sizeof state};
    if (machine(PTRACE_GETREGSET, process, address, &whole) < 0)
        return -1;
    if (part->iov_len >= whole.iov_len)
        return machine(request, process, address, data);
    memcpy(state, part->iov_base, part->iov_len);
    return machine(request, process, address, &whole);
}
