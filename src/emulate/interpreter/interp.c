/* The interpreter as an engine: creation, run loop, and traps. */
#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "guest/signal.h"
#include "riscv/host_fpu.h"
#include "emulate/interpreter/interp_priv.h"

/* The engine that runs on this host thread. The fault handler needs it and gets no context argument. */
static _Thread_local struct engine_state *running_engine;

static void leave_by_default(int signal)
{
    struct sigaction action = {.sa_handler = SIG_DFL};
    sigaction(signal, &action, NULL);
}

/* Leaves the block before the op's instruction. */
static void leave_before(struct hart *h, const struct op *op)
{
    struct engine_state *e = h->engine;
    h->pc = interp_pc(e, op);
    h->budget -= e->site[op - e->arena].insns_before;
    if (e->hooks.count_blocks)
        interp_count_part(e, op, e->site[op - e->arena].insns_before);
}

/* The op stores to a page of code that is protected (guest_mark_code). The page is writable now and its blocks are
 * dead. Returns, so that the host repeats the store. If the op's own block is dead, too, the store instead runs as a
 * block of one instruction. */
static void store_to_code(struct engine_state *e, const struct op *op, uint32_t mxcsr)
{
    if (!interp_is_stale(e, op))
        return;
    e->running->fflags |= host_fpu_flags(mxcsr);
    leave_before(e->running, op);
    e->code_stored = true;
    e->access = NULL;
    siglongjmp(e->escape, 1);
}

/* A host fault that an op raises inside the guest's space (or its guard page) becomes a guest trap. Any other fault is
 * a bug of ours: restores the default action, so that it kills the process when the instruction repeats. */
static void on_host_fault(int signal, siginfo_t *info, void *context)
{
    struct engine_state *e = running_engine;
    const ucontext_t *u = context;
    if (host_signal_sent(signal, info))
        return;
    uint64_t addr = e ? (uint64_t)((uint8_t *)info->si_addr - e->mem) : 0;
    const struct op *op = e == NULL ? NULL : e->access ? e->access : (const struct op *)u->uc_mcontext.gregs[REG_RSI];
    if (e == NULL || addr >= GUEST_SPACE + GUEST_PAGE || op < e->arena || op >= e->arena + ARENA_OPS) {
        leave_by_default(signal);
        return;
    }
    if (e->running->wild_addr) {
        addr = e->running->wild_addr;
        e->running->wild_addr = 0;
    }
    if (u->uc_mcontext.gregs[REG_ERR] & 2 && guest_store_to_code(e->memory, addr, 1)) {
        interp_count_toggle(e, addr / GUEST_PAGE);
        store_to_code(e, op, u->uc_mcontext.fpregs->mxcsr);
        return;
    }
    e->running->fflags |= host_fpu_flags(u->uc_mcontext.fpregs->mxcsr);
    /* An atomic's first host access is a read, but the guest fault is a store fault, except for lr. */
    bool reserves = op->run == interp_single[OP_lr_w] || op->run == interp_single[OP_lr_d];
    bool write = e->access ? !reserves : (u->uc_mcontext.gregs[REG_ERR] & 2) != 0;
    enum trap trap = signal == SIGBUS ? TRAP_BUS : write ? TRAP_STORE_FAULT : TRAP_LOAD_FAULT;
    interp_trap(e->running, op, trap, addr);
}

static void install_fault_handler(void)
{
    struct sigaction action = {.sa_sigaction = on_host_fault, .sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK};
    sigemptyset(&action.sa_mask);
    sigaction(SIGSEGV, &action, NULL);
    sigaction(SIGBUS, &action, NULL);
}

