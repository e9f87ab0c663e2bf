#include "guest/state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "guest/state_priv.h"

/* Limits of values in a checkpoint. */
#define INSNS_MAX (INT64_C(1) << 61) /* instructions; sums of such values do not overflow */
enum {
    COMMAND_LINE_MAX = 64 << 20, /* bytes of /proc/self/cmdline */
    IDS_MAX = 1 << 30,           /* guest ids of processes and threads */
};

/* ---- checks whether the process can be saved: 0 or -ENOTSUP and a message */

static int check_family_saveable(struct process *p, struct error *err)
{
    for (const struct member *m = NULL; (m = family_next(p->family, m)) != NULL;) {
        if (m == p->member)
            continue;
        return m->state == MEMBER_ENDED
                   ? error_set(err, -ENOTSUP,
                               "the program cannot be saved now: its child %d has ended, but it has not "
                               "waited for it yet",
                               (int)m->guest_pid)
                   : error_set(err, -ENOTSUP, "the program cannot be saved now: its child %d still runs",
                               (int)m->guest_pid);
    }
    if (getpgrp() != p->family->outside_host_pgrp)
        return error_set(err, -ENOTSUP, "the program cannot be saved: it has left the process group that it began in");
    return 0;
}

static int check_saveable(struct process *p, struct error *err)
{
    if (p->is_child)
        return error_set(err, -ENOTSUP, "a process that the program forked cannot be saved alone");
    if (p->ended)
        return error_set(err, -ESRCH, "the program has ended: there is nothing left to save");
    if (p->config.host_time)
        return error_set(err, -ENOTSUP, "with --host-time a program cannot be saved: the host's clock goes on");
    for (unsigned i = 0; i < SEGMENTS_MAX; i++)
        if (p->segments.segment[i].id != 0)
            return error_set(err, -ENOTSUP, "the program cannot be saved: it has System V shared memory");
    if (ipc_in_use(p->family->ipc))
        return error_set(err, -ENOTSUP, "the program cannot be saved: it has System V semaphores or message queues");
    for (const struct thread *t = p->threads; t; t = t->next)
        if (t->opening_fd >= 0)
            return error_set(err, -ENOTSUP,
                             "the program cannot be saved now: it opens a pipe, whose other end is elsewhere");
    return check_family_saveable(p, err);
}

/* ---- fields */

static void timer_fields(struct process *p, struct fields *f)
{
    p->timers_armed = 0;
    for (int i = 0; i < TIMER_COUNT; i++) {
        struct timer *t = &p->timers[i];
        field_bool(f, &t->used);
        field_bool(f, &t->cpu);
        field_int(f, &t->clock);
        field_u64(f, &t->expires_ns);
        field_u64(f, &t->interval_ns);
        field_int(f, &t->notify);
        field_int(f, &t->signal);
        field_int(f, &t->tid);
        field_u64(f, &t->value);
        field_int(f, &t->overrun);
        field_int(f, &t->last_overrun);
        p->timers_armed += t->expires_ns != NEVER;
        bool silent = (!t->used && t->expires_ns == NEVER) || (i >= TIMER_POSIX && t->notify == SIGEV_NONE);
        fields_check(f, silent || (t->signal >= 1 && t->signal <= SIGNAL_MAX), "a timer has an impossible signal");
        fields_check(f, t->overrun >= 0 && t->last_overrun >= 0, "a timer has an impossible overrun");
        fields_check(f, time_is_possible(t->expires_ns) && time_is_possible(t->interval_ns),
                     "a timer has an impossible time");
    }
}

/* Loads actions before pending signals: signal_set_action removes a pending signal that becomes ignored. */
static void signal_fields(struct process *p, struct fields *f)
{
    for (int sig = 1; sig <= SIGNAL_MAX; sig++) {
        struct signal_action action = p->actions[sig];
        field_u64(f, &action.handler);
        field_u64(f, &action.flags);
        field_u64(f, &action.mask);
        bool fixed = sig == SIGKILL || sig == SIGSTOP;
        fields_check(f, !fixed || action.handler == 0, "SIGKILL or SIGSTOP has a handler");
        if (f->from && fields_good(f))
            signal_set_action(p, sig, &action);
    }
    field_u64(f, &p->trampoline);
    state_queue(f, &p->pending);
}

static void limit_fields(struct process *p, struct fields *f)
{
    for (int i = 0; i < RLIM_NLIMITS; i++) {
        uint64_t soft = p->limits[i].rlim_cur, hard = p->limits[i].rlim_max;
        field_u64(f, &soft);
        field_u64(f, &hard);
        p->limits[i] = (struct rlimit){soft, hard};
    }
    field_int(f, &p->nice);
    fields_check(f, p->nice >= -20 && p->nice < 20, "its priority is impossible");
    field_u32(f, &p->personality);
    field_bool(f, &p->marked);
    for (unsigned i = 0; i < sizeof p->missing_named / sizeof *p->missing_named; i++)
        field_u64(f, &p->missing_named[i]);
}

static void program_fields(struct process *p, struct fields *f)
{
    void *cmdline = p->cmdline;
    uint64_t bytes = p->cmdline_bytes;
    field_text(f, p->exe, sizeof p->exe);
    field_bool(f, &p->exe_absolute);
    field_block(f, &cmdline, &bytes, COMMAND_LINE_MAX);
    p->cmdline = cmdline;
    p->cmdline_bytes = bytes;
    field_u64(f, &p->env_start);
    field_u64(f, &p->env_end);
    field_u64(f, &p->loader_start);
    field_u64(f, &p->loader_end);
    field_bool(f, &p->loader_failed);
    fields_check(f, p->env_start <= p->env_end && p->env_end <= GUEST_SPACE,
                 "its environment has an impossible address");
}

static void clock_fields(struct process *p, struct fields *f)
{
    int next_id = p->family->next_id;
    field_u64(f, &p->random.state);
    field_u64(f, &p->retired_insns);
    field_u64(f, &p->offset_ns);
    field_u64(f, &p->children_insns);
    field_i64(f, &p->turn_insns);
    field_u64(f, &p->futex_sequence);
    field_int(f, &next_id);
    fields_check(f,
                 p->retired_insns <= INSNS_MAX && p->children_insns <= INSNS_MAX && p->offset_ns <= INT64_MAX &&
                     p->turn_insns >= -INSNS_MAX && p->turn_insns <= INSNS_MAX,
                 "its clock is impossible");
    if (fields_check(f, next_id > p->pid && next_id < IDS_MAX, "its next process id is impossible"))
        p->family->next_id = next_id;
}

static int process_fields(struct process *p, struct fields *f, struct error *err)
{
    clock_fields(p, f);
    program_fields(p, f);
    limit_fields(p, f);
    timer_fields(p, f);
    signal_fields(p, f);
    int code = state_overlay(p, f, err);
    if (code == 0 && fields_good(f))
        state_views(p, f); /* after the overlay, whose files are made again */
    if (code == 0 && fields_good(f))
        code = state_threads(p, f, err);
    if (code == 0 && fields_good(f))
        code = state_memory(p, f, err);
    if (code == 0 && fields_good(f))
        code = state_files(p, f, err);
    return code < 0 ? code : fields_result(f, err);
}

int process_save(struct process *p, struct fields *to, struct error *err)
{
    int code = check_saveable(p, err);
    return code < 0 ? code : process_fields(p, to, err);
}

struct process *process_load(const struct process_config *config, struct fields *from, struct error *err)
{
    struct process *p = process_new_empty(config, err);
    if (p && process_fields(p, from, err) == 0)
        return p;
    process_free(p);
    return NULL;
}
