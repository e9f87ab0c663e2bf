#include "emulate/interpreter/fused.h"

#if !TRAMPOLINE
FUSED_FIRST_ALU(WRITER_ROW)
const struct fused_row *const fused_alu[OP_KINDS] = {FUSED_FIRST_ALU(FUSED_ROW_OF)};
#else
const struct fused_row *const fused_alu[OP_KINDS] = {NULL};
#endif
