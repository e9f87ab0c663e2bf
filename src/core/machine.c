#include "core/machine.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/core_priv.h"
#include "core/firmware.h"
#include "riscv/csr.h"
#include "riscv/host_fpu.h"

enum { FIRMWARE_MOST = 100000000 }; /* instructions without a return to the program: it will not come */

#define LCOFI        13
#define LCOFI_BIT    (UINT64_C(1) << LCOFI)
#define IS_INTERRUPT (UINT64_C(1) << 63) /* in mcause */
#define MSTATUS_MIE  (UINT64_C(1) << 3)
#define MSTATUS_MPIE (UINT64_C(1) << 7)
#define MSTATUS_MPP  (UINT64_C(3) << 11)

/* What happens when the window is empty. */
enum due { DUE_NOTHING, DUE_WRITE, DUE_RETURN, DUE_EXCEPTION };

struct machine {
    struct firmware firmware;
    char *path; /* of its file */
    const struct machine_counters *counters;
    void *counting; /* their state */

    uint64_t status; /* mstatus, in which MPP is 0 or 3 */
    uint64_t vector, epc, cause, value, scratch;
    uint64_t enabled, pending;   /* mie and mip: LCOFI_BIT or 0 */
    uint32_t opened, inhibited;  /* mcounteren and mcountinhibit */
    uint64_t event[COUNTER_END]; /* mhpmevent */
    uint64_t seen[COUNTER_END];  /* the counters as they were when last looked at */
    uint32_t programmed;         /* those with an event */
    uint64_t own[COUNTER_END];   /* mcycle and minstret: the value if inhibited, else what is added to the core's */

    enum due due;
    struct {
        unsigned csr;
        enum csr_access access;
        uint64_t operand;
    } write;                             /* that is due */
    uint64_t exception, exception_value; /* mcause and mtval of the exception that is due */

    bool booted;
    bool returned;       /* to the program, at least once */
    struct hart program; /* registers that the first return gives it */
    int64_t budget;      /* the program's, while firmware runs */
    bool failed;
};

/* ---- modes */

/* What the modes do not share. The window is empty. */
static void set_mode(struct core *c, bool machine)
{
    struct machine *m = c->machine;
    const struct core_observer *counting = machine_observer(c);
    if (machine == c->machine_mode)
        return;
    machine_look(c);
    c->machine_mode = machine;
    uint8_t *memory = machine ? m->firmware.memory : NULL;
    c->paths.machine = memory;
    code_use_firmware(c->codes, memory);
    core_mark_path(c);
    if (counting->mode)
        counting->mode(counting->context, machine);
    if (c->asked.mode)
        c->asked.mode(c->asked.context, machine);
    if (machine) {
        m->budget = c->paths.right->budget;
        c->paths.right->budget = FIRMWARE_MOST;
    } else {
        c->paths.right->budget = m->budget;
    }
}

/* Fetch goes on elsewhere. */
static void redirect(struct core *c, uint64_t pc)
{
    c->paths.right->pc = pc;
    c->line_start = c->line_before = NEVER;
    c->fetch_events = 0;
    c->fetch_resume = c->now;
}

static void enter_trap(struct core *c, uint64_t cause, uint64_t value)
{
    struct machine *m = c->machine;
    uint64_t pc = c->paths.right->pc;
    if (c->machine_mode && !(cause & IS_INTERRUPT) && pc == m->vector) {
        m->failed = true; /* the handler's first instruction traps, and would for ever */
        c->run_over = true;
    }
    m->epc = pc;
    m->cause = cause;
    m->value = value;
    m->status = (m->status & MSTATUS_MIE ? MSTATUS_MPIE : 0) | (c->machine_mode ? MSTATUS_MPP : 0);
    set_mode(c, true);
    redirect(c, m->vector);
}

/* The program goes on with the registers that it had, not with those of the firmware's start. */
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

static bool interrupts(const struct core *c)
{
    const struct machine *m = c->machine;
    if (!(m->enabled & m->pending) || m->failed)
        return false;
    return c->machine_mode ? (m->status & MSTATUS_MIE) != 0 : c->paths.right->budget > 0;
}

/* ---- counters */

static uint64_t live(const struct core *c, unsigned counter)
{
    return counter == COUNTER_CYCLE ? c->now : c->counts.instructions;
}

static uint64_t read_own(const struct core *c, unsigned counter)
{
    const struct machine *m = c->machine;
    return m->own[counter] + (m->inhibited >> counter & 1 ? 0 : live(c, counter));
}

static void write_own(struct core *c, unsigned counter, uint64_t value)
{
    struct machine *m = c->machine;
    m->own[counter] = value - (m->inhibited >> counter & 1 ? 0 : live(c, counter));
}

uint64_t machine_counter(struct core *c, unsigned counter)
{
    struct machine *m = c->machine;
    if (counter < COUNTER_FIRST)
        return read_own(c, counter);
    core_counts(c);
    return m->counters->read(m->counting, counter);
}

