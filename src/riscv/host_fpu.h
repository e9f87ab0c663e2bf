/* Lends the host's floating-point unit to the guest: between host_fpu_begin and host_fpu_end the host's rounding mode
 * is frm, and the host's sticky flags are exceptions that are not in fflags yet. Requires x86-64 (MXCSR). */
#ifndef CYCLESCOPE_RISCV_HOST_FPU_H
#define CYCLESCOPE_RISCV_HOST_FPU_H

#include <stdint.h>
#include <xmmintrin.h>

#include "riscv/softfp.h"

#define MXCSR_DEFAULT 0x1f80u /* all exceptions masked, none pending, round to nearest */

/* Sets the host's rounding mode and clears its flags. MXCSR encodes RDN, RUP and RTZ as 1, 2 and 3. The host has no
 * RMM: that mode and the reserved ones round to nearest here. */
static inline void host_fpu_begin(uint32_t frm)
{
    static const uint16_t field[8] = {[RM_RNE] = 0, [RM_RTZ] = 3, [RM_RDN] = 1, [RM_RUP] = 2};
    _mm_setcsr(MXCSR_DEFAULT | (uint32_t)field[frm & 7] << 13);
}

/* Converts the flags in an MXCSR value to fflags bits. */
static inline uint32_t host_fpu_flags(uint32_t mxcsr)
{
    return (mxcsr & 0x01 ? FF_NV : 0) | (mxcsr & 0x04 ? FF_DZ : 0) | (mxcsr & 0x08 ? FF_OF : 0) |
           (mxcsr & 0x10 ? FF_UF : 0) | (mxcsr & 0x20 ? FF_NX : 0);
}

/* Returns the pending flags as fflags bits, clears them, and restores the host's default rounding mode. */
static inline uint32_t host_fpu_end(void)
{
    uint32_t flags = host_fpu_flags(_mm_getcsr());
    _mm_setcsr(MXCSR_DEFAULT);
    return flags;
}

#endif
