/* libFuzzer target: any bytes as a checkpoint (block_input.h). What comes of it is a sentence, or a process whose
 * invariants hold, and which then runs: its instructions are its own business, as is sleeping forever, but the emulator
 * must neither crash nor go around in circles.
 *
 * It is loaded here, where coverage is seen, and runs in a process of its own, in a folder of its own.
 *
 * fuzz_checkpoint --seed FILE SEED: the fields of a checkpoint as a seed. */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

#include "block_input.h"
#include "checkpoint/checkpoint_priv.h"
#include "emulate/emulate.h"
#include "guest/files_priv.h"
#include "guest/memory_priv.h"

enum {
    RUN_INSNS = 20000,
    RUN_TURNS = 2000,
    RUN_SECONDS = 4,
    LOOK_MS = 1,
    SLEEPS_MOST = 20,
    MEMORY_MOST = 1 << 28,
    HIGH = FD_PRIVATE + 12
};

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);
size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t length, size_t most, unsigned seed);
size_t LLVMFuzzerMutate(uint8_t *bytes, size_t length, size_t most);
void __sanitizer_set_report_fd(void *fd);

/* ---- the files that the seeds have open: what runs may change them, and is undone */

static struct kept {
    const char *name; /* in FUZZ_ROOT */
    struct stat st;
    char path[PATH_MAX];
    uint8_t *bytes;
} kept[] = {{.name = "program"}, {.name = "folder/file"}};

enum { KEPT = sizeof kept / sizeof *kept };

static void keep_files(void)
{
    for (int i = 0; i < KEPT; i++) {
        struct kept *k = &kept[i];
        snprintf(k->path, sizeof k->path, "%s/%s", getenv("FUZZ_ROOT"), k->name);
        int fd = open(k->path, O_RDONLY);
        expect(fd >= 0 && fstat(fd, &k->st) == 0 && (k->bytes = malloc((size_t)k->st.st_size)) != NULL);
        expect(read(fd, k->bytes, (size_t)k->st.st_size) == k->st.st_size);
        close(fd);
    }
}

static void restore_files(void)
{
    for (int i = 0; i < KEPT; i++) {
        struct kept *k = &kept[i];
        struct stat now;
        if (stat(k->path, &now) == 0 && memcmp(&now.st_mtim, &k->st.st_mtim, sizeof now.st_mtim) == 0 &&
            now.st_size == k->st.st_size)
            continue;
        int fd = open(k->path, O_WRONLY | O_CREAT | O_TRUNC, 0755);
        const struct timespec times[2] = {k->st.st_atim, k->st.st_mtim};
        expect(fd >= 0 && write(fd, k->bytes, (size_t)k->st.st_size) == k->st.st_size && futimens(fd, times) == 0);
        close(fd);
    }
}

/* ---- seeds and mutations */

static void make_seed(const char *from_path, const char *to_path)
{
    static struct block_reader r;
    struct error err;
    FILE *from = fopen(from_path, "r"), *to = fopen(to_path, "w");
    expect(from && to && block_reader_open(&r, &checkpoint_kind, from, from_path, &err) == 0);
    fputc(1, to);
    while (block_reader_next(&r) == 1) {
        size_t left = (size_t)(r.end - r.raw);
        for (const uint8_t *at = r.raw; at < r.end;) {
            size_t part = left < UINT16_MAX ? left : UINT16_MAX;
            fputc((int)(part & 255), to);
            fputc((int)(part >> 8), to);
            fwrite(at, 1, part, to);
            at += part;
            left -= part;
        }
    }
    expect(r.code == 1 && fclose(to) == 0);
    fclose(from);
    block_reader_close(&r);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    if (*argc == 4 && strcmp((*argv)[1], "--seed") == 0) {
        make_seed((*argv)[2], (*argv)[3]);
        exit(0);
    }
    expect(getenv("FUZZ_ROOT") != NULL);
    keep_files();
    signal(SIGPIPE, SIG_IGN);
    return 0;
}

/* Mostly single fields in their places: what is inserted or taken away only makes everything behind it nonsense. Values
 * that mean something, and values that other fields have. */
size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t length, size_t most, unsigned seed)
{
    static const uint8_t favourites[] = {0, 1, 2, 0x7f, 0x80, 0xff};
    srand(seed);
    if (length < 64 || rand() % 8 == 0)
        return LLVMFuzzerMutate(bytes, length, most);
    for (int n = 1 + rand() % 3; n > 0; n--) {
        size_t width = (size_t)1 << rand() % 4, at = 3 + (size_t)rand() % (length - 16);
        switch (rand() % 4) {
        case 0: memset(bytes + at, favourites[(size_t)rand() % sizeof favourites], width); break;
        case 1: memmove(bytes + at, bytes + 3 + (size_t)rand() % (length - 16), width); break;
        case 2: bytes[at] = (uint8_t)rand(); break;
        default: bytes[at] += (uint8_t)(rand() % 3 - 1); break;
        }
    }
    return length;
}

/* ---- loading */

