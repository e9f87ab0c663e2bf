/* Faults of the program itself become signals that say what and where. */
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "check.h"

static volatile int fault_signal, fault_code;
static void *volatile fault_addr;
static volatile uintptr_t fault_pc;
static sigjmp_buf jump;

static void on_fault(int sig, siginfo_t *info, void *context)
{
    const ucontext_t *uc = context;
    fault_signal = sig;
    fault_code = info->si_code;
    fault_addr = info->si_addr;
    fault_pc = uc->uc_mcontext.__gregs[REG_PC];
    siglongjmp(jump, 1);
}

static void catch (int sig, void (*handler)(int, siginfo_t *, void *), int flags)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = handler;
    action.sa_flags = SA_SIGINFO | flags;
    sigaction(sig, &action, NULL);
}

#define FAULTS(statement)                                                                                              \
    do {                                                                                                               \
        fault_signal = 0;                                                                                              \
        if (sigsetjmp(jump, 1) == 0) {                                                                                 \
            statement;                                                                                                 \
        }                                                                                                              \
    } while (0)

static void memory_faults(void)
{
    volatile char *nowhere = (volatile char *)0x1234;
    FAULTS((void)*nowhere);
    CHECK(fault_signal == SIGSEGV && fault_code == SEGV_MAPERR && fault_addr == (void *)0x1234);
    FAULTS(*nowhere = 1);
    CHECK(fault_signal == SIGSEGV && fault_code == SEGV_MAPERR && fault_addr == (void *)0x1234);

    volatile char *page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    FAULTS(page[100] = 1);
    CHECK(fault_signal == SIGSEGV && fault_code == SEGV_ACCERR && fault_addr == page + 100);
    mprotect((void *)page, 4096, PROT_NONE);
    FAULTS((void)page[200]);
    CHECK(fault_signal == SIGSEGV && fault_code == SEGV_ACCERR && fault_addr == page + 200);
    munmap((void *)page, 4096);
    FAULTS((void)page[300]);
    CHECK(fault_signal == SIGSEGV && fault_code == SEGV_MAPERR && fault_addr == page + 300);

    /* A pointer beyond what user addresses can be. */
    volatile char *far = (volatile char *)0xffff800000000000;
    FAULTS((void)*far);
    CHECK(fault_signal == SIGSEGV);
}

static void jumps_to_bad_places(void)
{
    void (*nowhere)(void) = (void (*)(void))0x4320;
    FAULTS(nowhere());
    CHECK(fault_signal == SIGSEGV && fault_addr == (void *)0x4320 && fault_pc == 0x4320);
    void (*beyond)(void) = (void (*)(void))0xff000000000101ce; /* all bits of it count */
    FAULTS(beyond());
    CHECK(fault_signal == SIGSEGV && fault_pc == 0xff000000000101ce);
    static char data[64] __attribute__((aligned(64)));
    FAULTS(((void (*)(void))(uintptr_t)data)());
    CHECK(fault_signal == SIGSEGV && fault_code == SEGV_ACCERR && fault_addr == data);
}

static void bad_instructions(void)
{
    FAULTS(asm volatile(".word 0"));
    CHECK(fault_signal == SIGILL && (uintptr_t)fault_addr == fault_pc);
    FAULTS(asm volatile("ebreak"));
    CHECK(fault_signal == SIGTRAP);
}

static void a_file_that_is_too_short(void)
{
    char name[] = "/tmp/signal_fault.XXXXXX";
    int fd = mkstemp(name);
    unlink(name);
    CHECK(ftruncate(fd, 100) == 0);
    volatile char *page = mmap(NULL, 8192, PROT_READ, MAP_PRIVATE, fd, 0);
    CHECK(page[99] == 0);
    FAULTS((void)page[4096]);
    CHECK(fault_signal == SIGBUS && fault_code == BUS_ADRERR && fault_addr == page + 4096);
}

static volatile int skipped;

static void skip_instruction(int sig, siginfo_t *info, void *context)
{
    ucontext_t *uc = context;
    (void)sig, (void)info;
    skipped++;
    uc->uc_mcontext.__gregs[REG_PC] += 4;
    uc->uc_mcontext.__gregs[10] = 42; /* a0 */
}

static void a_handler_may_change_the_context(void)
{
    catch (SIGSEGV, skip_instruction, 0);
    register long a0 asm("a0") = 8;
    asm volatile(".option push\n.option norvc\nld a0, 0(a0)\n.option pop" : "+r"(a0) : : "memory");
    long value = a0;
    CHECK(skipped == 1 && value == 42);
    catch (SIGSEGV, on_fault, 0);
}

static int endless(volatile char *above, long n)
{
    volatile char room[4096];
    room[0] = above[0] + 1;
    return n == 0 ? room[0] : endless(room, n - 1) + room[0];
}

static void stack_overflow_is_caught_on_the_alternate_stack(void)
{
    static char alternate[65536];
    stack_t stack = {.ss_sp = alternate, .ss_size = sizeof alternate};
    char first = 0;
    CHECK(sigaltstack(&stack, NULL) == 0);
    catch (SIGSEGV, on_fault, SA_ONSTACK);
    FAULTS(endless(&first, 1L << 40));
    CHECK(fault_signal == SIGSEGV);
    catch (SIGSEGV, on_fault, 0);
}

/* The status of a child that does `what`. */
static int child_status(void (*what)(void))
{
    int status = 0;
    pid_t pid = fork();
    if (pid == 0) {
        what();
        _exit(77);
    }
    CHECK(waitpid(pid, &status, 0) == pid);
    return status;
}

static volatile int *volatile unmapped = (volatile int *)8;

static void fault_with_signal_blocked(void)
{
    sigset_t set;
    sigfillset(&set);
    sigprocmask(SIG_BLOCK, &set, NULL);
    *unmapped = 0;
}

static void fault_with_signal_ignored(void)
{
    signal(SIGSEGV, SIG_IGN);
    *unmapped = 0;
}

static void fault_by_default(void)
{
    signal(SIGILL, SIG_DFL);
    asm volatile(".word 0");
}

static void overflow_without_alternate_stack(void)
{
    char first = 0;
    stack_t none = {.ss_flags = SS_DISABLE};
    sigaltstack(&none, NULL);
    catch (SIGSEGV, on_fault, SA_ONSTACK);
    endless(&first, 1L << 40);
}

static void faults_kill(void)
{
    CHECK(child_status(fault_with_signal_blocked) == SIGSEGV);
    CHECK(child_status(fault_with_signal_ignored) == SIGSEGV);
    CHECK((child_status(fault_by_default) & 0x7f) == SIGILL);
    CHECK((child_status(overflow_without_alternate_stack) & 0x7f) == SIGSEGV);
    CHECK((child_status(abort) & 0x7f) == SIGABRT);
}

int main(void)
{
    static const int signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGTRAP};
    for (int i = 0; i < 4; i++)
        catch (signals[i], on_fault, 0);
    memory_faults();
    jumps_to_bad_places();
    bad_instructions();
    a_file_that_is_too_short();
    a_handler_may_change_the_context();
    stack_overflow_is_caught_on_the_alternate_stack();
    faults_kill();
    return check_result();
}
