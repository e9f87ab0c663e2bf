/* Instructions that the assembler of Debian 12 does not know, in the form of their bits: Zcb, Zfa, Zacas and Zicboz. */
/* not for qemu: 7.2 does not know them */
#include <stdint.h>
#include <string.h>

#include "check.h"

/* A 16-bit instruction on a0 and a1: rd' or rs1' a0 is 2 in bits 9:7, rs2' a1 is 3 in bits 4:2. */
#define NARROW(bits, first, second)                                                                                    \
    ({                                                                                                                 \
        register uint64_t a0 __asm__("a0") = (uint64_t)(first);                                                        \
        register uint64_t a1 __asm__("a1") = (uint64_t)(second);                                                       \
        __asm__ volatile(".2byte " #bits : "+r"(a0), "+r"(a1) : : "memory");                                           \
        (struct pair){a0, a1};                                                                                         \
    })
struct pair {
    uint64_t a0, a1;
};

static void test_zcb(void)
{
    uint64_t v = UINT64_C(0x8899aabbccddf6f7);
    CHECK(NARROW(0x9d61, v, 0).a0 == 0xf7);                         /* c.zext.b a0 */
    CHECK(NARROW(0x9d65, v, 0).a0 == UINT64_C(0xfffffffffffffff7)); /* c.sext.b a0 */
    CHECK(NARROW(0x9d69, v, 0).a0 == 0xf6f7);                       /* c.zext.h a0 */
    CHECK(NARROW(0x9d6d, v, 0).a0 == UINT64_C(0xfffffffffffff6f7)); /* c.sext.h a0 */
    CHECK(NARROW(0x9d71, v, 0).a0 == UINT64_C(0xccddf6f7));         /* c.zext.w a0 */
    CHECK(NARROW(0x9d75, v, 0).a0 == ~v);                           /* c.not a0 */
    CHECK(NARROW(0x9d4d, v, 7).a0 == v * 7);                        /* c.mul a0, a1 */
    uint8_t bytes[8] = {0x11, 0x82, 0x93, 0xa4, 0, 0, 0, 0};
    CHECK(NARROW(0x810c, bytes, 0).a1 == 0x11);                         /* c.lbu a1, 0(a0) */
    CHECK(NARROW(0x814c, bytes, 0).a1 == 0x82);                         /* c.lbu a1, 1(a0) */
    CHECK(NARROW(0x812c, bytes, 0).a1 == 0x93);                         /* c.lbu a1, 2(a0) */
    CHECK(NARROW(0x852c, bytes, 0).a1 == 0xa493);                       /* c.lhu a1, 2(a0) */
    CHECK(NARROW(0x856c, bytes, 0).a1 == UINT64_C(0xffffffffffffa493)); /* c.lh a1, 2(a0) */
    NARROW(0x896c, bytes, 0x1234);                                      /* c.sb a1, 3(a0) */
    CHECK(bytes[3] == 0x34);
    NARROW(0x8d0c, bytes, 0xabcd); /* c.sh a1, 0(a0) */
    CHECK(bytes[0] == 0xcd && bytes[1] == 0xab && bytes[2] == 0x93);
}

/* amocas on a0: a2 (and a3) is rd, a4 (and a5) is rs2. */
#define CAS(bits, at, expected, expected_upper, desired, desired_upper)                                                \
    ({                                                                                                                 \
        register void *a0 __asm__("a0") = (at);                                                                        \
        register uint64_t a2 __asm__("a2") = (expected);                                                               \
        register uint64_t a3 __asm__("a3") = (expected_upper);                                                         \
        register uint64_t a4 __asm__("a4") = (desired);                                                                \
        register uint64_t a5 __asm__("a5") = (desired_upper);                                                          \
        __asm__ volatile(".4byte " #bits : "+r"(a2), "+r"(a3) : "r"(a0), "r"(a4), "r"(a5) : "memory");                 \
        (struct pair){a2, a3};                                                                                         \
    })

static void test_zacas(void)
{
    _Alignas(16) uint64_t at[2] = {UINT64_C(0x1111111180000001), 7};
    struct pair got = CAS(0x28e5262f, at, 0x80000001, 9, 5, 0); /* amocas.w a2, a4, (a0) */
    CHECK(got.a0 == UINT64_C(0xffffffff80000001) && got.a1 == 9 && at[0] == UINT64_C(0x1111111100000005));
    got = CAS(0x28e5262f, at, 6, 9, 8, 0);
    CHECK(got.a0 == 5 && at[0] == UINT64_C(0x1111111100000005));
    got = CAS(0x28e5362f, at, UINT64_C(0x1111111100000005), 9, 42, 0); /* amocas.d a2, a4, (a0) */
    CHECK(got.a0 == UINT64_C(0x1111111100000005) && at[0] == 42 && at[1] == 7);
    got = CAS(0x28e5362f, at, 41, 9, 43, 0);
    CHECK(got.a0 == 42 && at[0] == 42);
    got = CAS(0x28e5462f, at, 42, 8, 1, 2); /* amocas.q a2, a4, (a0): the upper half differs */
    CHECK(got.a0 == 42 && got.a1 == 7 && at[0] == 42 && at[1] == 7);
    got = CAS(0x28e5462f, at, 42, 7, 1, 2);
    CHECK(got.a0 == 42 && got.a1 == 7 && at[0] == 1 && at[1] == 2);
    at[0] = at[1] = 0;
    got = CAS(0x28e5402f, at, 3, 4, 5, 6); /* with x0 as rd: expects zero, changes no register */
    CHECK(got.a0 == 3 && got.a1 == 4 && at[0] == 5 && at[1] == 6);
    got = CAS(0x2805462f, at, 5, 6, 1, 1); /* with x0 as rs2: stores zeros */
    CHECK(got.a0 == 5 && got.a1 == 6 && at[0] == 0 && at[1] == 0);
}

static void test_zicboz(void)
{
    _Alignas(64) static uint8_t block[192];
    memset(block, 0xff, sizeof block);
    register uint8_t *a0 __asm__("a0") = block + 64 + 37;
    __asm__ volatile(".4byte 0x0045200f" : : "r"(a0) : "memory"); /* cbo.zero (a0) */
    for (unsigned i = 0; i < sizeof block; i++)
        CHECK(block[i] == (i >= 64 && i < 128 ? 0 : 0xff));
}

/* fa0 = operation(fa0, fa1), or a0. */
#define FLOAT(bits, first, second)                                                                                     \
    ({                                                                                                                 \
        register double fa0 __asm__("fa0") = (first);                                                                  \
        register double fa1 __asm__("fa1") = (second);                                                                 \
        register int64_t a0 __asm__("a0") = 99;                                                                        \
        __asm__ volatile(".4byte " #bits : "+f"(fa0), "+r"(a0) : "f"(fa1));                                            \
        (struct result){fa0, a0};                                                                                      \
    })
struct result {
    double fa0;
    int64_t a0;
};

static void test_zfa(void)
{
    double nan = __builtin_nan("");
    CHECK(FLOAT(0xf2180553, 0, 0).fa0 == 1.0);     /* fli.d fa0, 1.0: number 16 */
    CHECK(FLOAT(0xf2100553, 0, 0).fa0 == -1.0);    /* fli.d fa0, -1.0: number 0 */
    CHECK(FLOAT(0x42450553, 2.5, 0).fa0 == 2.0);   /* fround.d fa0, fa0, rne */
    CHECK(FLOAT(0x42454553, 2.5, 0).fa0 == 3.0);   /* fround.d fa0, fa0, rmm */
    CHECK(FLOAT(0x42552553, -2.5, 0).fa0 == -3.0); /* froundnx.d fa0, fa0, rdn */
    CHECK(FLOAT(0x2ab52553, 1.0, nan).fa0 != 0 && FLOAT(0x2ab52553, 1.0, nan).fa0 != 1.0); /* fminm.d: NaN */
    CHECK(FLOAT(0x2ab53553, 1.0, 2.0).fa0 == 2.0);                                         /* fmaxm.d fa0, fa0, fa1 */
    CHECK(FLOAT(0xa2b54553, 1.0, 1.0).a0 == 1);                                            /* fleq.d a0, fa0, fa1 */
    CHECK(FLOAT(0xa2b55553, 1.0, 1.0).a0 == 0);                                            /* fltq.d a0, fa0, fa1 */
    CHECK(FLOAT(0xa2b55553, nan, 1.0).a0 == 0);
    CHECK(FLOAT(0xc2851553, 4294967301.75, 0).a0 == 5); /* fcvtmod.w.d a0, fa0, rtz */
    CHECK(FLOAT(0xc2851553, -6442450945.0, 0).a0 == 0x7fffffff);
}

int main(void)
{
    test_zcb();
    test_zacas();
    test_zicboz();
    test_zfa();
    return check_result();
}