bool machine_counter_is_open(const struct core *c, unsigned counter)
{
    return c->machine->opened >> counter & 1;
}

const struct core_observer *machine_observer(const struct core *c)
{
    return c->machine->counters->observer(c->machine->counting);
}

void machine_look(struct core *c)
{
    struct machine *m = c->machine;
    core_counts(c);
    c->look = NEVER;
    for (uint32_t left = m->programmed; left; left &= left - 1) {
        unsigned i = (unsigned)__builtin_ctz(left);
        uint64_t value = m->counters->read(m->counting, i), lasts = m->counters->lasts(m->counting, i);
        if (value < m->seen[i] && !(m->event[i] & HPMEVENT_OF)) {
            m->event[i] |= HPMEVENT_OF;
            m->pending |= LCOFI_BIT;
        }
        m->seen[i] = value;
        if (!(m->event[i] & HPMEVENT_OF) && lasts < c->look - c->now)
            c->look = c->now + lasts;
    }
    if (interrupts(c))
        c->serializing = true;
}

static void inhibit(struct core *c, uint32_t counters)
{
    struct machine *m = c->machine;
    uint64_t cycle = read_own(c, COUNTER_CYCLE), instret = read_own(c, COUNTER_INSTRET);
    m->inhibited = counters & ~(UINT32_C(1) << COUNTER_TIME);
    write_own(c, COUNTER_CYCLE, cycle);
    write_own(c, COUNTER_INSTRET, instret);
    m->counters->inhibit(m->counting, m->inhibited);
}

static void write_event(struct core *c, unsigned counter, uint64_t event)
{
    struct machine *m = c->machine;
    uint64_t selected = m->counters->select(m->counting, counter, event & ~HPMEVENT_OF);
    m->event[counter] = selected | (event & HPMEVENT_OF);
    m->programmed = (m->programmed & ~(UINT32_C(1) << counter)) | ((uint32_t)(selected != 0) << counter);
    core_join_observers(c);
    core_mark_path(c);
}

static void write_counter(struct core *c, unsigned counter, uint64_t value)
{
    struct machine *m = c->machine;
    if (counter < COUNTER_FIRST) {
        write_own(c, counter, value);
    } else {
        m->counters->write(m->counting, counter, value);
        m->seen[counter] = m->counters->read(m->counting, counter);
    }
}

/* ---- CSRs */

/* Those of counters, by number. */
static bool is_of_counters(unsigned csr, unsigned first)
{
    return csr - first < COUNTER_END && csr != first + COUNTER_TIME;
}

static bool is_event(unsigned csr)
{
    return csr >= CSR_MHPMEVENTS + COUNTER_FIRST && csr < CSR_MHPMEVENTS + COUNTER_END;
}

static uint64_t overflows(const struct machine *m)
{
    uint64_t bits = 0;
    for (unsigned i = COUNTER_FIRST; i < COUNTER_END; i++)
        bits |= m->event[i] >> 63 << i;
    return bits;
}

static bool read_csr(struct core *c, unsigned csr, uint64_t *value)
{
    struct machine *m = c->machine;
    const struct hart *h = c->paths.right;
    if (is_event(csr))
        *value = m->event[csr - CSR_MHPMEVENTS];
    else if (is_of_counters(csr, CSR_MCOUNTERS))
        *value = machine_counter(c, csr - CSR_MCOUNTERS);
    else if (is_of_counters(csr, CSR_COUNTERS))
        *value = machine_counter(c, csr - CSR_COUNTERS);
    else
        switch (csr) {
        case CSR_COUNTERS + COUNTER_TIME:
            *value = h->retired + (uint64_t)(h->quantum - m->budget) + h->time_offset;
            break;
        case CSR_MSTATUS: *value = m->status; break;
        case CSR_MIE: *value = m->enabled; break;
        case CSR_MIP: *value = m->pending; break;
        case CSR_MTVEC: *value = m->vector; break;
        case CSR_MEPC: *value = m->epc; break;
        case CSR_MCAUSE: *value = m->cause; break;
        case CSR_MTVAL: *value = m->value; break;
        case CSR_MSCRATCH: *value = m->scratch; break;
        case CSR_MCOUNTEREN: *value = m->opened; break;
        case CSR_MCOUNTINHIBIT: *value = m->inhibited; break;
        case CSR_SCOUNTOVF: *value = overflows(m); break;
        case CSR_MISA:
        case CSR_MVENDORID:
        case CSR_MARCHID:
        case CSR_MIMPID:
        case CSR_MHARTID: *value = 0; break;
        default: return false;
        }
    return true;
}

