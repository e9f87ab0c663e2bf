#include "core/machine.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/machine_priv.h"
#include "riscv/host_fpu.h"

enum {
    FIRMWARE_MOST = 100000000
}; /* instructions without a return to the program, after which the firmware counts as failed */

/* ---- modes */

/* Adds what was counted since the last change of mode to the counts of machine mode, if that mode ends. */
static void count_mode(struct core *c)
{
    struct machine *m = c->machine;
    if (c->machine_mode) {
        c->counts.machine_cycles += c->counts.cycles - m->began.cycles;
        c->counts.machine_instructions += c->counts.instructions - m->began.insns;
    }
    m->began.cycles = c->counts.cycles;
    m->began.insns = c->counts.instructions;
}

/* Changes the mode: counters, memory, code, budget and the observers' view. The window is empty. */
static void set_mode(struct core *c, bool machine)
{
    struct machine *m = c->machine;
    const struct core_observer *counting = machine_observer(c);
    if (machine == c->machine_mode)
        return;
    machine_check_overflows(c);
    count_mode(c);
    uint64_t cycle = machine_counter(c, COUNTER_CYCLE), instret = machine_counter(c, COUNTER_INSTRET);
    c->machine_mode = machine;
    machine_write_fixed(c, COUNTER_CYCLE, cycle);
    machine_write_fixed(c, COUNTER_INSTRET, instret);
    record_set_machine_mode(&c->record, machine);
    uint8_t *memory = machine ? m->firmware.memory : NULL;
    c->paths.machine = memory;
    code_use_firmware(c->codes, memory);
    core_mark_path(c);
    if (counting->mode)
        counting->mode(counting->context, machine);
    if (c->client_observer.mode)
        c->client_observer.mode(c->client_observer.context, machine);
    if (machine) {
        m->budget = c->paths.right->budget;
        c->paths.right->budget = FIRMWARE_MOST;
    } else {
        c->paths.right->budget = m->budget;
        if (m->turn_begins && c->turn_cycles != NEVER)
            c->turn_end = c->now + c->turn_cycles;
        m->turn_begins = false;
        core_check_turn(c);
    }
}

/* Fetch continues at `pc`. */
static void redirect(struct core *c, uint64_t pc)
{
    c->paths.right->pc = pc;
    c->cause = CAUSE_SERIAL;
    c->line_start = c->line_before = NEVER;
    c->fetch_events = 0;
    c->fetch_resume = c->now;
}

/* Enters the firmware's handler. `cause` and `value` are mcause and mtval. */
static void enter_trap(struct core *c, uint64_t cause, uint64_t value)
{
    struct machine *m = c->machine;
    uint64_t pc = c->paths.right->pc;
    if (c->machine_mode && !(cause & IS_INTERRUPT) && pc == m->vector) {
        m->failed = true; /* the handler's first instruction traps, so the handler would never end */
        c->run_over = true;
    }
    m->epc = pc;
    m->cause = cause;
    m->value = value;
    m->status = (m->status & MSTATUS_MIE ? MSTATUS_MPIE : 0) | (c->machine_mode ? MSTATUS_MPP : 0);
    set_mode(c, true);
    redirect(c, m->vector);
}

/* Gives the program the registers that it had before the firmware started. */
static void give_registers(struct core *c)
{
    struct hart *h = c->paths.right;
    const struct hart *from = &c->machine->program;
    memcpy(h->x, from->x, sizeof h->x);
    memcpy(h->f, from->f, sizeof h->f);
    host_fpu_end();
    h->fflags = from->fflags;
    h->frm = from->frm;
    host_fpu_begin(h->frm);
    c->machine->returned = true;
}

/* mret. */
static void leave_trap(struct core *c)
{
    struct machine *m = c->machine;
    bool machine = (m->status & MSTATUS_MPP) != 0;
    m->status = (m->status & MSTATUS_MPIE ? MSTATUS_MIE : 0) | MSTATUS_MPIE;
    if (!machine && !m->returned)
        give_registers(c);
    set_mode(c, machine);
    redirect(c, m->epc);
}

/* Whether an interrupt is pending and enabled in the current mode. In user mode it waits until the program has
 * instructions left in its quantum. */
static bool interrupts(const struct core *c)
{
    const struct machine *m = c->machine;
    if (!(m->enabled & m->pending) || m->failed)
        return false;
    return c->machine_mode ? (m->status & MSTATUS_MIE) != 0 : c->paths.right->budget > 0;
}

/* Stops fetch so that the window drains and the interrupt can be taken. */
static void drain_window(struct core *c)
{
    c->serializing = true;
    c->cause = CAUSE_SERIAL;
}

/* ---- counters */

const struct core_observer *machine_observer(const struct core *c)
{
    return c->machine->counters->observer(c->machine->counting);
}

void machine_check_overflows(struct core *c)
{
    struct machine *m = c->machine;
    core_counts(c);
    c->next_check_cycle = NEVER;
    for (uint32_t left = m->programmed; left; left &= left - 1) {
        unsigned i = (unsigned)__builtin_ctz(left);
        uint64_t value = m->counters->read(m->counting, i), lasts = m->counters->lasts(m->counting, i);
        if (value < m->seen[i] && !(m->event[i] & HPMEVENT_OF)) {
            m->event[i] |= HPMEVENT_OF;
            m->pending |= LCOFI_BIT;
        }
        m->seen[i] = value;
        if (!(m->event[i] & HPMEVENT_OF) && lasts < c->next_check_cycle - c->now)
            c->next_check_cycle = c->now + lasts;
    }
    if (interrupts(c))
        drain_window(c);
    core_check_turn(c);
}

