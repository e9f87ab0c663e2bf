/* syscalls SEED CALLS: random system calls with random arguments that often fit their types. It runs isolated in a
 * folder of its own. Whatever it does to itself is fine, also its death; the emulator must survive, and the host must
 * not notice.
 *
 * An interval timer interrupts calls that wait. Calls that could stop the timer, and calls that end or replace the
 * program at once, are left out; forks are made by fork_a_child. */
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

static uint64_t state;

static uint64_t draw(uint64_t below)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (state >> 11) % below;
}

/* Kinds of arguments, by letter. Calls that are not listed get `?` for all. */
static const struct {
    short number;
    const char *arguments;
} shapes[] = {
    {5, "sspni"},    {6, "sspni"},   {7, "fspni"},    {8, "sspn"},     {9, "sspn"},     {10, "fspn"},   {11, "spn"},
    {12, "spn"},     {13, "fpn"},    {14, "ss"},      {15, "ss"},      {16, "fs"},      {17, "pn"},     {19, "ii"},
    {20, "i"},       {21, "fifp"},   {22, "fpnim0"},  {23, "f"},       {24, "ffi"},     {25, "fcn"},    {26, "i"},
    {27, "fsi"},     {28, "fi"},     {29, "fqp"},     {32, "fi"},      {33, "dsi0"},    {34, "dsi"},    {35, "dsi"},
    {36, "sds"},     {37, "dsdsi"},  {43, "sp"},      {44, "fp"},      {45, "so"},      {46, "fo"},     {47, "fioo"},
    {48, "dsi"},     {49, "s"},      {50, "f"},       {52, "fi"},      {53, "dsi"},     {54, "dsiii"},  {55, "fii"},
    {56, "dsOi"},    {57, "f"},      {59, "pi"},      {61, "fpn"},     {62, "foi"},     {63, "fpn"},    {64, "fpn"},
    {65, "fvi"},     {66, "fvi"},    {67, "fpno"},    {68, "fpno"},    {69, "fvio"},    {70, "fvio"},   {71, "ffpn"},
    {72, "ipppt0"},  {73, "pitm8"},  {74, "fm8i"},    {75, "fvii"},    {76, "fpfpni"},  {77, "ffni"},   {78, "dspn"},
    {79, "dspi"},    {80, "fp"},     {82, "f"},       {83, "f"},       {84, "fooi"},    {85, "ii"},     {86, "fitp"},
    {87, "fp"},      {88, "dsti"},   {90, "pp"},      {95, "ippip"},   {98, "aiitpi"},  {99, "pn"},     {100, "ipp"},
    {101, "tp"},     {107, "ipp"},   {108, "ip"},     {110, "iipp"},   {113, "ip"},     {114, "ip"},    {115, "iitp"},
    {129, "Pg"},     {130, "Pg"},    {131, "PPg"},    {132, "pp"},     {133, "m8"},     {134, "gpp8"},  {135, "imp8"},
    {136, "pn"},     {137, "mpt8"},  {138, "Pgp"},    {153, "p"},      {154, "PP"},     {155, "P"},     {156, "P"},
    {163, "ip"},     {164, "ip"},    {165, "ip"},     {167, "ipppp"},  {168, "ppp"},    {169, "pp"},    {179, "p"},
    {186, "ii"},     {187, "iip"},   {188, "ipnii"},  {189, "ipni"},   {190, "iii"},    {191, "iiip"},  {192, "ipnt"},
    {193, "ipn"},    {194, "ini"},   {195, "iip"},    {196, "iai"},    {197, "a"},      {198, "iii"},   {199, "1iip"},
    {200, "fpn"},    {201, "fi"},    {202, "fpp"},    {203, "fpn"},    {204, "fpp"},    {205, "fpp"},   {206, "fpnipn"},
    {207, "fpnipp"}, {208, "fiipn"}, {209, "fiipp"},  {210, "fi"},     {211, "fhi"},    {212, "fhi"},   {213, "fon"},
    {214, "a"},      {215, "an"},    {216, "annia"},  {222, "anijfo"}, {223, "foni"},   {226, "ani"},   {227, "ani"},
    {228, "an"},     {229, "an"},    {232, "anp"},    {233, "ani"},    {240, "PPgp"},   {242, "fppi"},  {243, "fhiit"},
    {258, "pnipi"},  {259, "aai"},   {260, "Ppip"},   {261, "Pipp"},   {269, "fhii"},   {276, "dsdsi"}, {278, "pni"},
    {279, "si"},     {284, "ani"},   {285, "fpfpni"}, {286, "fviooi"}, {287, "fviooi"}, {291, "dsiip"}, {424, "fgpi"},
    {434, "Pi"},     {436, "fii"},   {437, "dspn"},   {439, "dsii"},   {441, "fpitm8"}, {452, "dsii"},
};

enum { ARENA = 64 * 4096, PATHS = 12 };

