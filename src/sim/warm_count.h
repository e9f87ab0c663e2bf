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

/* Functional warming sees neither the wrong path nor the order of execution, so caches and predictors differ from those
 * of a detailed run. A second measurement of windows after longer warming shows a part of that; the second cache fills
 * with what wrong paths bring more slowly. These are the shares of all cycles, and of a count of misses, mispredictions
 * and similar events, that estimates can be off besides. */
#define WARM_CYCLES_ERROR 0.003
#define WARM_COUNT_ERROR  0.01

/* How close a count that is measured after warming comes to its value in an uninterrupted detailed run. */
enum warm_trust {
    TRUST_NEAR, /* depends on caches and predictors, and warming leaves nearly the right state in them */
    TRUST_TIME, /* as TRUST_NEAR, for a count of cycles */
    TRUST_OWN,  /* depends on the program alone: the same on every core */
    TRUST_NONE  /* depends on what wrong paths brought into caches behind the first level, which warming lacks */
};

#endif
