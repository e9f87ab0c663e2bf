/* CSRs of machine mode, and the counters behind them. */
#include <stddef.h>
#include <string.h>

#include "core/machine_priv.h"

/* ---- counters */

/* What the core has counted for mcycle or minstret. */
static uint64_t core_count_of(const struct core *c, unsigned counter)
{
    return counter == COUNTER_CYCLE ? c->now : c->counts.instructions;
}

/* Whether mcycle or minstret does not count now: by mcountinhibit, or in the current mode. */
static bool is_stopped(const struct core *c, unsigned counter)
{
    const struct machine *m = c->machine;
    return m->inhibited >> counter & 1 || m->fixed_modes[counter] & (c->machine_mode ? HPMEVENT_MINH : HPMEVENT_UINH);
}

/* The value of mcycle or minstret. */
static uint64_t read_fixed(const struct core *c, unsigned counter)
{
    return c->machine->fixed[counter] + (is_stopped(c, counter) ? 0 : core_count_of(c, counter));
}

void machine_write_fixed(struct core *c, unsigned counter, uint64_t value)
{
    c->machine->fixed[counter] = value - (is_stopped(c, counter) ? 0 : core_count_of(c, counter));
}

uint64_t machine_counter(struct core *c, unsigned counter)
{
    struct machine *m = c->machine;
    if (counter < COUNTER_FIRST)
        return read_fixed(c, counter);
    core_counts(c);
    return m->counters->read(m->counting, counter);
}

uint64_t core_machine_counter(struct core *c, unsigned counter)
{
    return machine_counter(c, counter);
}

bool machine_counter_is_open(const struct core *c, unsigned counter)
{
    return c->machine->opened >> counter & 1;
}

/* Writes mcountinhibit. mcycle and minstret keep their values. */
static void inhibit(struct core *c, uint32_t counters)
{
    struct machine *m = c->machine;
    uint64_t cycle = read_fixed(c, COUNTER_CYCLE), instret = read_fixed(c, COUNTER_INSTRET);
    m->inhibited = counters & ~(UINT32_C(1) << COUNTER_TIME);
    machine_write_fixed(c, COUNTER_CYCLE, cycle);
    machine_write_fixed(c, COUNTER_INSTRET, instret);
    m->counters->inhibit(m->counting, m->inhibited);
}

/* Writes mcyclecfg or minstretcfg. The counter keeps its value. */
static void choose_modes(struct core *c, unsigned counter, uint64_t modes)
{
    uint64_t value = read_fixed(c, counter);
    c->machine->fixed_modes[counter] = modes & (HPMEVENT_MINH | HPMEVENT_UINH);
    machine_write_fixed(c, counter, value);
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
        machine_write_fixed(c, counter, value);
    } else {
        m->counters->write(m->counting, counter, value);
        m->seen[counter] = m->counters->read(m->counting, counter);
    }
}

/* ---- CSRs */

/* Whether the CSR is one of the 32 counters that begin at CSR number `first`; `time` is not a counter. */
static bool is_counter_of(unsigned csr, unsigned first)
{
    return csr - first < COUNTER_END && csr != first + COUNTER_TIME;
}

static bool is_event(unsigned csr)
{
    return csr >= CSR_MHPMEVENTS + COUNTER_FIRST && csr < CSR_MHPMEVENTS + COUNTER_END;
}

/* scountovf: the OF bits of all counters. */
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
    else if (is_counter_of(csr, CSR_MCOUNTERS))
        *value = machine_counter(c, csr - CSR_MCOUNTERS);
    else if (is_counter_of(csr, CSR_COUNTERS))
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
        case CSR_MCYCLECFG: *value = m->fixed_modes[COUNTER_CYCLE]; break;
        case CSR_MINSTRETCFG: *value = m->fixed_modes[COUNTER_INSTRET]; break;
        case CSR_SATP: *value = (uint64_t)core_space(c) << SATP_ASID_AT; break;
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
    else if (is_counter_of(csr, CSR_MCOUNTERS))
        write_counter(c, csr - CSR_MCOUNTERS, value);
    else
        switch (csr) {
        case CSR_MSTATUS:
            m->status =
                (value & (MSTATUS_MIE | MSTATUS_MPIE)) | ((value & MSTATUS_MPP) == MSTATUS_MPP ? MSTATUS_MPP : 0);
            break;
        case CSR_MIE: m->enabled = value & (LCOFI_BIT | MSI_BIT); break;
        case CSR_MIP: m->pending = value & (LCOFI_BIT | MSI_BIT); break;
        case CSR_MTVEC: m->vector = value & ~UINT64_C(3); break;
        case CSR_MEPC: m->epc = value & ~UINT64_C(1); break;
        case CSR_MCAUSE: m->cause = value; break;
        case CSR_MTVAL: m->value = value; break;
        case CSR_MSCRATCH: m->scratch = value; break;
        case CSR_MCOUNTEREN: m->opened = (uint32_t)value; break;
        case CSR_MCOUNTINHIBIT: inhibit(c, (uint32_t)value); break;
        case CSR_MCYCLECFG: choose_modes(c, COUNTER_CYCLE, value); break;
        case CSR_MINSTRETCFG: choose_modes(c, COUNTER_INSTRET, value); break;
        default: break; /* misa, satp: writes have no effect */
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
    machine_check_overflows(c);
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

/* The CSR is read again: bits that hardware has changed since the instruction read it are not undone. */
void machine_write_due(struct core *c)
{
    struct machine *m = c->machine;
    uint64_t now;
    if (read_csr(c, m->write.csr, &now))
        write_csr(c, m->write.csr, csr_new_value(m->write.access, now, m->write.operand));
}

/* ---- programs that share the core */

enum { SHARED_FROM = offsetof(struct machine, status), SHARED_TO = offsetof(struct machine, due) };

void machine_put(struct core *c, struct machine_image *to)
{
    struct machine *m = c->machine;
    machine_check_overflows(c);
    memcpy((char *)&to->shared + SHARED_FROM, (const char *)m + SHARED_FROM, SHARED_TO - SHARED_FROM);
    for (unsigned i = 0; i < COUNTER_END; i++)
        to->counter[i] = i == COUNTER_TIME ? 0 : machine_counter(c, i);
}

/* A counter with the same event as before keeps its state of the previous cycle, which edge detection needs. */
void machine_get(struct core *c, const struct machine_image *from)
{
    struct machine *m = c->machine;
    uint64_t before[COUNTER_END];
    memcpy(before, m->event, sizeof before);
    memcpy((char *)m + SHARED_FROM, (const char *)&from->shared + SHARED_FROM, SHARED_TO - SHARED_FROM);
    for (unsigned i = COUNTER_FIRST; i < COUNTER_END; i++) {
        if ((before[i] ^ m->event[i]) & ~HPMEVENT_OF)
            m->counters->select(m->counting, i, m->event[i] & ~HPMEVENT_OF);
        m->counters->write(m->counting, i, from->counter[i]);
        m->seen[i] = from->counter[i];
    }
    m->counters->inhibit(m->counting, m->inhibited);
    machine_write_fixed(c, COUNTER_CYCLE, from->counter[COUNTER_CYCLE]);
    machine_write_fixed(c, COUNTER_INSTRET, from->counter[COUNTER_INSTRET]);
    core_join_observers(c);
    machine_check_overflows(c);
}

bool machine_switched(struct core *c)
{
    struct machine *m = c->machine;
    if (!m->booted)
        return true;
    m->pending |= MSI_BIT;
    m->turn_begins = (m->enabled & MSI_BIT) != 0;
    return m->turn_begins;
}