static void check(const struct process *p)
{
    int below = 0, alive = 0;
    uint64_t above = LOWEST_ADDRESS;
    for (const struct thread *t = p->threads; t; t = t->next) {
        expect(t->tid > below && t->process == p && (t->call.begun || !t->call.asleep));
        expect(t->call.fd_count <= t->poll_room && !(t->blocked & signal_bit(SIGKILL)));
        below = t->tid;
        alive += !t->exited;
    }
    expect(alive > 0 && !p->ended && below < p->family->next_id);
    const struct areas *table = &p->memory->areas;
    for (size_t i = 0; i < table->count; i++) {
        expect(table->area[i].start >= above && table->area[i].start < table->area[i].end);
        above = table->area[i].end;
    }
    expect(above <= GUEST_SPACE && p->memory->brk_start <= p->memory->brk);
}

/* What the file says about folders must not lead out of ours. */
static struct process *restore(const struct file *f, struct checkpoint **c)
{
    char path[64];
    struct error err = {""};
    int fd = memfd_create("checkpoint", MFD_CLOEXEC), high = fcntl(fd, F_DUPFD_CLOEXEC, HIGH);
    expect(high >= 0 && (f->length == 0 || write(fd, f->at, f->length) == (ssize_t)f->length));
    close(fd);
    snprintf(path, sizeof path, "/proc/self/fd/%d", high);
    *c = checkpoint_open(path, &err);
    close(high);
    if (*c == NULL) {
        expect(err.text[0] != 0);
        return NULL;
    }
    struct process_config *config = checkpoint_config(*c);
    config->sysroot = getenv("FUZZ_ROOT");
    config->isolate = true;
    config->bind_count = 0;
    config->allow_net = false;
    if (config->memory_limit_bytes > MEMORY_MOST)
        config->memory_limit_bytes = MEMORY_MOST;
    struct process *p = checkpoint_restore(*c, &err);
    expect(p || err.text[0] != 0);
    return p;
}

/* Restoring takes all low descriptors. */
static bool load(const struct file *f)
{
    int saved[3];
    struct checkpoint *c;
    for (int i = 0; i < 3; i++)
        saved[i] = fcntl(i, F_DUPFD_CLOEXEC, HIGH);
    struct process *p = restore(f, &c);
    if (p)
        check(p);
    process_free(p);
    checkpoint_free(c);
    for (int i = 0; i < 3; i++) {
        dup2(saved[i], i);
        close(saved[i]);
    }
    return p != NULL;
}

/* ---- running */

static void run(const struct file *f)
{
    struct rlimit limit = {RUN_SECONDS, RUN_SECONDS};
    struct checkpoint *c;
    struct error err;
    int report = fcntl(2, F_DUPFD_CLOEXEC, HIGH), null = open("/dev/null", O_RDWR);
    __sanitizer_set_report_fd((void *)(uintptr_t)report);
    dup2(null, 0);
    dup2(null, 1);
    setrlimit(RLIMIT_CPU, &limit);
    struct process *p = restore(f, &c);
    expect(p != NULL);
    uint64_t end = process_retired_insns(p) + RUN_INSNS;
    struct engine_state *e = interpreter.create(process_memory(p), &err);
    struct thread *t;
    expect(e != NULL);
    /* A guest whose handler faults retires nothing, and comes back again and again: that is progress, too. */
    for (int turns = 0; turns < RUN_TURNS && process_retired_insns(p) < end && (t = process_next(p)) != NULL; turns++) {
        if (thread_hart(t)->quantum > RUN_INSNS)
            thread_hart(t)->quantum = RUN_INSNS;
        interpreter.run(e, thread_hart(t));
        process_trap(p, t);
    }
    _exit(0);
}

static char state_of(pid_t pid)
{
    char name[64], text[256] = "";
    snprintf(name, sizeof name, "/proc/%d/stat", (int)pid);
    FILE *from = fopen(name, "r");
    const char *end = from && fgets(text, sizeof text, from) ? strrchr(text, ')') : NULL;
    if (from)
        fclose(from);
    return end ? end[2] : '?';
}

/* Waits for the restored process. A process that sleeps or has stopped itself may wait forever, and may be killed by a
 * process that it forked. It must not use up its CPU time. */
static void watch(pid_t pid)
{
    struct rusage used = {0};
    int status = 0, sleeps = 0;
    pid_t done;
    while ((done = wait4(pid, &status, WNOHANG, &used)) == 0 && sleeps < SLEEPS_MOST) {
        char state = state_of(pid);
        sleeps = state == 'S' || state == 'T' ? sleeps + 1 : 0;
        poll(NULL, 0, LOOK_MS);
    }
    kill(-pid, SIGKILL);
    if (done == 0) {
        expect(waitpid(pid, &status, 0) == pid);
        return;
    }
    bool killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
    bool good = killed ? used.ru_utime.tv_sec + used.ru_stime.tv_sec < RUN_SECONDS - 1 : status == 0;
    if (!good)
        fprintf(stderr, "%s: status 0x%x\n", killed ? "it ran in circles" : "it failed", (unsigned)status);
    expect(good);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    struct file f = make_file(&checkpoint_kind, bytes, length);
    if (load(&f)) {
        pid_t pid = fork();
        if (pid == 0) {
            setpgid(0, 0);
            run(&f);
        }
        expect(pid > 0);
        watch(pid);
        restore_files();
    }
    free(f.at);
    return 0;
}
