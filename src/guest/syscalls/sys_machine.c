/* System calls that describe the machine and its kernel. The answers are the same on every host. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>

#include "guest/syscalls/syscall.h"

int64_t sys_uname(struct thread *t, const uint64_t a[6])
{
    struct utsname name;
    memset(&name, 0, sizeof name);
    strcpy(name.sysname, "Linux");
    strcpy(name.nodename, "cyclescope");
    strcpy(name.release, GUEST_RELEASE);
    strcpy(name.version, "#1 SMP");
    strcpy(name.machine, "riscv64");
    strcpy(name.domainname, "(none)");
    return guest_copy_out(t->process->memory, a[0], &name, sizeof name);
}

int64_t sys_sysinfo(struct thread *t, const uint64_t a[6])
{
    const struct process *p = t->process;
    uint64_t total = p->config.memory_limit_bytes, used = guest_resident_bytes(p->memory);
    struct sysinfo info;
    memset(&info, 0, sizeof info);
    info.uptime = (long)(process_time_ns(p) / 1000000000);
    info.totalram = total;
    info.freeram = total > used ? total - used : 0;
    info.procs = 1;
    info.mem_unit = 1;
    return guest_copy_out(p->memory, a[0], &info, sizeof info);
}

int64_t sys_getrandom(struct thread *t, const uint64_t a[6])
{
    struct process *p = t->process;
    if (a[2] & ~(uint64_t)(GRND_NONBLOCK | GRND_RANDOM | GRND_INSECURE))
        return -EINVAL;
    uint64_t length = a[1] > INT32_MAX ? INT32_MAX : a[1];
    void *to = guest_ptr(p->memory, a[0], length, PROT_WRITE);
    if (!to)
        return -EFAULT;
    random_fill(&p->random, to, length);
    return (int64_t)length;
}

/* ---- riscv_hwprobe: numbers from the kernel's asm/hwprobe.h */

enum {
    HWPROBE_MVENDORID,
    HWPROBE_MARCHID,
    HWPROBE_MIMPID,
    HWPROBE_BASE_BEHAVIOR,
    HWPROBE_IMA_EXT_0,
    HWPROBE_CPUPERF_0,
    HWPROBE_ZICBOZ_BLOCK_SIZE,
    HWPROBE_HIGHEST_VIRT_ADDRESS,
    HWPROBE_TIME_CSR_FREQ,
    HWPROBE_MISALIGNED_SCALAR_PERF,
};
enum { HWPROBE_WHICH_CPUS = 1, HWPROBE_BASE_IMA = 1, HWPROBE_MISALIGNED_FAST = 3 };
#define HWPROBE_FD          (UINT64_C(1) << 0)
#define HWPROBE_C           (UINT64_C(1) << 1)
#define HWPROBE_ZBA         (UINT64_C(1) << 3)
#define HWPROBE_ZBB         (UINT64_C(1) << 4)
#define HWPROBE_ZBS         (UINT64_C(1) << 5)
#define HWPROBE_ZICBOZ      (UINT64_C(1) << 6)
#define HWPROBE_ZBC         (UINT64_C(1) << 7)
#define HWPROBE_ZBKB        (UINT64_C(1) << 8)
#define HWPROBE_ZBKC        (UINT64_C(1) << 9)
#define HWPROBE_ZBKX        (UINT64_C(1) << 10)
#define HWPROBE_ZFH         (UINT64_C(1) << 27)
#define HWPROBE_ZFHMIN      (UINT64_C(1) << 28)
#define HWPROBE_ZFA         (UINT64_C(1) << 32)
#define HWPROBE_ZACAS       (UINT64_C(1) << 34)
#define HWPROBE_ZICOND      (UINT64_C(1) << 35)
#define HWPROBE_ZIHINTPAUSE (UINT64_C(1) << 36)
#define HWPROBE_ZCA         (UINT64_C(1) << 43)
#define HWPROBE_ZCB         (UINT64_C(1) << 44)
#define HWPROBE_ZCD         (UINT64_C(1) << 45)

