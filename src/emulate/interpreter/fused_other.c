#include "emulate/interpreter/fused.h"

#if !TRAMPOLINE
FUSED_FIRST_OTHER(PLAIN_ROW)
FUSED_FIRST_ROUNDED(ROUNDED_ROW)
FUSED_FIRST_BRANCH(BRANCH_ROW)
const struct fused_row *const fused_other[OP_KINDS] = {FUSED_FIRST_OTHER(FUSED_ROW_OF) FUSED_FIRST_ROUNDED(FUSED_ROW_OF)
                                                           FUSED_FIRST_BRANCH(FUSED_ROW_OF)};
#else
const struct fused_row *const fused_other[OP_KINDS] = {NULL};
#endif
