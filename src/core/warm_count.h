/* What warming notes of every instruction. */
#ifndef CYCLESCOPE_CORE_WARM_COUNT_H
#define CYCLESCOPE_CORE_WARM_COUNT_H

/* What warm instructions did to caches, TLBs and predictors. */
enum warm_count {
    WARM_INSNS,
    WARM_L1I,
    WARM_L1D,
    WARM_L2I,
    WARM_L2D,
    WARM_L3,
    WARM_WALKS,
    WARM_MISPREDICTIONS,
    WARM_COUNTS
};

#endif
