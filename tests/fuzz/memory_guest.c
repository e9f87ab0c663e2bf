/* memory_guest SEED STEPS [fails]: random calls on memory against a model of what Linux does, as a guest program. Ends
 * with 0, or with 1 and a sentence about the first difference. With `fails`, calls may fail although they should not:
 * then every page that the call concerns must be as before or gone.
 *
 * The model has one word per page, at the page's start. A page has a place in an object (a file, a memfd, shared
 * anonymous memory) or none, and its own word if it is private and has been written. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGE = 4096, PAGES = 64, FILES = 2, FILE_PAGES = 24, OBJECTS = 4096, HEAP = 24 };
#define ARENA ((char *)0x1000000000)

struct object {
    int fd;                    /* -1: anonymous */
    int pages;                 /* size */
    uint64_t word[FILE_PAGES]; /* contents; beyond the size: 0 */
};

struct page {
    int mapped, prot, shared;
    int object; /* -1: private anonymous */
    int at;     /* page of the object */
    int own;    /* private: `word` instead of the object's */
    uint64_t word;
};

static struct object objects[OBJECTS];
static int object_count;
static struct page page[PAGES], heap[HEAP]; /* of the arena; of the heap behind its first break */
static char *heap_start;
static int heap_pages;
static int fails; /* calls may fail */
static int pipes[2];
static uint64_t seed, step;
static const char *doing = "start";

static uint64_t draw(uint64_t below)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (seed >> 33) % below;
}

static void die(const char *what, const void *where)
{
    dprintf(2, "memory_guest: step %llu, %s: %s at %p (errno %d)\n", (unsigned long long)step, doing, what, where,
            errno);
    _exit(1);
}

/* ---- touching pages */

static sigjmp_buf back;
static volatile int fault_signal, fault_code;

static void on_fault(int number, siginfo_t *info, void *context)
{
    (void)context;
    fault_signal = number;
    fault_code = info->si_code;
    siglongjmp(back, 1);
}

/* The signal that the access ends in, or 0. */
static int load(const char *at, uint64_t *word)
{
    fault_signal = 0;
    if (sigsetjmp(back, 1) == 0)
        *word = *(const volatile uint64_t *)at;
    return fault_signal;
}

static int store(char *at, uint64_t word)
{
    fault_signal = 0;
    if (sigsetjmp(back, 1) == 0)
        *(volatile uint64_t *)at = word;
    return fault_signal;
}

/* ---- the model */

static int is_short(const struct page *p)
{
    return p->object >= 0 && p->at >= objects[p->object].pages;
}

static uint64_t word_of(const struct page *p)
{
    return p->object < 0 || p->own ? p->word : objects[p->object].word[p->at];
}

static void put_word(struct page *p, uint64_t word)
{
    if (p->object >= 0 && p->shared) {
        objects[p->object].word[p->at] = word;
        return;
    }
    p->own = 1;
    p->word = word;
}

static int expected_signal(const struct page *p, int prot)
{
    if (!p->mapped || !(p->prot & prot))
        return SIGSEGV;
    return is_short(p) ? SIGBUS : 0;
}

static void check_page(const struct page *p, const char *at)
{
    uint64_t word;
    int got = load(at, &word), want = expected_signal(p, PROT_READ);
    if (got != want)
        die(got == 0 ? "a page can be read" : got == SIGBUS ? "SIGBUS" : "SIGSEGV", at);
    if (got == SIGSEGV && (fault_code == SEGV_MAPERR) != !p->mapped)
        die("another si_code", at);
    if (got == 0 && word != word_of(p))
        die("other contents", at);
}

static void check_all(void)
{
    for (int i = 0; i < PAGES; i++)
        check_page(&page[i], ARENA + i * PAGE);
    for (int i = 0; i < HEAP; i++)
        check_page(&heap[i], heap_start + i * PAGE);
}

static void check_some(void)
{
    for (int k = 0; k < 4; k++) {
        int i = (int)draw(PAGES);
        check_page(&page[i], ARENA + i * PAGE);
    }
}

/* After a call that failed: pages that are not mapped any more are lost. */
static void accept_loss(struct page *p, const char *at, int count)
{
    uint64_t word;
    for (int i = 0; i < count; i++)
        if (p[i].mapped && load(at + i * PAGE, &word) == SIGSEGV && fault_code == SEGV_MAPERR)
            p[i].mapped = 0;
}

