#include "guest/process.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "guest/baton.h"
#include "guest/execve.h"
#include "guest/file_view.h"
#include "guest/files_priv.h"
#include "guest/fork.h"
#include "guest/futex.h"
#include "guest/memory_files.h"
#include "guest/overlay.h"
#include "guest/shm_folder.h"
#include "guest/syscalls/syscall.h"

char *const guest_environment[] = {"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=/nonexistent", "LC_ALL=C", NULL};

static void set_limits(struct process *p)
{
    for (int i = 0; i < RLIM_NLIMITS; i++)
        p->limits[i] = (struct rlimit){RLIM_INFINITY, RLIM_INFINITY};
    p->limits[RLIMIT_STACK].rlim_cur = p->config.stack_limit_bytes;
    p->limits[RLIMIT_NOFILE] = (struct rlimit){FD_PRIVATE, FD_PRIVATE};
    p->limits[RLIMIT_CORE].rlim_cur = 0;
    p->limits[RLIMIT_NPROC] = (struct rlimit){FAMILY_SIZE, FAMILY_SIZE};
    p->limits[RLIMIT_SIGPENDING] = (struct rlimit){SIGNAL_QUEUE_MAX, SIGNAL_QUEUE_MAX};
    p->limits[RLIMIT_NICE] = p->limits[RLIMIT_RTPRIO] = (struct rlimit){0, 0};
    p->limits[RLIMIT_MEMLOCK] = (struct rlimit){8 << 20, 8 << 20};
}

static int add_strings(struct string_list *list, char *const *strings, struct error *err)
{
    for (; strings && *strings; strings++)
        if (string_list_add(list, *strings) < 0)
            return error_set(err, -ENOMEM, "out of memory");
    return 0;
}

static int load_program(struct process *p, struct error *err)
{
    struct exec_plan plan;
    char path[PATH_MAX];
    exec_plan_init(&plan);
    int result = p->config.argv && p->config.argv[0] ? 0 : error_set(err, -EINVAL, "no program was given");
    if (result == 0)
        result = add_strings(&plan.argv, p->config.argv, err);
    if (result == 0)
        result = add_strings(&plan.envp, p->config.envp, err);
    if (result == 0)
        result = exec_search(&plan, p, p->config.argv[0], path, err);
    if (result == 0)
        result = exec_prepare(&plan, p, path, err);
    if (result == 0)
        result = exec_commit(&plan, p->threads, err);
    exec_plan_free(&plan);
    return result;
}

/* Creates the parts of a process that do not depend on the program. */
static int build(struct process *p, struct error *err)
{
    p->family = family_new(err);
    if (!p->family)
        return -ENOMEM;
    p->member = family_add(p->family, FAMILY_OUTSIDE);
    member_set_host(p->member, getpid());
    p->pid = p->member->guest_pid;
    p->ppid = FAMILY_OUTSIDE;
    p->views = views_new(err);
    if (!p->views)
        return -ENOMEM;
    p->files = files_new(&p->config, err);
    if (!p->files)
        return -EINVAL;
    files_attach(p->files, p);
    p->memory = guest_memory_new(p->config.memory_limit_bytes, err);
    if (!p->memory)
        return -ENOMEM;
    memory_files_limit(p);
    if (!thread_new(p, p->pid))
        return error_set(err, -ENOMEM, "out of memory");
    baton_join(p->family, p->member);
    baton_take(p);
    return 0;
}

struct process *process_new_empty(const struct process_config *config, struct error *err)
{
    struct process *p = calloc(1, sizeof *p);
    if (!p) {
        error_set(err, -ENOMEM, "out of memory");
        return NULL;
    }
    p->config = *config;
    p->marked = true;
    p->vfork_done_fd = -1;
    inherited_note(&p->inherited);
    random_seed(&p->random, config->seed);
    set_limits(p);
    timers_reset(p);
    if (build(p, err) == 0) {
        host_signal_start(p);
        return p;
    }
    process_free(p);
    return NULL;
}

struct process *process_new(const struct process_config *config, struct error *err)
{
    struct process *p = process_new_empty(config, err);
    if (p && load_program(p, err) == 0)
        return p;
    process_free(p);
    return NULL;
}

void process_free(struct process *p)
{
    if (!p)
        return;
    host_signal_stop();
    thread_free_others(p, NULL);
    signal_queue_clear(&p->pending);
    guest_memory_free(p->memory);
    overlay_end(p);
    files_free(p->files);
    views_free(p->views);
    family_free(p->family);
    free(p->cmdline);
    free(p->copy);
    free(p);
}

void process_abandon_children(struct process *p)
{
    for (struct member *m = NULL; (m = family_next(p->family, m)) != NULL;)
        if (m != p->member)
            (void)!member_signal(p->family, m, SIGKILL, NULL, NULL);
}

