/* Contents of special files in /proc and /sys: the guest's process, and a machine that is the same on every host. */
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "guest/file_view.h"
#include "guest/files_priv.h"

#define TICK_NS              10000000            /* length of a clock tick, USER_HZ = 100 */
#define ASSUMED_MEMORY_BYTES (UINT64_C(8) << 30) /* MemTotal if the memory limit is 0 or higher than this */

static const char *program_name(const struct process *p)
{
    if (p->threads && p->threads->name[0] != '\0')
        return p->threads->name;
    const char *slash = strrchr(p->exe, '/');
    return slash ? slash + 1 : p->exe;
}

static uint64_t mapped_bytes(const struct process *p)
{
    uint64_t sum = 0;
    const struct guest_area *a = guest_area_at_or_above(p->memory, 0);
    for (; a; a = guest_area_at_or_above(p->memory, a->end))
        sum += a->end - a->start;
    return sum;
}

static const struct guest_area *named_area(const struct process *p, const char *name)
{
    const struct guest_area *a = guest_area_at_or_above(p->memory, 0);
    while (a && !(a->name && strcmp(a->name, name) == 0))
        a = guest_area_at_or_above(p->memory, a->end);
    return a;
}

static unsigned thread_count(const struct process *p)
{
    unsigned count = 0;
    for (const struct thread *t = p->threads; t; t = t->next)
        count += !t->exited;
    return count;
}

void proc_cmdline(const struct process *p, FILE *out)
{
    if (p->cmdline)
        fwrite(p->cmdline, 1, p->cmdline_bytes, out);
}

void proc_comm(const struct process *p, FILE *out)
{
    fprintf(out, "%.15s\n", program_name(p));
}

void proc_cpuinfo(const struct process *p, FILE *out)
{
    (void)p;
    fputs("processor\t: 0\n"
          "hart\t\t: 0\n"
          "isa\t\t: "
          "rv64imafdc_zicbop_zicboz_zicond_zicsr_zifencei_zihintpause_zacas_zfa_zfh_zfhmin_zca_zcb_zcd_zba_zbb_zbc_"
          "zbkb_zbkc_zbkx_zbs\n"
          "mmu\t\t: sv39\n"
          "uarch\t\t: cyclescope\n\n",
          out);
}

/* As in Linux, reads the current contents of guest memory, which setproctitle may have overwritten. */
void proc_environ(const struct process *p, FILE *out)
{
    uint64_t length = p->env_end - p->env_start;
    const void *strings = guest_ptr(p->memory, p->env_start, length, PROT_READ);
    if (strings)
        fwrite(strings, 1, length, out);
}

void proc_filesystems(const struct process *p, FILE *out)
{
    (void)p;
    fputs("nodev\tproc\nnodev\ttmpfs\n\text4\n", out);
}

void proc_loadavg(const struct process *p, FILE *out)
{
    fprintf(out, "0.00 0.00 0.00 1/%u %d\n", thread_count(p), p->pid);
}

/* The name of a mapping as the guest sees it: `name` or `room`. */
static const char *shown_name(const struct process *p, const char *name, char room[PATH_MAX])
{
    if (name[0] != '/' || strlen(name) >= PATH_MAX)
        return name;
    strcpy(room, name);
    if (strcmp(name, p->exe) != 0 || !p->exe_absolute)
        files_show(p->files, room);
    return room;
}

void proc_maps(const struct process *p, FILE *out)
{
    char name[PATH_MAX];
    const struct guest_area *a = guest_area_at_or_above(p->memory, 0);
    for (; a; a = guest_area_at_or_above(p->memory, a->end)) {
        int n = fprintf(out, "%08" PRIx64 "-%08" PRIx64 " %c%c%c%c %08" PRIx64 " %02x:%02x %" PRIu64 " ", a->start,
                        a->end, a->prot & PROT_READ ? 'r' : '-', a->prot & PROT_WRITE ? 'w' : '-',
                        a->prot & PROT_EXEC ? 'x' : '-', a->flags & MAP_SHARED ? 's' : 'p', a->offset, a->inode ? 8 : 0,
                        a->inode ? 1 : 0, a->inode ? file_number((struct process *)p, a->dev, a->inode) : 0);
        if (a->name)
            fprintf(out, "%*s%s", n < 73 ? 73 - n : 0, "", shown_name(p, a->name, name));
        fputc('\n', out);
    }
}

