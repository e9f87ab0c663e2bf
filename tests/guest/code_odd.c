/* Addresses of code whose lowest bit is set: the kernel starts and continues a program with sret, which ignores it.
 * not for qemu: 7.2 raises SIGILL */
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "check.h"

enum { TIMES = 100 };

static volatile int calls;

static void set_lowest_bit_of_pc(int sig, siginfo_t *info, void *context)
{
    (void)sig, (void)info;
    calls++;
    ((ucontext_t *)context)->uc_mcontext.__gregs[REG_PC] |= 1;
}

static void jump_outside(int sig, siginfo_t *info, void *context)
{
    (void)sig, (void)info;
    ((ucontext_t *)context)->uc_mcontext.__gregs[REG_PC] = UINT64_MAX;
}

static void handle(uintptr_t handler)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    memcpy(&action.sa_sigaction, &handler, sizeof handler);
    action.sa_flags = SA_SIGINFO;
    CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
}

static void returns_from_a_handler(void)
{
    handle((uintptr_t)set_lowest_bit_of_pc);
    for (int i = 0; i < TIMES; i++)
        raise(SIGUSR1);
    CHECK(calls == TIMES);
}

static void handlers(void)
{
    handle((uintptr_t)set_lowest_bit_of_pc | 1);
    for (int i = 0; i < TIMES; i++)
        raise(SIGUSR1);
    CHECK(calls == 2 * TIMES);
}

static void the_last_address_is_outside_of_memory(void)
{
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        handle((uintptr_t)jump_outside);
        raise(SIGUSR1);
        _exit(0);
    }
    CHECK(waitpid(child, &status, 0) == child && WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
}

int main(void)
{
    returns_from_a_handler();
    handlers();
    the_last_address_is_outside_of_memory();
    return check_result();
}