static void *map_lazily(size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

static void destroy(struct engine_state *e)
{
    if (e == NULL)
        return;
    if (e->kept_from_forks) { /* there may be something else in the place of the arena */
        e->arena = NULL;
        e->site = NULL;
        e->pages_size = 0; /* no blocks */
    }
    guest_watch_code(e->memory, NULL, NULL); /* calls the watcher, which needs the arena */
    if (e->arena)
        munmap(e->arena, ARENA_OPS * sizeof *e->arena);
    if (e->site)
        munmap(e->site, ARENA_OPS * sizeof *e->site);
    interp_free_tables(e);
    free(e);
}

static struct engine_state *create(struct guest_memory *memory, struct error *err)
{
    struct engine_state *e = calloc(1, sizeof *e);
    if (e) {
        e->memory = memory;
        e->mem = guest_memory_base(memory);
        e->arena = map_lazily(ARENA_OPS * sizeof *e->arena);
        e->site = map_lazily(ARENA_OPS * sizeof *e->site);
    }
    if (e == NULL || e->arena == NULL || e->site == NULL) {
        destroy(e);
        error_set(err, -ENOMEM, "out of memory for the interpreter");
        return NULL;
    }
    e->transfer = e->transfers;
    interp_flush(e);
    guest_watch_code(memory, interp_code_changed, e);
    install_fault_handler();
    return e;
}

static void set_hooks(struct engine_state *e, const struct engine_hooks *hooks)
{
    interp_flush(e); /* before the hooks change: blocks depend on the hooks that they were translated with */
    e->hooks = *hooks;
    e->line = UINT64_MAX;
    assert(!(hooks->watch && hooks->count_blocks)); /* watched forms of exits do not count */
}

static size_t transfers_waiting(const struct engine_state *e)
{
    return (size_t)(e->transfer - e->transfers);
}

static void keep_from_forks(struct engine_state *e, bool keep)
{
    e->kept_from_forks = keep;
    madvise(e->arena, ARENA_OPS * sizeof *e->arena, keep ? MADV_DONTFORK : MADV_DOFORK);
    madvise(e->site, ARENA_OPS * sizeof *e->site, keep ? MADV_DONTFORK : MADV_DOFORK);
}

/* ---- leaving the run loop */

uint64_t interp_pc(const struct engine_state *e, const struct op *op)
{
    if (op->run == interp_single[OP_stub])
        return (uint64_t)(op->constant >> 16);
    return (interp_block_of(e, op)->pc & ~UINT64_C(1)) + (uint64_t)(int64_t)e->site[op - e->arena].pc_offset;
}

const struct op *interp_stop_at(struct hart *h, uint64_t pc)
{
    h->pc = pc;
    return NULL;
}

/* `next` is a stub or the first op of a block. For a block, takes the pc of the block: its first op may belong to a
 * later instruction, since some instructions have no op. */
const struct op *interp_stop(struct hart *h, const struct op *next)
{
    bool stub = next->run == interp_single[OP_stub];
    return interp_stop_at(h, stub ? interp_pc(h->engine, next) : interp_block_of(h->engine, next)->pc & ~UINT64_C(1));
}

const struct op *interp_leave_verified(struct hart *h, const struct op *op)
{
    interp_forget_block(h->engine, op);
    leave_before(h, op);
    return NULL;
}

void interp_trap(struct hart *h, const struct op *op, enum trap trap, uint64_t value)
{
    struct engine_state *e = h->engine;
    leave_before(h, op);
    h->trap = trap;
    h->trap_value = value;
    if (trap == TRAP_ILLEGAL) {
        uint16_t parcels[2] = {0};
        memcpy(&parcels[0], e->mem + h->pc, 2);
        if (insn_length(parcels[0]) == 4)
            memcpy(&parcels[1], e->mem + h->pc + 2, 2);
        h->trap_value = (uint64_t)parcels[1] << 16 | parcels[0];
    }
    e->access = NULL;
    siglongjmp(e->escape, 1);
}

/* ---- running */

static void execute(struct engine_state *e, struct hart *h, const struct op *first)
{
    host_fpu_begin(h->frm);
    if (sigsetjmp(e->escape, 0) == 0)
        for (const struct op *op = first; op;)
            op = op->run(h, op, e->mem);
    h->fflags |= host_fpu_end();
}

/* Runs a single block and returns the rest of `left`. With a budget of 0 every exit from the block stops. */
static int64_t run_block(struct engine_state *e, struct hart *h, const struct op *first, int64_t quantum, int64_t left)
{
    h->quantum = quantum - left;
    h->budget = 0;
    execute(e, h, first);
    if (e->hooks.count_blocks)
        interp_count_short_done(e, h);
    return left + h->budget;
}

/* Runs linked blocks as long as another block of maximum length fits into the budget, then single blocks, the last one
 * shortened, so that exactly a quantum retires. A store to the code of its own block leaves them and runs alone.
 * Throughout, h->quantum - h->budget is the number of instructions that this run has retired (csr reads depend on it).
 */
static void run(struct engine_state *e, struct hart *h)
{
    const int64_t quantum = h->quantum;
    int64_t left = quantum;
    h->trap = TRAP_NONE;
    h->engine = e;
    h->space = GUEST_SPACE;
    h->wild_addr = 0;
    e->running = h;
    running_engine = e;

    const struct op *resumed = left > 0 ? interp_find_resumed(e, h, left) : NULL;
    if (resumed)
        left = run_block(e, h, resumed, quantum, left);
    while (left > 0 && h->trap == TRAP_NONE) {
        if (e->code_stored) {
            e->code_stored = false;
            left = run_block(e, h, interp_find_single(e, h->pc), quantum, left);
        } else if (left > BLOCK_INSNS) {
            h->quantum = quantum - BLOCK_INSNS;
            h->budget = left - BLOCK_INSNS;
            execute(e, h, interp_find(e, h->pc));
            left = h->budget + BLOCK_INSNS;
        } else {
            left = run_block(e, h, interp_find_short(e, h->pc, left), quantum, left);
        }
    }
    interp_report_transfers(e);
    h->quantum = quantum;
    h->budget = left;
    running_engine = NULL;
}

const struct engine interpreter = {
    .name = "interpreter",
    .create = create,
    .destroy = destroy,
    .set_hooks = set_hooks,
    .transfers_waiting = transfers_waiting,
    .keep_from_forks = keep_from_forks,
    .run = run,
    .block_counts = interp_count_report,
};