/* Whether a call may have this result although `want` is right: errors of hosts in trouble. */
static int is_excused(int error)
{
    return fails && (error == ENOMEM || error == EFAULT || error == EAGAIN || error == EINVAL);
}

/* Draws a range of the arena. */
static int draw_range(int *count)
{
    int first = (int)draw(PAGES), most = PAGES - first;
    *count = 1 + (int)draw(draw(4) ? (most < 8 ? most : 8) : most);
    return first;
}

static int draw_prot(void)
{
    static const int prot[] = {PROT_READ | PROT_WRITE, PROT_READ | PROT_WRITE, PROT_READ, PROT_NONE};
    return prot[draw(4)];
}

/* ---- calls */

static void fill(struct page *p, int count, int prot, int shared, int object, int at)
{
    for (int i = 0; i < count; i++)
        p[i] = (struct page){1, prot, shared, object, at + i, 0, 0};
}

static int new_anonymous(int pages)
{
    struct object *o = &objects[object_count];
    memset(o, 0, sizeof *o);
    o->fd = -1;
    o->pages = pages;
    return object_count++;
}

static int all_free(int first, int count)
{
    for (int i = first; i < first + count; i++)
        if (page[i].mapped)
            return 0;
    return 1;
}

static void do_mmap(void)
{
    int count, first = draw_range(&count), prot = draw_prot(), shared = (int)draw(2), kind = (int)draw(3), at = 0;
    int replace = draw(4) != 0, fd = -1, object = -1;
    if (shared && kind == 0 && (object_count == OBJECTS || count > FILE_PAGES))
        shared = 0;
    if (kind > 0) {
        object = kind - 1;
        fd = objects[object].fd;
        count = count < 8 ? count : 8;
        at = (int)draw(FILE_PAGES - count);
    }
    doing = replace ? "mmap" : "mmap, if free";
    int flags = (shared ? MAP_SHARED : MAP_PRIVATE) | (kind == 0 ? MAP_ANONYMOUS : 0);
    char *got = mmap(ARENA + first * PAGE, count * PAGE, prot, flags | (replace ? MAP_FIXED : MAP_FIXED_NOREPLACE), fd,
                     (off_t)at * PAGE);
    if (got == MAP_FAILED) {
        if (!(errno == EEXIST && !replace && !all_free(first, count)) && !is_excused(errno))
            die("the call fails", ARENA + first * PAGE);
        accept_loss(&page[first], ARENA + first * PAGE, count);
        return;
    }
    if (got != ARENA + first * PAGE || (!replace && !all_free(first, count)))
        die("mapped elsewhere, or over others", got);
    if (kind == 0 && shared)
        object = new_anonymous(count);
    fill(&page[first], count, prot, shared, object, at);
}

static void do_munmap(void)
{
    int count, first = draw_range(&count);
    doing = "munmap";
    if (munmap(ARENA + first * PAGE, count * PAGE) != 0) {
        if (!is_excused(errno))
            die("the call fails", ARENA + first * PAGE);
        accept_loss(&page[first], ARENA + first * PAGE, count);
        return;
    }
    for (int i = first; i < first + count; i++)
        page[i].mapped = 0;
}

static void do_mprotect(void)
{
    int count, first = draw_range(&count), prot = draw_prot(), whole = 1;
    doing = "mprotect";
    for (int i = first; i < first + count; i++)
        whole = whole && page[i].mapped;
    if (mprotect(ARENA + first * PAGE, count * PAGE, prot) != 0) {
        if (!(errno == ENOMEM && !whole) && !is_excused(errno))
            die("the call fails", ARENA + first * PAGE);
        accept_loss(&page[first], ARENA + first * PAGE, count);
        return;
    }
    if (!whole)
        die("the call succeeds over a hole", ARENA + first * PAGE);
    for (int i = first; i < first + count; i++)
        page[i].prot = prot;
}

static void do_madvise(void)
{
    int count, first = draw_range(&count), whole = 1;
    doing = "madvise";
    for (int i = first; i < first + count; i++)
        whole = whole && page[i].mapped;
    if (madvise(ARENA + first * PAGE, count * PAGE, MADV_DONTNEED) != 0 && !(errno == ENOMEM && !whole))
        die("the call fails", ARENA + first * PAGE);
    for (int i = first; i < first + count; i++)
        if (!page[i].shared)
            page[i].own = 0, page[i].word = 0;
}

