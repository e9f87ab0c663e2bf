/* The host's floating-point unit in the guest's service: its rounding mode is frm, its sticky flags are fflags to be.
 */
#ifndef CYCLESCOPE_RISCV_HOST_FPU_H
#define CYCLESCOPE_RISCV_HOST_FPU_H

#include <stdint.h>
#include <xmmintrin.h>

#include "riscv/softfp.h"

#define MXCSR_DEFAULT 0x1f80u /* all exceptions masked, none pending, to nearest */

/* MXCSR's rounding field has RDN and RUP as 1 and 2, RTZ as 3. RMM is not done by the host. */
static inline void host_fpu_begin(uint32_t frm)
{
    static const uint16_t field[8] = {[RM_RNE] = 0, [RM_RTZ] = 3, [RM_RDN] = 1, [RM_RUP] = 2};
    _mm_setcsr(MXCSR_DEFAULT | (uint32_t)field[frm & 7] << 13);
}

/* The flags in an MXCSR value, as fflags bits. */
static inline uint32_t host_fpu_flags(uint32_t mxcsr)
{
    return (mxcsr & 0x01 ? FF_NV : 0) | (mxcsr & 0x04 ? FF_DZ : 0) | (mxcsr & 0x08 ? FF_OF : 0) |
           (mxcsr & 0x10 ? FF_UF : 0) | (mxcsr & 0x20 ? FF_NX : 0);
}

/* Takes the pending flags; the mode is the host's default afterwards. */
static inline uint32_t host_fpu_end(void)
{
    uint32_t flags = host_fpu_flags(_mm_getcsr());
    _mm_setcsr(MXCSR_DEFAULT);
    return flags;
}

#endif