/* ---- when the window is empty */

void machine_except(struct core *c, enum trap trap, uint64_t value)
{
    static const uint8_t causes[] = {
        [TRAP_ECALL] = 11,     [TRAP_EBREAK] = 3,      [TRAP_ILLEGAL] = 2,    [TRAP_FETCH_FAULT] = 1,
        [TRAP_LOAD_FAULT] = 5, [TRAP_STORE_FAULT] = 7, [TRAP_MISALIGNED] = 6, [TRAP_BUS] = 5};
    struct machine *m = c->machine;
    m->due = DUE_EXCEPTION;
    m->exception = causes[trap];
    m->exception_value = value;
}

void machine_return(struct core *c)
{
    c->machine->due = DUE_RETURN;
}

/* Waits for a cycle in which nothing retires, so that each cycle belongs to one mode. */
bool machine_drained(struct core *c)
{
    struct machine *m = c->machine;
    enum due due = m->due;
    if (due == DUE_NOTHING && !interrupts(c))
        return true;
    if (core_commits(c))
        return false;
    machine_check_overflows(c);
    m->due = DUE_NOTHING;
    switch (due) {
    case DUE_WRITE: machine_write_due(c); break;
    case DUE_RETURN: leave_trap(c); break;
    case DUE_EXCEPTION: enter_trap(c, m->exception, m->exception_value); break;
    case DUE_NOTHING: break;
    }
    if (interrupts(c))
        enter_trap(c, IS_INTERRUPT | (m->enabled & m->pending & MSI_BIT ? MSI : LCOFI), 0);
    machine_check_overflows(c);
    return !m->failed;
}

/* ---- a core with firmware */

int core_boot(struct core *c, const struct core_config *config, const struct firmware_image *image,
              const struct machine_counters *counters, bool insns, struct error *err)
{
    struct machine *m = calloc(1, sizeof *m);
    if (m == NULL || (m->name = strdup(image->name)) == NULL) {
        machine_free(m);
        return error_set(err, -ENOMEM, "out of memory for firmware");
    }
    int code = firmware_load(&m->firmware, image, err);
    if (code == 0) {
        m->counters = counters;
        m->counting = counters->create(config, insns, err);
        code = m->counting ? 0 : -ENOMEM;
    }
    if (code != 0) {
        machine_free(m);
        return code;
    }
    m->opened = UINT32_MAX;
    c->machine = m;
    const struct core_observer *o = machine_observer(c);
    if (o->begin)
        o->begin(o->context, c, &c->counts);
    core_join_observers(c);
    return 0;
}

void machine_free(struct machine *m)
{
    if (m == NULL)
        return;
    if (m->counting)
        m->counters->destroy(m->counting);
    firmware_free(&m->firmware);
    free(m->name);
    free(m);
}

/* Starts the firmware instead of the program. The program's registers are kept until the first mret. */
static void boot(struct core *c, struct hart *h)
{
    struct machine *m = c->machine;
    m->booted = m->turn_begins = true;
    m->program = *h;
    m->epc = h->pc;
    machine_write_fixed(c, COUNTER_CYCLE, c->cycles_before + c->now);
    machine_write_fixed(c, COUNTER_INSTRET, h->retired);
    set_mode(c, true);
    redirect(c, m->firmware.entry);
    memset(h->x, 0, sizeof h->x);
    h->x[REG_A2] = core_firmware_free(c, &h->x[REG_A1]);
}

void machine_begin_run(struct core *c, struct hart *h)
{
    if (!c->machine->booted)
        boot(c, h);
    if (interrupts(c))
        drain_window(c);
}

void machine_end_run(struct core *c)
{
    if (c->machine_mode)
        c->machine->failed = true;
}

bool core_firmware_failed(const struct core *c)
{
    return c->machine && c->machine->failed;
}

int core_firmware_error(const struct core *c, struct error *err)
{
    const struct machine *m = c->machine;
    uint64_t pc = c->paths.right->pc;
    if (pc == m->vector && m->epc == m->vector)
        return error_set(err, -ELOOP,
                         "the firmware %s has no trap handler that works: exception %" PRIu64 " (mtval 0x%" PRIx64
                         ") at mtvec, 0x%" PRIx64,
                         m->name, m->cause, m->value, m->vector);
    return error_set(err, -ELOOP,
                     "the firmware %s did not return to the program within %d instructions: it is at 0x%" PRIx64,
                     m->name, FIRMWARE_MOST, pc);
}

void *core_firmware_memory(struct core *c, uint64_t addr, uint64_t bytes)
{
    uint64_t at = addr - FIRMWARE_BASE;
    if (c->machine == NULL || at >= FIRMWARE_SPACE || bytes > FIRMWARE_SPACE - at)
        return NULL;
    return c->machine->firmware.memory + at;
}

uint64_t core_firmware_free(const struct core *c, uint64_t *bytes)
{
    uint64_t first = c->machine->firmware.free;
    *bytes = FIRMWARE_BASE + FIRMWARE_SPACE - first;
    return first;
}

int core_share_firmware(struct core *c, struct error *err)
{
    return c->machine ? firmware_share(&c->machine->firmware, err) : 0;
}

struct firmware_copy *core_copy_firmware(const struct core *c)
{
    return c->machine ? firmware_copy(&c->machine->firmware) : NULL;
}

void core_take_firmware(struct core *c, const struct firmware_copy *copy)
{
    if (c->machine)
        firmware_take(&c->machine->firmware, copy);
}
