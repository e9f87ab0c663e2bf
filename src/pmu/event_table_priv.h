/* Shared by the files of the event table: the functions that rows of event.def refer to, and the mask bits that these
 * functions know. event.def has the rows, event_table.c the names of mask bits. */
#ifndef CYCLESCOPE_PMU_EVENT_TABLE_PRIV_H
#define CYCLESCOPE_PMU_EVENT_TABLE_PRIV_H

#include "pmu/event_source.h"

/* Bits of masks, by criterion. */
enum { OF_BYTE = 1, OF_HALF = 2, OF_WORD = 4, OF_DOUBLE = 8 };                     /* size of an access */
enum { OF_LR = 1, OF_SC = 2, OF_AMO = 4 };                                         /* atomics */
enum { BY_FETCH = 1, BY_LOAD = 2, BY_STORE = 4, BY_PREFETCH = 8 };                 /* who accesses a cache */
enum { DATA_LOAD = 1, DATA_STORE = 2 };                                            /* who accesses data */
enum { SIDE_FETCH = 1, SIDE_DATA = 2 };                                            /* for instructions or data */
enum { WAS_CLEAN = 1, WAS_DIRTY = 2 };                                             /* state of an evicted line */
enum { AT_L1I = 1, AT_L1D = 2, AT_L2 = 4, AT_L3 = 8 };                             /* level */
enum { WROTE_L1D = 1, WROTE_L2 = 2, WROTE_L3 = 4 };                                /* level that evicts a dirty line */
enum { OF_L1I = 1, OF_L1D = 2, OF_L2I = 4, OF_L2D = 8, OF_L3I = 16, OF_L3D = 32 }; /* level and side */
enum { FROM_L1 = 1, FROM_LOWER = 2, FROM_MEMORY = 4, FROM_STORE = 8 };             /* source of a load's data */
enum { FOR_OVERLAP = 1, FOR_MSHR = 2, FOR_TLB = 4 };                               /* why an access is rejected */
enum { BUS_READ = 1, BUS_WRITE = 2 };
enum {
    IS_BRANCH_CONDITIONAL = 1,
    IS_BRANCH_JUMP = 2,
    IS_BRANCH_CALL = 4,
    IS_BRANCH_INDIRECT = 8,
    IS_BRANCH_RETURN = 16,
    IS_BRANCH_OTHER = 30
};
enum { WAS_TAKEN = 1, WAS_NOT_TAKEN = 2 };
enum { MISSED_CONDITIONAL = 1, MISSED_INDIRECT = 2, MISSED_RETURN = 4 }; /* kinds that can be mispredicted */
enum { CALL_DIRECT = 1, CALL_INDIRECT = 2 };
enum {
    WAITS_L1 = 1,
    WAITS_LOWER = 2,
    WAITS_MEMORY = 4,
    WAITS_WALKED = 8
};                                      /* source of the data that the oldest instruction waits for */
enum { WAITS_ALU = 1, WAITS_LONG = 2 }; /* integer unit that the oldest instruction is in */

/* Mask bit of a reason (core.h). Masks of stalls have no bit for reason 0, which means no stall. */
#define REASON_BIT(r) (1u << (r))
#define STALL_BIT(r)  (1u << ((r)-1))

/* ---- event_insn.c: predicates of instructions, in the order of event.def */
insn_predicate insn_any, insn_of_class, insn_load, insn_store, insn_atomic, insn_fp, insn_integer, insn_system_call,
    insn_fence, insn_csr, insn_prefetch, insn_compressed, insn_misaligned;
insn_predicate insn_l1i_missed, insn_l2i_missed, insn_itlb_missed, insn_l1d_missed, insn_l2d_missed, insn_dtlb_missed,
    insn_load_dtlb_missed, insn_store_dtlb_missed, insn_load_source, insn_forwarded, insn_rejected,
    insn_off_stride_addr, insn_off_stride_value;
insn_predicate insn_branch, insn_conditional, insn_taken, insn_not_taken, insn_call, insn_return, insn_indirect,
    insn_mispredicted, insn_conditional_mispredicted, insn_return_mispredicted, insn_indirect_mispredicted,
    insn_misfetched, insn_wrong_path;

/* ---- event_cycle.c: values of cycle records */
cycle_value cycle_each, cycle_fetched, cycle_dispatched, cycle_issued, cycle_committed, cycle_dispatched_wrong,
    cycle_issued_wrong, cycle_wrong_path;
cycle_value cycle_fetch_stop, cycle_dispatch_stop, cycle_issue_stop, cycle_commit_stop;
cycle_value cycle_fetch_stall, cycle_dispatch_stall, cycle_issue_stall, cycle_commit_stall, cycle_head_stall;
cycle_value cycle_front_end_stall, cycle_back_end_stall, cycle_completes, cycle_moves, cycle_window_empty,
    cycle_window_entered, cycle_data_stall, cycle_translation_stall, cycle_reject_stall, cycle_integer_stall,
    cycle_fpu_stall, cycle_turn_stall, cycle_store_stall, cycle_stall_part;
cycle_value cycle_rob_blocked, cycle_rob_starved, cycle_window_blocked, cycle_window_starved, cycle_window_open;
cycle_value cycle_rob_occupancy, cycle_rob_full, cycle_rob_empty, cycle_fetches, cycle_dispatches, cycle_issues,
    cycle_iq_full, cycle_lsq_full, cycle_registers_full, cycle_store_buffer_full, cycle_units_taken;

#endif
