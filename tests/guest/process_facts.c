/* What a process can ask about itself and the machine. */
#include <elf.h>
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "check.h"

static void auxiliary_vector(char **argv)
{
    CHECK(getauxval(AT_PAGESZ) == 4096);
    CHECK(getauxval(AT_CLKTCK) == 100);
    unsigned long gc = 0;
    for (const char *letter = "IMAFDC"; *letter; letter++)
        gc |= 1ul << (*letter - 'A');
    CHECK((getauxval(AT_HWCAP) & gc) == gc);
    CHECK(getauxval(AT_SECURE) == 0);
    CHECK(getauxval(AT_UID) == getuid() && getauxval(AT_EGID) == getegid());
    CHECK(getauxval(AT_RANDOM) != 0 && getauxval(AT_PHENT) == sizeof(Elf64_Phdr));
    const Elf64_Phdr *headers = (const Elf64_Phdr *)getauxval(AT_PHDR);
    CHECK(headers != NULL && getauxval(AT_PHNUM) > 0);
    int loads = 0;
    for (unsigned long i = 0; i < getauxval(AT_PHNUM); i++)
        loads += headers[i].p_type == PT_LOAD;
    CHECK(loads > 0);
    CHECK((unsigned long)argv % 8 == 0 && ((unsigned long)argv - 8) % 16 == 0);
    CHECK(strstr((const char *)getauxval(AT_EXECFN), "process_facts") != NULL);
}

static void names_and_ids(void)
{
    struct utsname name;
    char thread[16] = "";
    CHECK(uname(&name) == 0 && strcmp(name.sysname, "Linux") == 0 && strcmp(name.machine, "riscv64") == 0);
    CHECK(getpid() > 0 && getppid() > 0 && gettid() == getpid());
    CHECK(getpgid(0) == getpgrp() && getsid(0) >= 0); /* 0: its leader lives in another pid namespace */
    uid_t r, e, s;
    CHECK(getresuid(&r, &e, &s) == 0 && r == getuid() && e == geteuid());
    CHECK(prctl(PR_SET_NAME, "a name that is too long") == 0);
    CHECK(prctl(PR_GET_NAME, thread) == 0 && strcmp(thread, "a name that is ") == 0);
    CHECK(getgroups(0, NULL) >= 0);
}

static void limits(void)
{
    struct rlimit limit, again;
    CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur >= 256);
    CHECK(getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur >= 1 << 20);
    CHECK(getrlimit(RLIMIT_CORE, &limit) == 0);
    limit.rlim_cur = 0;
    CHECK(setrlimit(RLIMIT_CORE, &limit) == 0);
    CHECK(getrlimit(RLIMIT_CORE, &again) == 0 && again.rlim_cur == 0);
    CHECK(getrlimit(1000, &limit) == -1 && errno == EINVAL);
}

static void machine(void)
{
    struct sysinfo info;
    unsigned char one[32], two[32];
    cpu_set_t cpus;
    CHECK(sysinfo(&info) == 0 && info.totalram > 0);
    CHECK(getrandom(one, sizeof one, 0) == sizeof one && getrandom(two, sizeof two, 0) == sizeof two);
    CHECK(memcmp(one, two, sizeof one) != 0);
    CHECK(sched_getaffinity(0, sizeof cpus, &cpus) == 0 && CPU_COUNT(&cpus) >= 1);
    CHECK(sysconf(_SC_NPROCESSORS_ONLN) >= 1);
    CHECK(sched_get_priority_max(SCHED_FIFO) == 99 && sched_get_priority_min(SCHED_OTHER) == 0);
    CHECK(sched_yield() == 0);
}

static void memory_calls(void)
{
    char *start = sbrk(0), *page;
    CHECK(sbrk(100000) == start);
    start[99999] = 1;
    CHECK(brk(start) == 0);
    page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    unsigned char resident[2];
    page[0] = page[4096] = 1;
    CHECK(mincore(page, 8192, resident) == 0 && resident[0] & 1);
    CHECK(mlock(page, 8192) == 0 && munlock(page, 8192) == 0);
    CHECK(munmap(page, 8192) == 0 && mincore(page, 8192, resident) == -1 && errno == ENOMEM);
    CHECK(mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, 99, 0) == MAP_FAILED && errno == EBADF);
}

int main(int argc, char **argv)
{
    (void)argc;
    auxiliary_vector(argv);
    names_and_ids();
    limits();
    machine();
    memory_calls();
    return check_result();
}