static char *arena;        /* memory that calls may change as they like */
static uint64_t empty_set; /* a signal mask that blocks nothing */
static const char *const paths[PATHS] = {"a",
                                         "b",
                                         "folder",
                                         "folder/c",
                                         "/proc/self/maps",
                                         "/proc/self/fd/3",
                                         "link",
                                         "/dev/null",
                                         "/dev/urandom",
                                         "/proc/self/exe",
                                         "..",
                                         "fifo"};

static uint64_t hostile(void)
{
    static const uint64_t values[] = {0,
                                      1,
                                      0xfff,
                                      0x10000,
                                      1ull << 38,
                                      (1ull << 38) - 8,
                                      1ull << 47,
                                      ~0ull,
                                      ~0ull - 7,
                                      0x8000000000000000,
                                      0x7fffffffffffffff,
                                      0xffffffff80000000};
    return values[draw(sizeof values / sizeof *values)];
}

static uint64_t number(void)
{
    switch (draw(6)) {
    case 0: return draw(16);
    case 1: return 1ull << draw(64);
    case 2: return draw(1ull << 32);
    case 3: return -draw(5);
    case 4: return hostile();
    default: return draw(5000);
    }
}

static uint64_t pointer(void)
{
    if (draw(8) == 0)
        return hostile();
    if (draw(8) == 0)
        return (uint64_t)arena + ARENA - draw(64); /* runs over the end of the mapping */
    return (uint64_t)arena + draw(ARENA / 8) * 8;
}

static uint64_t pid(void)
{
    const int own = (int)syscall(SYS_getpid);
    const int64_t values[] = {own, own, own + 1, 0, 1, 999, -own, 1000, 2, 300, -1000};
    return (uint64_t)values[draw(sizeof values / sizeof *values)];
}

/* Not the signals that end or interrupt: the runner needs SIGTERM, and the timer SIGALRM. */
static uint64_t signal_number(void)
{
    uint64_t sig = draw(66);
    return sig == SIGALRM || sig == SIGTERM || sig == SIGKILL || sig == SIGSTOP || sig == SIGTSTP || sig == SIGTTIN ||
                   sig == SIGTTOU
               ? 0
               : sig;
}

static uint64_t buffers(void)
{
    struct iovec *v = (struct iovec *)(arena + 4096);
    for (int i = 0; i < 8; i++)
        v[i] = (struct iovec){(void *)pointer(), draw(4) ? draw(9000) : number()};
    return draw(10) ? (uint64_t)v : hostile();
}

static uint64_t message(void)
{
    struct msghdr *m = (struct msghdr *)(arena + 2048);
    for (int i = 0; i < 4; i++)
        m[i] = (struct msghdr){.msg_iov = (struct iovec *)buffers(),
                               .msg_iovlen = draw(9),
                               .msg_control = draw(2) ? (void *)pointer() : NULL,
                               .msg_controllen = draw(3) ? draw(256) : number(),
                               .msg_name = draw(4) ? NULL : (void *)pointer(),
                               .msg_namelen = (socklen_t)draw(130)};
    struct cmsghdr *c = (struct cmsghdr *)(arena + 1024);
    *c = (struct cmsghdr){CMSG_LEN(4), SOL_SOCKET, SCM_RIGHTS};
    *(int *)CMSG_DATA(c) = (int)draw(20);
    if (draw(4) == 0) {
        m->msg_control = c;
        m->msg_controllen = CMSG_SPACE(4);
    }
    return draw(10) ? (uint64_t)m : hostile();
}

static uint64_t timeout(void)
{
    int64_t *t = (int64_t *)(arena + 512);
    t[0] = draw(3) ? 0 : (int64_t)number();
    t[1] = draw(3) ? (int64_t)draw(1000000) : (int64_t)number();
    t[2] = t[0];
    t[3] = t[1];
    return draw(8) ? (uint64_t)t : draw(2) ? 0 : hostile();
}

static uint64_t argument(char kind)
{
    static const uint32_t requests[] = {0x5401, 0x5402, 0x5403, 0x5404, 0x802c542a, 0x402c542b, 0x5411,
                                        0x5413, 0x5414, 0x541b, 0x5421, 0x5450,     0x5451,     0x540f,
                                        0x5410, 0x5429, 0x2,    0x8905, 0x5409,     0x540b};
    static const int commands[] = {0,  1,    2,    3,    4,    5,    6,    7,    9,    36,  37,
                                   38, 1030, 1031, 1032, 1033, 1034, 1035, 1036, 1037, 1038};
    static const int opens[] = {0,     1,       2,       0101,      0102,      01101,  02001,
                                04000, 0100000, 0200000, 010000000, 020200002, 0400000};
    switch (kind) {
    case '0': return 0;
    case '1': return 1;
    case '8': return draw(20) ? 8 : number();
    case 'f': return draw(10) ? draw(24) : number();
    case 'd': return draw(3) ? (uint64_t)AT_FDCWD : draw(24);
    case 'p': return draw(12) ? pointer() : 0;
    case 'a': return draw(8) ? (uint64_t)arena + draw(ARENA / 4096) * 4096 : draw(2) ? number() : hostile();
    case 's': return draw(10) ? (uint64_t)paths[draw(PATHS)] : pointer();
    case 'n': return draw(4) ? draw(20000) : number();
    case 'o': return draw(3) ? draw(100000) : number();
    case 'i': return draw(2) ? draw(64) : number();
    case 'j': return draw(3) ? (draw(2) ? 0x22 : 0x21) | (draw(3) ? 0 : 0x10) : draw(1 << 20);
    case 'v': return buffers();
    case 'h': return message();
    case 't': return timeout();
    case 'm': return draw(3) ? (uint64_t)&empty_set : draw(2) ? 0 : hostile();
    case 'P': return pid();
    case 'g': return signal_number();
    case 'q': return draw(10) ? requests[draw(sizeof requests / sizeof *requests)] : number();
    case 'c': return draw(10) ? (uint64_t)commands[draw(sizeof commands / sizeof *commands)] : number();
    case 'O': return (uint64_t)opens[draw(sizeof opens / sizeof *opens)] | (draw(4) ? 0 : 1ull << draw(24));
    default: return draw(3) == 0 ? pointer() : number();
    }
}

