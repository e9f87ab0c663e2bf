#include "core/host_fault.h"

#include <signal.h>
#include <string.h>
#include <ucontext.h>

#include "guest/memory.h"
#include "guest/signal.h"

/* Receiver of faults on this host thread. A signal handler gets no context from us, so this is a global. */
static _Thread_local struct host_fault *catcher;

static void on_host_fault(int signal, siginfo_t *info, void *context)
{
    const ucontext_t *u = context;
    if (host_signal_sent(signal, info))
        return;
    uint64_t addr = catcher ? (uint64_t)((const uint8_t *)info->si_addr - catcher->mem) : UINT64_MAX;
    if (addr >= GUEST_SPACE) {
        struct sigaction action = {.sa_handler = SIG_DFL};
        sigaction(signal, &action, NULL);
        return;
    }
    bool write = u->uc_mcontext.gregs[REG_ERR] & 2;
    catcher->trap = signal == SIGBUS ? TRAP_BUS : write ? TRAP_STORE_FAULT : TRAP_LOAD_FAULT;
    catcher->addr = addr;
    catcher->mxcsr = u->uc_mcontext.fpregs->mxcsr;
    siglongjmp(catcher->escape, 1);
}

void host_fault_catch(struct host_fault *f)
{
    catcher = f;
    if (f == NULL)
        return;
    struct sigaction action = {.sa_sigaction = on_host_fault, .sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK};
    sigemptyset(&action.sa_mask);
    sigaction(SIGSEGV, &action, NULL);
    sigaction(SIGBUS, &action, NULL);
}