struct thread *process_next(struct process *p)
{
    return sched_next(p);
}

/* Sends SIGSEGV: SEGV_ACCERR if `addr` is mapped, else SEGV_MAPERR. */
static void fault(struct thread *t, uint64_t addr)
{
    guest_memory_assert_changed(t->process->memory);
    const struct guest_area *area = guest_area_at_or_above(t->process->memory, addr);
    signal_force(t, SIGSEGV, area && area->start <= addr ? SEGV_ACCERR : SEGV_MAPERR, addr);
}

/* Code that may be fetched, and cannot, lies behind the end of its file. */
static void fetch_fault(struct thread *t, uint64_t addr)
{
    if (guest_may_access(t->process->memory, addr, 1, PROT_EXEC))
        signal_force(t, SIGBUS, BUS_ADRERR, addr);
    else
        fault(t, addr);
}

void process_trap(struct process *p, struct thread *t)
{
    (void)p;
    const struct hart *h = &t->hart;
    sched_retired(t);
    switch (h->trap) {
    case TRAP_NONE: break;
    case TRAP_ECALL: syscall_dispatch(t); break;
    case TRAP_EBREAK: signal_force(t, SIGTRAP, TRAP_BRKPT, h->pc); break;
    case TRAP_ILLEGAL: signal_force(t, SIGILL, ILL_ILLOPC, h->pc); break;
    case TRAP_FETCH_FAULT: fetch_fault(t, h->trap_value); break;
    case TRAP_LOAD_FAULT:
    case TRAP_STORE_FAULT: fault(t, h->trap_value); break;
    case TRAP_MISALIGNED: signal_force(t, SIGBUS, BUS_ADRALN, h->trap_value); break;
    case TRAP_BUS: signal_force(t, SIGBUS, BUS_ADRERR, h->trap_value); break;
    }
}

void process_end(struct process *p, int code, int signal)
{
    if (p->ended)
        return;
    p->ended = true;
    p->exit_code = code;
    p->exit_signal = signal;
    for (struct thread *t = p->threads; t; t = t->next)
        if (!t->exited)
            futex_release_robust(t); /* other processes may wait for futexes in shared memory */
    p->member->insns = process_total_insns(p);
    vfork_release_parent(p, true);
    if (p->is_child)
        overlay_end(p);
    if (p->is_child)
        /* Close before the baton moves, so that readers of its pipes see the end at the same turn in every run. */
        close_range(0, FD_PRIVATE - 1, 0);
    if (p->files->shm)
        shm_folder_remove(p->files->shm);
    baton_end(p);
}

struct hart *thread_hart(struct thread *t)
{
    return &t->hart;
}

int process_status(const struct process *p)
{
    return p->exit_signal ? 128 + p->exit_signal : p->exit_code;
}

int process_signal(const struct process *p)
{
    return p->exit_signal;
}

int process_interruption(const struct process *p)
{
    return p->interruption || p->ended ? p->interruption : host_signal_interrupts();
}

bool process_loader_failed(const struct process *p)
{
    return p->loader_failed;
}

bool process_is_child(const struct process *p)
{
    return p->is_child;
}

bool process_is_marked(const struct process *p)
{
    return p->marked;
}

uint64_t process_retired_insns(const struct process *p)
{
    return p->retired_insns;
}

uint64_t process_total_insns(const struct process *p)
{
    return p->retired_insns + p->children_insns;
}

struct guest_memory *process_memory(struct process *p)
{
    return p->memory;
}

uint64_t process_fingerprint(const struct process *p)
{
    uint64_t hash = p->retired_insns;
    for (const struct thread *t = p->threads; t; t = t->next) {
        hash = (hash ^ t->hart.pc) * UINT64_C(0x9e3779b97f4a7c15);
        for (unsigned i = 0; i < 32; i++) {
            hash = (hash ^ (hash >> 29) ^ t->hart.x[i]) * UINT64_C(0xbf58476d1ce4e5b9);
            hash = (hash ^ (hash >> 32) ^ t->hart.f[i]) * UINT64_C(0x94d049bb133111eb);
        }
    }
    return hash | 1;
}

const struct process_config *process_configuration(const struct process *p)
{
    return &p->config;
}

const char *process_arguments(const struct process *p, size_t *bytes)
{
    *bytes = p->cmdline_bytes;
    return p->cmdline;
}

size_t process_copy_arguments(const struct process *p, char to[ARGUMENTS_KEPT])
{
    size_t bytes = p->cmdline_bytes;
    while (bytes > ARGUMENTS_KEPT)
        for (bytes--; bytes > 0 && p->cmdline[bytes - 1] != '\0';)
            bytes--;
    if (bytes > 0)
        memcpy(to, p->cmdline, bytes);
    return bytes;
}

const char *process_program(const struct process *p)
{
    return p->exe;
}
