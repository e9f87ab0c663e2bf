/* What warming notes of every instruction, and what it does for counts of the instructions that follow. */
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

/* How near a count comes, behind warming, to what it is without a break. */
enum warm_trust {
    TRUST_NEAR, /* caches and predictors decide it, and they are nearly as they would be */
    TRUST_TIME, /* the same, and it is of cycles */
    TRUST_OWN,  /* it is the program's own, the same on every core */
    TRUST_NONE  /* it is about what wrong paths brought into the caches behind the first, which warming does not know */
};

#endif