static void write_csr(struct core *c, unsigned csr, uint64_t value)
{
    struct machine *m = c->machine;
    if (is_event(csr))
        write_event(c, csr - CSR_MHPMEVENTS, value);
    else if (is_of_counters(csr, CSR_MCOUNTERS))
        write_counter(c, csr - CSR_MCOUNTERS, value);
    else
        switch (csr) {
        case CSR_MSTATUS:
            m->status =
                (value & (MSTATUS_MIE | MSTATUS_MPIE)) | ((value & MSTATUS_MPP) == MSTATUS_MPP ? MSTATUS_MPP : 0);
            break;
        case CSR_MIE: m->enabled = value & LCOFI_BIT; break;
        case CSR_MIP: m->pending = value & LCOFI_BIT; break;
        case CSR_MTVEC: m->vector = value & ~UINT64_C(3); break;
        case CSR_MEPC: m->epc = value & ~UINT64_C(1); break;
        case CSR_MCAUSE: m->cause = value; break;
        case CSR_MTVAL: m->value = value; break;
        case CSR_MSCRATCH: m->scratch = value; break;
        case CSR_MCOUNTEREN: m->opened = (uint32_t)value; break;
        case CSR_MCOUNTINHIBIT: inhibit(c, (uint32_t)value); break;
        default: break; /* misa */
        }
}

static bool is_read_only(unsigned csr)
{
    return csr >> 10 == 3;
}

bool machine_access_csr(struct core *c, const struct code *code)
{
    struct machine *m = c->machine;
    struct hart *h = c->paths.right;
    unsigned csr = (unsigned)code->o.imm & 0xfff;
    bool immediate = code->op >= INSN_csrrwi;
    unsigned which = code->op - (immediate ? INSN_csrrwi : INSN_csrrw);
    bool writes = which == 0 || code->o.rs1 != 0;
    uint64_t old, operand = immediate ? code->o.rs1 : h->x[code->o.rs1];
    machine_look(c);
    if (!read_csr(c, csr, &old) || (writes && is_read_only(csr)))
        return false;
    h->x[code->o.rd] = old;
    if (writes) {
        static const enum csr_access access[3] = {CSR_WRITE, CSR_SET, CSR_CLEAR};
        m->due = DUE_WRITE;
        m->write.csr = csr;
        m->write.access = access[which];
        m->write.operand = operand;
    }
    return true;
}

/* What hardware has changed since the instruction read it is not undone. */
static void write_due(struct core *c)
{
    struct machine *m = c->machine;
    uint64_t now;
    if (read_csr(c, m->write.csr, &now))
        write_csr(c, m->write.csr, csr_new_value(m->write.access, now, m->write.operand));
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

/* Nothing of this comes in a cycle in which something commits, so that cycles are of one mode. */
bool machine_drained(struct core *c)
{
    struct machine *m = c->machine;
    enum due due = m->due;
    if (due == DUE_NOTHING && !interrupts(c))
        return true;
    if (core_commits(c))
        return false;
    machine_look(c);
    m->due = DUE_NOTHING;
    switch (due) {
    case DUE_WRITE: write_due(c); break;
    case DUE_RETURN: leave_trap(c); break;
    case DUE_EXCEPTION: enter_trap(c, m->exception, m->exception_value); break;
    case DUE_NOTHING: break;
    }
    if (interrupts(c))
        enter_trap(c, IS_INTERRUPT | LCOFI, 0);
    machine_look(c);
    return !m->failed;
}

/* ---- a core with firmware */

int core_boot(struct core *c, const struct core_config *config, const char *path,
              const struct machine_counters *counters, bool insns, struct error *err)
{
    struct machine *m = calloc(1, sizeof *m);
    if (m == NULL || (m->path = strdup(path)) == NULL) {
        machine_free(m);
        return error_set(err, -ENOMEM, "out of memory for firmware");
    }
    int code = firmware_load(&m->firmware, path, err);
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
    free(m->path);
    free(m);
}

static void boot(struct core *c, struct hart *h)
{
    struct machine *m = c->machine;
    m->booted = true;
    m->program = *h;
    m->epc = h->pc;
    write_own(c, COUNTER_CYCLE, c->cycles_before + c->now);
    write_own(c, COUNTER_INSTRET, h->retired);
    set_mode(c, true);
    redirect(c, m->firmware.entry);
    memset(h->x, 0, sizeof h->x);
    h->x[REG_A1] = FIRMWARE_BASE + FIRMWARE_SPACE - m->firmware.free;
    h->x[REG_A2] = m->firmware.free;
}

void machine_begin_run(struct core *c, struct hart *h)
{
    if (!c->machine->booted)
        boot(c, h);
    if (interrupts(c))
        c->serializing = true;
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
                         m->path, m->cause, m->value, m->vector);
    return error_set(err, -ELOOP,
                     "the firmware %s did not return to the program within %d instructions: it is at 0x%" PRIx64,
                     m->path, FIRMWARE_MOST, pc);
}

void *core_firmware_memory(struct core *c, uint64_t addr, uint64_t bytes)
{
    uint64_t at = addr - FIRMWARE_BASE;
    if (c->machine == NULL || at >= FIRMWARE_SPACE || bytes > FIRMWARE_SPACE - at)
        return NULL;
    return c->machine->firmware.memory + at;
}
