#include "emulate/interpreter/fused.h"

static const struct fused_row *row_of(enum op_kind first)
{
    if (fused_alu[first])
        return fused_alu[first];
    return fused_load[first] ? fused_load[first] : fused_other[first];
}

op_function *interp_pair(enum op_kind first, enum op_kind second)
{
    const struct fused_row *row = row_of(first);
    return row ? row->pair[second] : NULL;
}

op_function *interp_forwarded_pair(enum op_kind first, enum op_kind second)
{
    const struct fused_row *row = row_of(first);
    return row ? row->forwarded[second] : NULL;
}
