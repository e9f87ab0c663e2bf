#include "emulate/interpreter/fused.h"

#if !TRAMPOLINE
FUSED_FIRST_LOAD(WRITER_ROW)
const struct fused_row *const fused_load[OP_KINDS] = {FUSED_FIRST_LOAD(FUSED_ROW_OF)};
#else
const struct fused_row *const fused_load[OP_KINDS] = {NULL};
#endif