static int is_left_out(int call)
{
    switch (call) {
    case 93:  /* exit */
    case 94:  /* exit_group */
    case 103: /* setitimer */
    case 139: /* rt_sigreturn */
    case 220: /* clone */
    case 221: /* execve */
    case 281: /* execveat */
    case 435: /* clone3 */ return 1;
    default: return 0;
    }
}

static void fork_a_child(void)
{
    if (fork() == 0) {
        uint64_t a[6];
        for (int i = 0; i < 6; i++)
            a[i] = argument("fpsnia"[i]);
        syscall((long)(draw(60) + 5), a[0], a[1], a[2], a[3], a[4], a[5]);
        _exit(0);
    }
    if (draw(4))
        waitpid(-1, NULL, WNOHANG);
}

static void call_something(void)
{
    int call = draw(4) ? shapes[draw(sizeof shapes / sizeof *shapes)].number : (int)draw(470);
    const char *kinds = "??????";
    uint64_t a[6];
    if (is_left_out(call))
        return;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        if (shapes[i].number == call)
            kinds = shapes[i].arguments;
    for (size_t i = 0; i < 6; i++)
        a[i] = argument(i < strlen(kinds) ? kinds[i] : '?');
    if (draw(20) == 0)
        a[draw(6)] = number();
    if ((call == 134 && (a[0] == SIGALRM || a[0] == SIGTERM)) || (call == 135 && a[1] && a[1] != (uint64_t)&empty_set))
        return;
    syscall(call, a[0], a[1], a[2], a[3], a[4], a[5]);
}

static void on_alarm(int sig)
{
    (void)sig;
}

static void make_files(void)
{
    int ends[2];
    mkdir("folder", 0755);
    symlink("a", "link");
    mkfifo("fifo", 0600);
    int fd = open("a", O_RDWR | O_CREAT, 0600);
    ftruncate(fd, 10000);
    open("b", O_WRONLY | O_CREAT | O_APPEND, 0600);
    open("folder", O_RDONLY | O_DIRECTORY);
    pipe(ends);
    fcntl(ends[1], F_SETPIPE_SZ, 4096);
    pipe2(ends, O_NONBLOCK);
    socketpair(AF_UNIX, SOCK_STREAM, 0, ends);
    socketpair(AF_UNIX, SOCK_DGRAM, 0, ends);
    eventfd(3, draw(2) ? EFD_SEMAPHORE : 0);
    memfd_create("memory", MFD_ALLOW_SEALING);
    epoll_create1(0);
    inotify_add_watch(inotify_init1(draw(2) ? IN_NONBLOCK : 0), "folder", IN_ALL_EVENTS);
    semget(IPC_PRIVATE, 1 + (int)draw(8), 0600);
    msgget(IPC_PRIVATE, 0600);
    open("/dev/null", O_RDWR);
    open("/dev/urandom", O_RDONLY);
    open("/proc/self/maps", O_RDONLY);
    mmap(arena + 8 * 4096, 2 * 4096, PROT_READ, MAP_SHARED | MAP_FIXED, fd, 0);
    mmap(arena + 12 * 4096, 2 * 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0);
    mmap(arena + 16 * 4096, 4 * 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}

int main(int argc, char **argv)
{
    struct itimerval often = {{0, 2000}, {0, 2000}};
    struct sigaction action = {.sa_handler = on_alarm};
    if (argc != 3)
        return 2;
    state = strtoull(argv[1], NULL, 10) * 0x9e3779b97f4a7c15 + 1;
    arena = mmap(NULL, ARENA, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    make_files();
    for (int sig = 1; sig <= 64; sig++) /* so that most signals that it sends to itself do not end it */
        if (sig != SIGTERM && sig != SIGSEGV && sig != SIGBUS && sig != SIGILL && sig != SIGTRAP && sig != SIGFPE)
            sigaction(sig, &action, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    for (int i = atoi(argv[2]); i > 0; i--) {
        if (draw(200) == 0)
            fork_a_child();
        else
            call_something();
    }
    return 0;
}