/* Whether Linux could have the pages in one mapping. */
static int could_be_one(const struct page *p, int count)
{
    for (int i = 0; i < count; i++)
        if (!p[i].mapped || p[i].prot != p[0].prot || p[i].shared != p[0].shared || p[i].object != p[0].object ||
            (p[i].object >= 0 && p[i].at != p[0].at + i))
            return 0;
    return 1;
}

/* The pages as mremap leaves them: those of the source, then new ones. */
static void moved(struct page *out, const struct page *source, int old_count, int new_count)
{
    for (int i = 0; i < new_count; i++) {
        struct page more = source[0];
        more.at += i;
        more.own = 0;
        more.word = 0;
        out[i] = i < old_count ? source[i] : more;
    }
}

static void do_mremap(void)
{
    int old_count, first = draw_range(&old_count), new_count, to = draw_range(&new_count), fixed = (int)draw(2);
    int may_move = fixed || draw(2);
    struct page result[PAGES];
    doing = fixed ? "mremap to a fixed address" : may_move ? "mremap" : "mremap in place";
    if (page[first].object >= 0 && page[first].at + new_count > FILE_PAGES)
        new_count = FILE_PAGES - page[first].at;
    if (!fixed && first + new_count > PAGES)
        new_count = PAGES - first;
    if (new_count < 1)
        return;
    int overlap = to < first + old_count && first < to + new_count;
    char *from = ARENA + first * PAGE, *target = ARENA + to * PAGE;
    moved(result, &page[first], old_count, new_count);
    char *got = mremap(from, old_count * PAGE, new_count * PAGE,
                       (may_move ? MREMAP_MAYMOVE : 0) | (fixed ? MREMAP_FIXED : 0), target);
    int one = could_be_one(&page[first], old_count);
    if (got == MAP_FAILED) {
        int right = errno == EFAULT || (errno == EINVAL && fixed && overlap) || (errno == ENOMEM && !may_move);
        if (!right && !is_excused(errno))
            die("the call fails", from);
        if (fails) {
            accept_loss(&page[first], from, old_count);
            if (fixed)
                accept_loss(&page[to], target, new_count);
        }
        return;
    }
    if (!one || (fixed && (overlap || got != target)))
        die("the call succeeds", from);
    if (!fixed && got == from) {
        for (int i = first + old_count; i < first + new_count; i++)
            if (i >= PAGES || page[i].mapped)
                die("it has grown over others", from);
        memcpy(&page[first], result, (size_t)new_count * sizeof *result);
        for (int i = first + new_count; i < first + old_count; i++)
            page[i].mapped = 0;
        return;
    }
    for (int i = first; i < first + old_count; i++)
        page[i].mapped = 0;
    if (fixed) {
        memcpy(&page[to], result, (size_t)new_count * sizeof *result);
        return;
    }
    if (got >= ARENA && got < ARENA + PAGES * PAGE)
        to = (int)((got - ARENA) / PAGE);
    else
        to = -1;
    for (int i = 0; i < new_count; i++)
        check_page(&result[i], got + i * PAGE);
    if (to < 0)
        munmap(got, new_count * PAGE);
    else
        memcpy(&page[to], result, (size_t)new_count * sizeof *result);
}

static void do_brk(void)
{
    int want = (int)draw(HEAP + 1);
    doing = "brk";
    char *got = (char *)syscall(SYS_brk, heap_start + want * PAGE);
    if (got != heap_start + want * PAGE) {
        if (!fails || got != heap_start + heap_pages * PAGE)
            die("the call fails", got);
        accept_loss(heap, heap_start, HEAP);
        return;
    }
    for (int i = 0; i < HEAP; i++) {
        if (i >= heap_pages && i < want)
            heap[i] = (struct page){1, PROT_READ | PROT_WRITE, 0, -1, 0, 0, 0};
        else if (i >= want)
            heap[i].mapped = 0;
    }
    heap_pages = want;
}