void proc_meminfo(const struct process *p, FILE *out)
{
    uint64_t total = p->config.memory_limit_bytes;
    if (total == 0 || total > ASSUMED_MEMORY_BYTES)
        total = ASSUMED_MEMORY_BYTES;
    uint64_t used = guest_resident_bytes(p->memory), free = total > used ? total - used : 0;
    const struct {
        const char *name;
        uint64_t bytes;
    } rows[] = {
        {"MemTotal:", total}, {"MemFree:", free}, {"MemAvailable:", free}, {"Buffers:", 0},
        {"Cached:", 0},       {"SwapCached:", 0}, {"Active:", used},       {"Inactive:", 0},
        {"SwapTotal:", 0},    {"SwapFree:", 0},   {"Shmem:", 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        fprintf(out, "%-15s%9" PRIu64 " kB\n", rows[i].name, rows[i].bytes / 1024);
}

void proc_osrelease(const struct process *p, FILE *out)
{
    (void)p;
    fprintf(out, "%s\n", GUEST_RELEASE);
}

void proc_ostype(const struct process *p, FILE *out)
{
    (void)p;
    fputs("Linux\n", out);
}

void proc_version(const struct process *p, FILE *out)
{
    (void)p;
    fprintf(out, "Linux version %s (cyclescope) #1 SMP\n", GUEST_RELEASE);
}

void proc_overcommit(const struct process *p, FILE *out)
{
    (void)p;
    fputs("0\n", out);
}

/* Writes the 52 fields of proc(5). Fields without a meaning here are 0. */
void proc_self_stat(const struct process *p, FILE *out)
{
    const struct guest_area *stack = named_area(p, "[stack]");
    uint64_t ticks = process_time_ns(p) / TICK_NS;
    fprintf(out, "%d (%.15s) R %d %d %d 0 -1 4194304 0 0 0 0 ", p->pid, program_name(p), p->ppid,
            family_group_to_guest(p->family, getpgrp()), family_group_to_guest(p->family, getsid(0)));
    fprintf(out, "%" PRIu64 " 0 0 0 20 %d %u 0 0 ", ticks, p->nice, thread_count(p));
    fprintf(out, "%" PRIu64 " %" PRIu64 " 18446744073709551615 ", mapped_bytes(p),
            guest_resident_bytes(p->memory) / GUEST_PAGE);
    fprintf(out, "0 0 %" PRIu64 " 0 0 0 0 0 0 0 0 0 17 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n", stack ? stack->end : 0);
}

void proc_self_statm(const struct process *p, FILE *out)
{
    uint64_t size = mapped_bytes(p) / GUEST_PAGE, resident = guest_resident_bytes(p->memory) / GUEST_PAGE;
    fprintf(out, "%" PRIu64 " %" PRIu64 " 0 0 0 %" PRIu64 " 0\n", size, resident, resident);
}

void proc_self_status(const struct process *p, FILE *out)
{
    uint64_t size = mapped_bytes(p) / 1024, resident = guest_resident_bytes(p->memory) / 1024;
    const struct user_ids u = process_user(p);
    fprintf(out, "Name:\t%.15s\nUmask:\t%04o\nState:\tR (running)\n", program_name(p), (unsigned)p->files->umask);
    fprintf(out, "Tgid:\t%d\nNgid:\t0\nPid:\t%d\nPPid:\t%d\nTracerPid:\t0\n", p->pid, p->pid, p->ppid);
    fprintf(out, "Uid:\t%u\t%u\t%u\t%u\nGid:\t%u\t%u\t%u\t%u\nFDSize:\t%d\nGroups:\t\n", u.uid, u.euid, u.euid, u.euid,
            u.gid, u.egid, u.egid, u.egid, 64);
    fprintf(out, "VmPeak:\t%8" PRIu64 " kB\nVmSize:\t%8" PRIu64 " kB\n", size, size);
    fprintf(out, "VmHWM:\t%8" PRIu64 " kB\nVmRSS:\t%8" PRIu64 " kB\n", resident, resident);
    fprintf(out, "Threads:\t%u\n", thread_count(p));
    if (p->threads)
        fprintf(out,
                "SigPnd:\t%016" PRIx64 "\nShdPnd:\t%016" PRIx64 "\nSigBlk:\t%016" PRIx64 "\nSigIgn:\t%016" PRIx64 "\n",
                p->threads->pending.set, p->pending.set, p->threads->blocked, p->ignored);
    fputs("Cpus_allowed:\t1\nCpus_allowed_list:\t0\n", out);
}

void proc_stat(const struct process *p, FILE *out)
{
    uint64_t ticks = process_time_ns(p) / TICK_NS;
    uint64_t boot_ns = process_wall_clock_ns(p) - process_time_ns(p);
    for (int i = 0; i < 2; i++)
        fprintf(out, "cpu%s %" PRIu64 " 0 0 0 0 0 0 0 0 0\n", i == 0 ? " " : "0", ticks);
    fprintf(out, "intr 0\nctxt 0\nbtime %" PRIu64 "\nprocesses 1\nprocs_running 1\nprocs_blocked 0\n",
            boot_ns / 1000000000);
}

void proc_uptime(const struct process *p, FILE *out)
{
    uint64_t ns = process_time_ns(p);
    fprintf(out, "%" PRIu64 ".%02" PRIu64 " 0.00\n", ns / 1000000000, ns / 10000000 % 100);
}

void sys_cpu_list(const struct process *p, FILE *out)
{
    (void)p;
    fputs("0\n", out);
}
