/* Predicates of events: whether an instruction counts. */
#include "branch/branch.h"
#include "core/code.h"
#include "pmu/event_table_priv.h"

static unsigned opcode(const struct insn_view *v)
{
    return v->bits & 0x7f;
}

static bool is_atomic(const struct insn_view *v)
{
    return opcode(v) == 0x2f;
}

static bool selects(uint32_t selection, bool condition, uint32_t bit)
{
    return condition && selection & bit;
}

/* ---- program characterization */

bool insn_any(const struct insn_view *v, uint32_t selection)
{
    (void)v;
    (void)selection;
    return true;
}

bool insn_of_class(const struct insn_view *v, uint32_t selection)
{
    return selection >> v->class & 1;
}

static uint32_t size_bit(const struct insn_view *v)
{
    return v->size == 1 ? OF_BYTE : v->size == 2 ? OF_HALF : v->size == 4 ? OF_WORD : OF_DOUBLE;
}

static bool is_load(const struct insn_view *v)
{
    return v->size && (v->class == CLASS_LOAD || is_atomic(v));
}

bool insn_load(const struct insn_view *v, uint32_t selection)
{
    return selects(selection, is_load(v), size_bit(v));
}

bool insn_store(const struct insn_view *v, uint32_t selection)
{
    return selects(selection, v->store, size_bit(v));
}

bool insn_atomic(const struct insn_view *v, uint32_t selection)
{
    unsigned function = v->bits >> 27;
    return selects(selection, is_atomic(v), function == 2 ? OF_LR : function == 3 ? OF_SC : OF_AMO);
}

bool insn_fp(const struct insn_view *v, uint32_t selection)
{
    return v->class >= CLASS_FPADD && selection >> (v->class - CLASS_FPADD) & 1;
}

bool insn_integer(const struct insn_view *v, uint32_t selection)
{
    return v->class <= CLASS_DIV && selection >> v->class & 1;
}

bool insn_system_call(const struct insn_view *v, uint32_t selection)
{
    (void)selection;
    return v->bits == 0x73;
}

/* A fence takes an entry of the store queue. The opcode does not decide: pause, a hint, has that of a fence and takes
 * no entry. */
bool insn_fence(const struct insn_view *v, uint32_t selection)
{
    (void)selection;
    return v->class == CLASS_STORE && v->size == 0;
}

bool insn_csr(const struct insn_view *v, uint32_t selection)
{
    (void)selection;
    return opcode(v) == 0x73 && v->bits >> 12 & 7;
}

bool insn_prefetch(const struct insn_view *v, uint32_t selection)
{
    (void)selection;
    return v->class == CLASS_LOAD && v->size == 0;
}

bool insn_compressed(const struct insn_view *v, uint32_t selection)
{
    (void)selection;
    return (v->bits & 3) != 3;
}

bool insn_misaligned(const struct insn_view *v, uint32_t selection)
{
    return selects(selection, v->size && v->addr % v->size, v->store ? DATA_STORE : DATA_LOAD);
}

/* ---- memory accesses */

/* Defines a predicate: the instruction has this enum insn_event. */
#define HAS(name, event)                                                                                               \
    bool name(const struct insn_view *v, uint32_t selection)                                                           \
    {                                                                                                                  \
        (void)selection;                                                                                               \
        return (v->events & (event)) != 0;                                                                             \
    }

HAS(insn_l1i_missed, EVENT_L1I)
HAS(insn_l2i_missed, EVENT_L2I)
HAS(insn_itlb_missed, EVENT_ITLB)
HAS(insn_l1d_missed, EVENT_L1D)
HAS(insn_l2d_missed, EVENT_L2D)
HAS(insn_dtlb_missed, EVENT_DTLB)
HAS(insn_forwarded, EVENT_FORWARD)
HAS(insn_rejected, EVENT_REJECT)
HAS(insn_misfetched, EVENT_MISFETCH)
HAS(insn_off_stride_addr, EVENT_STRIDE_ADDR)
HAS(insn_off_stride_value, EVENT_STRIDE_VALUE)

bool insn_load_dtlb_missed(const struct insn_view *v, uint32_t selection)
{
    return insn_dtlb_missed(v, selection) && !v->store;
}

bool insn_store_dtlb_missed(const struct insn_view *v, uint32_t selection)
{
    return insn_dtlb_missed(v, selection) && v->store;
}

bool insn_load_source(const struct insn_view *v, uint32_t selection)
{
    uint32_t bit = v->events & EVENT_FORWARD ? FROM_STORE
                   : v->events & EVENT_L2D   ? FROM_MEMORY
                   : v->events & EVENT_L1D   ? FROM_LOWER
                                             : FROM_L1;
    return selects(selection, is_load(v), bit);
}

/* ---- branch prediction */

static uint32_t kind_bit(const struct insn_view *v)
{
    switch ((enum branch_kind)v->kind) {
    case BRANCH_CONDITIONAL: return IS_BRANCH_CONDITIONAL;
    case BRANCH_JUMP: return IS_BRANCH_JUMP;
    case BRANCH_CALL: return IS_BRANCH_CALL;
    case BRANCH_RETURN: return IS_BRANCH_RETURN;
    case BRANCH_INDIRECT:
    case BRANCH_INDIRECT_CALL:
    case BRANCH_CORETURN: return IS_BRANCH_INDIRECT;
    }
    return 0;
}

bool insn_branch(const struct insn_view *v, uint32_t selection)
{
    return selects(selection, v->control, kind_bit(v));
}

bool insn_conditional(const struct insn_view *v, uint32_t selection)
{
    return selects(selection, v->conditional, v->taken ? WAS_TAKEN : WAS_NOT_TAKEN);
}

bool insn_taken(const struct insn_view *v, uint32_t selection)
{
    return selects(selection, v->control && v->taken, kind_bit(v));
}

bool insn_not_taken(const struct insn_view *v, uint32_t selection)
{
    (void)selection;
    return v->control && !v->taken;
}

bool insn_call(const struct insn_view *v, uint32_t selection)
{
    bool direct = v->kind == BRANCH_CALL, indirect = v->kind == BRANCH_INDIRECT_CALL || v->kind == BRANCH_CORETURN;
    return selects(selection, v->control && (direct || indirect), direct ? CALL_DIRECT : CALL_INDIRECT);
}

bool insn_return(const struct insn_view *v, uint32_t selection)
{
    (void)selection;
    return v->control && kind_bit(v) == IS_BRANCH_RETURN;
}

bool insn_indirect(const struct insn_view *v, uint32_t selection)
{
    (void)selection;
    return v->control && kind_bit(v) == IS_BRANCH_INDIRECT;
}

bool insn_mispredicted(const struct insn_view *v, uint32_t selection)
{
    uint32_t bit = v->conditional                    ? MISSED_CONDITIONAL
                   : kind_bit(v) == IS_BRANCH_RETURN ? MISSED_RETURN
                                                     : MISSED_INDIRECT;
    return selects(selection, v->mispredicted, bit);
}

bool insn_conditional_mispredicted(const struct insn_view *v, uint32_t selection)
{
    (void)selection;
    return insn_mispredicted(v, MISSED_CONDITIONAL);
}

bool insn_return_mispredicted(const struct insn_view *v, uint32_t selection)
{
    (void)selection;
    return insn_mispredicted(v, MISSED_RETURN);
}

bool insn_indirect_mispredicted(const struct insn_view *v, uint32_t selection)
{
    (void)selection;
    return insn_mispredicted(v, MISSED_INDIRECT);
}

bool insn_wrong_path(const struct insn_view *v, uint32_t selection)
{
    (void)selection;
    return v->wrong_path;
}