/* Cuts or extends a file. Pages behind its end are lost, also private ones. */
static void do_truncate(void)
{
    int o = (int)draw(FILES), pages = (int)draw(FILE_PAGES + 1);
    doing = "ftruncate";
    if (ftruncate(objects[o].fd, (off_t)pages * PAGE) != 0)
        die("the call fails", NULL);
    for (int i = pages; i < FILE_PAGES; i++)
        objects[o].word[i] = 0;
    for (int i = 0; i < PAGES; i++)
        if (page[i].mapped && page[i].object == o && page[i].at >= pages)
            page[i].own = 0;
    objects[o].pages = pages;
}

static void do_store(void)
{
    int i = (int)draw(PAGES + HEAP);
    struct page *p = i < PAGES ? &page[i] : &heap[i - PAGES];
    char *at = i < PAGES ? ARENA + i * PAGE : heap_start + (i - PAGES) * PAGE;
    uint64_t word = draw(1u << 30) + 1;
    doing = "a store";
    if (store(at, word) != expected_signal(p, PROT_WRITE))
        die("another signal than expected", at);
    if (fault_signal == 0)
        put_word(p, word);
}

/* System calls that read or write memory of the program: EFAULT where an access would raise a signal. */
static void do_transfer(void)
{
    int i = (int)draw(PAGES), n;
    char *at = ARENA + i * PAGE;
    uint64_t word = 0, mask[1];
    doing = "a system call that reads memory";
    errno = 0;
    n = (int)write(pipes[1], at, 8);
    if ((n == 8) != (expected_signal(&page[i], PROT_READ) == 0) || (n != 8 && errno != EFAULT))
        die("another result", at);
    if (n == 8 && (read(pipes[0], &word, 8) != 8 || word != word_of(&page[i])))
        die("other contents", at);
    doing = "a system call that writes memory";
    if (syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, mask, 8) != 0)
        die("sigprocmask fails", mask);
    n = (int)syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, at, 8);
    if ((n == 0) != (expected_signal(&page[i], PROT_WRITE) == 0) || (n != 0 && errno != EFAULT))
        die("another result", at);
    if (n == 0)
        put_word(&page[i], mask[0]);
}

/* A child sees what the parent has; what it writes to shared memory, the parent sees. */
static void do_fork(void)
{
    int status, i = (int)draw(PAGES);
    uint64_t word = draw(1u << 30) + 1;
    doing = "fork";
    pid_t child = fork();
    if (child < 0)
        die("the call fails", NULL);
    if (child == 0) {
        check_all();
        for (int j = 0; j < PAGES; j++)
            if (j == i || !page[j].shared)
                (void)store(ARENA + j * PAGE, word);
        _exit(0);
    }
    if (waitpid(child, &status, 0) != child || status != 0)
        die("the child has failed", NULL);
    if (page[i].shared && expected_signal(&page[i], PROT_WRITE) == 0)
        put_word(&page[i], word);
}

static void make_file(int fd)
{
    struct object *o = &objects[object_count++];
    *o = (struct object){fd, FILE_PAGES, {0}};
    if (fd < 0 || ftruncate(fd, FILE_PAGES * PAGE) != 0)
        die("no file", NULL);
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    seed = strtoull(argv[1], NULL, 10) * 2 + 1;
    uint64_t steps = strtoull(argv[2], NULL, 10);
    fails = argc > 3;
    char name[] = "memory-XXXXXX";
    make_file(mkstemp(name));
    unlink(name);
    make_file(memfd_create("fuzz", 0));
    if (pipe(pipes) != 0)
        die("no pipe", NULL);
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
    sigaction(SIGSEGV, &action, NULL);
    sigaction(SIGBUS, &action, NULL);
    heap_start = (char *)(((uintptr_t)syscall(SYS_brk, 0) + PAGE - 1) / PAGE * PAGE);
    if ((char *)syscall(SYS_brk, heap_start) != heap_start)
        die("no heap", heap_start);
    for (step = 1; step <= steps; step++) {
        static void (*const call[])(void) = {do_mmap,   do_mmap,  do_munmap,  do_mprotect, do_mprotect, do_mremap,
                                             do_mremap, do_store, do_madvise, do_transfer, do_store,    do_brk};
        uint64_t rare = draw(40);
        if (rare == 0)
            do_fork();
        else if (rare == 1)
            do_truncate();
        else
            call[draw(sizeof call / sizeof *call)]();
        if (step % 16 == 0 || step == steps)
            check_all();
        else
            check_some();
    }
    return 0;
}