static const uint64_t extensions = HWPROBE_FD | HWPROBE_C | HWPROBE_ZBA | HWPROBE_ZBB | HWPROBE_ZBS | HWPROBE_ZICBOZ |
                                   HWPROBE_ZBC | HWPROBE_ZBKB | HWPROBE_ZBKC | HWPROBE_ZBKX | HWPROBE_ZFH |
                                   HWPROBE_ZFHMIN | HWPROBE_ZFA | HWPROBE_ZACAS | HWPROBE_ZICOND | HWPROBE_ZIHINTPAUSE |
                                   HWPROBE_ZCA | HWPROBE_ZCB | HWPROBE_ZCD;

struct hwprobe_pair {
    int64_t key;
    uint64_t value;
};

/* Value of a key on this machine; key -1 if the key is unknown. */
static struct hwprobe_pair probe(int64_t key)
{
    switch (key) {
    case HWPROBE_MVENDORID:
    case HWPROBE_MARCHID:
    case HWPROBE_MIMPID: return (struct hwprobe_pair){key, 0};
    case HWPROBE_ZICBOZ_BLOCK_SIZE: return (struct hwprobe_pair){key, 64};
    case HWPROBE_BASE_BEHAVIOR: return (struct hwprobe_pair){key, HWPROBE_BASE_IMA};
    case HWPROBE_IMA_EXT_0: return (struct hwprobe_pair){key, extensions};
    case HWPROBE_CPUPERF_0:
    case HWPROBE_MISALIGNED_SCALAR_PERF: return (struct hwprobe_pair){key, HWPROBE_MISALIGNED_FAST};
    case HWPROBE_HIGHEST_VIRT_ADDRESS: return (struct hwprobe_pair){key, GUEST_STACK_TOP - 1};
    case HWPROBE_TIME_CSR_FREQ: return (struct hwprobe_pair){key, 1000000000};
    default: return (struct hwprobe_pair){-1, 0};
    }
}

/* For keys that are bit sets, all requested bits must be present; other keys must be equal. */
static bool probe_matches(const struct hwprobe_pair *asked, const struct hwprobe_pair *actual)
{
    bool bits = asked->key == HWPROBE_BASE_BEHAVIOR || asked->key == HWPROBE_IMA_EXT_0;
    return bits ? (actual->value & asked->value) == asked->value : actual->value == asked->value;
}

/* Fills in the value of each pair. With WHICH_CPUS instead keeps the one processor in the CPU set if it matches all
 * pairs. */
int64_t sys_riscv_hwprobe(struct thread *t, const uint64_t a[6])
{
    struct guest_memory *m = t->process->memory;
    bool which = a[4] & HWPROBE_WHICH_CPUS, matches = true;
    uint8_t cpus = 1;
    if (a[4] & ~(uint64_t)HWPROBE_WHICH_CPUS || (which && (a[2] == 0 || a[3] == 0)))
        return -EINVAL;
    if (a[3] != 0 && a[2] > 0 && guest_copy_in(m, &cpus, a[3], 1) < 0)
        return -EFAULT;
    for (uint64_t i = 0; i < a[1]; i++) {
        struct hwprobe_pair asked;
        uint64_t at = a[0] + i * sizeof asked;
        if (guest_copy_in(m, &asked, at, sizeof asked) < 0)
            return -EFAULT;
        struct hwprobe_pair actual = probe(asked.key);
        matches = matches && actual.key >= 0 && probe_matches(&asked, &actual);
        if ((!which || actual.key < 0) && guest_copy_out(m, at, &actual, sizeof actual) < 0)
            return -EFAULT;
    }
    if (!which)
        return cpus & 1 || a[2] == 0 ? 0 : -EINVAL;
    uint8_t *set = guest_ptr(m, a[3], a[2], PROT_READ | PROT_WRITE);
    if (!set)
        return -EFAULT;
    bool all = true; /* an empty set means all processors */
    for (uint64_t i = 0; i < a[2]; i++)
        all = all && set[i] == 0;
    uint8_t result = matches && (all || set[0] & 1);
    memset(set, 0, a[2]);
    set[0] = result;
    return 0;
}
