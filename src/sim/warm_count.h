/* Counts that functional warming takes of caches, TLBs and predictors, and how far counts that are measured after
 * warming can be trusted. */
#ifndef CYCLESCOPE_SIM_WARM_COUNT_H
#define CYCLESCOPE_SIM_WARM_COUNT_H

/* Instructions that were warmed, and their misses, page walks and mispredictions; those that tell most of the cycles
 * first. */
enum warm_count {
    WARM_INSNS,
    WARM_MISPREDICTIONS,
    WARM_L2D, /* by loads */
    WARM_L1D, /* by loads */
    WARM_L1I,
    WARM_L2I,
    WARM_DATA_WALKS,
    WARM_FETCH_WALKS,
    WARM_L2D_STORES,
    WARM_L2D_LEADING, /* of WARM_L2D, those that do not overlap with an earlier one, about */
    WARM_L3,
    WARM_L1D_STORES,
    WARM_TRANSFERS, /* branches and jumps */
    WARM_CODE, /* the first of WARM_CODES: transfers at about half of all places in the code, another half for each */
    WARM_CODES = 16,
    WARM_COUNTS = WARM_CODE + WARM_CODES
};

/* How close a count that is measured after warming comes to its value in an uninterrupted detailed run. */
enum warm_trust {
    TRUST_NEAR, /* depends on caches and predictors, and warming leaves nearly the right state in them */
    TRUST_TIME, /* as TRUST_NEAR, for a count of cycles */
    TRUST_OWN,  /* depends on the program alone: the same on every core */
    TRUST_NONE  /* depends on what wrong paths brought into caches behind the first level, which warming lacks */
};

#endif
