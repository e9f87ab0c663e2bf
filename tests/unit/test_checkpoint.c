/* Checkpoint files that were cut off, changed or made by an enemy: a sentence, or a process, and never a crash.
 * Restoring takes over all descriptors, so each try has a process of its own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <dirent.h>
#include <elf.h>
#include <fcntl.h>

#include "base/random.h"
#include "checkpoint/checkpoint_priv.h"
#include "emulate/emulate.h"
#include "guest/process_priv.h"

enum {
    FLIPS = 200,
    CHANGES = 200,
    HEAD_BYTES = 256,
    BYTES_MOST = 1 << 20,
    SAVED_AFTER = 7,
    RUN_INSNS = 2000,
    RUN_SECONDS = 10
};

enum outcome { REFUSED, RESTORED, WRONG };

struct world {
    char folder[64], program[96], file[96], changed[96];
    uint8_t *bytes; /* of the good checkpoint */
    size_t length;
    void (*spoil)(struct process *p); /* what to do to a process before it is saved, or NULL */
};

/* ---- a program of a few instructions */

static void write_program(const char *path)
{
    static const uint32_t code[] = {
        0x00050513, /* mv a0, a0 */
        0xff010113, /* addi sp, sp, -16 */
        0x00a13023, /* sd a0, 0(sp) */
        0xff9ff06f, /* j to the second */
    };
    struct {
        Elf64_Ehdr header;
        Elf64_Phdr load;
        uint32_t code[4];
    } image = {
        .header = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
                   .e_type = ET_EXEC,
                   .e_machine = EM_RISCV,
                   .e_version = EV_CURRENT,
                   .e_entry = 0x10000 + offsetof(__typeof__(image), code),
                   .e_phoff = offsetof(__typeof__(image), load),
                   .e_ehsize = sizeof image.header,
                   .e_phentsize = sizeof image.load,
                   .e_phnum = 1},
        .load = {.p_type = PT_LOAD,
                 .p_flags = PF_R | PF_X,
                 .p_vaddr = 0x10000,
                 .p_filesz = sizeof image,
                 .p_memsz = sizeof image,
                 .p_align = 4096},
    };
    memcpy(image.code, code, sizeof code);
    FILE *to = fopen(path, "w");
    assert_non_null(to);
    assert_int_equal(fwrite(&image, sizeof image, 1, to), 1);
    assert_int_equal(fclose(to), 0);
    assert_int_equal(chmod(path, 0755), 0);
}

static int run_some(struct process *p, int64_t insns)
{
    struct error err;
    struct engine_state *e = interpreter.create(process_memory(p), &err);
    struct thread *t = process_next(p);
    if (!e || !t)
        return -1;
    thread_hart(t)->quantum = insns;
    interpreter.run(e, thread_hart(t));
    process_trap(p, t);
    interpreter.destroy(e);
    return 0;
}

/* ---- tries, each in a process of its own */

/* Whether it sleeps or has stopped. */
static bool rests(pid_t pid)
{
    char name[64], text[256] = "";
    snprintf(name, sizeof name, "/proc/%d/stat", (int)pid);
    FILE *from = fopen(name, "r");
    const char *end = from && fgets(text, sizeof text, from) ? strrchr(text, ')') : NULL;
    if (from)
        fclose(from);
    return end && (end[2] == 'S' || end[2] == 'T');
}

/* The outcome. A guest that goes on resting for RUN_SECONDS is left to it: it was restored. */
static int in_child(int (*what)(const struct world *w), const struct world *w)
{
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        for (int fd = 3; fd < 256; fd++)
            close(fd); /* the guest must not inherit what the caller of the tests left open */
        _exit(what(w));
    }
    int status, rested = 0;
    pid_t done;
    while ((done = waitpid(pid, &status, WNOHANG)) == 0 && rested < RUN_SECONDS * 1000) {
        rested = rests(pid) ? rested + 1 : 0;
        usleep(rested < 10 ? 100 : 1000);
    }
    if (done == 0) {
        kill(pid, SIGKILL);
        assert_int_equal(waitpid(pid, &status, 0), pid);
        return RESTORED;
    }
    assert_int_equal(done, pid);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static int save(const struct world *w)
{
    struct error err;
    char *const argv[] = {(char *)w->program, NULL}, *const envp[] = {NULL};
    struct process_config config = {
        .argv = argv, .envp = envp, .memory_limit_bytes = 1 << 30, .stack_limit_bytes = 1 << 20, .quantum_insns = 1000};
    struct checkpoint_file *file = checkpoint_create(w->spoil ? w->changed : w->file, &err);
    struct process *p = file ? process_new(&config, &err) : NULL;
    int code = p ? run_some(p, SAVED_AFTER) : -1;
    if (code == 0 && w->spoil)
        w->spoil(p);
    if (code < 0 || checkpoint_write(file, p, NULL, &err) < 0) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    process_free(p);
    checkpoint_close(file);
    return 0;
}

static int restore(const struct world *w)
{
    struct error err = {""};
    struct checkpoint *c = checkpoint_open(w->changed, &err);
    struct process *p = c ? checkpoint_restore(c, &err) : NULL;
    int outcome = p ? RESTORED : err.text[0] ? REFUSED : WRONG;
    if (p && process_retired_insns(p) != SAVED_AFTER)
        outcome = WRONG;
    process_free(p);
    checkpoint_free(c);
    return outcome;
}

/* The same, whatever it has retired; and it runs a little. What it does is its own business. */
static int restore_any(const struct world *w)
{
    struct rlimit limit = {RUN_SECONDS, RUN_SECONDS};
    struct error err = {""};
    struct checkpoint *c = checkpoint_open(w->changed, &err);
    struct process *p = c ? checkpoint_restore(c, &err) : NULL;
    if (!p)
        return err.text[0] ? REFUSED : WRONG;
    setrlimit(RLIMIT_CPU, &limit); /* a process that runs in circles is killed */
    struct engine_state *e = interpreter.create(process_memory(p), &err);
    uint64_t end = process_retired_insns(p) + RUN_INSNS;
    struct thread *t;
    for (int turns = 0; turns < RUN_INSNS && process_retired_insns(p) < end && (t = process_next(p)) != NULL; turns++) {
        struct hart *h = thread_hart(t);
        h->quantum = h->quantum < RUN_INSNS ? h->quantum : RUN_INSNS;
        interpreter.run(e, h);
        process_trap(p, t);
    }
    return RESTORED;
}

static int try_bytes(const struct world *w, const uint8_t *bytes, size_t length)
{
    FILE *to = fopen(w->changed, "w");
    assert_non_null(to);
    assert_int_equal(fwrite(bytes, 1, length, to), length);
    assert_int_equal(fclose(to), 0);
    return in_child(restore, w);
}

/* ---- the tests */

static int begin(void **state)
{
    struct world *w = calloc(1, sizeof *w);
    assert_non_null(w);
    *state = w;
    strcpy(w->folder, "/tmp/checkpoint-XXXXXX");
    assert_non_null(mkdtemp(w->folder));
    snprintf(w->program, sizeof w->program, "%s/program", w->folder);
    snprintf(w->file, sizeof w->file, "%s/file", w->folder);
    snprintf(w->changed, sizeof w->changed, "%s/changed", w->folder);
    write_program(w->program);
    assert_int_equal(in_child(save, w), 0);
    w->bytes = malloc(BYTES_MOST);
    FILE *from = fopen(w->file, "r");
    assert_true(w->bytes && from);
    w->length = fread(w->bytes, 1, BYTES_MOST, from);
    fclose(from);
    return 0;
}

static int end(void **state)
{
    struct world *w = *state;
    unlink(w->program);
    unlink(w->file);
    unlink(w->changed);
    assert_int_equal(rmdir(w->folder), 0); /* nothing else was left behind */
    free(w->bytes);
    free(w);
    return 0;
}

static void a_good_one_is_restored(void **state)
{
    const struct world *w = *state;
    assert_int_equal(try_bytes(w, w->bytes, w->length), RESTORED);
}

static void truncations_are_refused(void **state)
{
    const struct world *w = *state;
    /* Every length of the head, and then those that fall on all places of words and blocks in turn. */
    for (size_t length = 0; length < w->length; length += length < HEAD_BYTES ? 1 : 7)
        assert_int_equal(try_bytes(w, w->bytes, length), REFUSED);
}

static void more_behind_the_end_is_refused(void **state)
{
    const struct world *w = *state;
    w->bytes[w->length] = 0;
    assert_int_equal(try_bytes(w, w->bytes, w->length + 1), REFUSED);
}

static void every_flipped_bit_is_refused(void **state)
{
    const struct world *w = *state;
    struct random random;
    random_seed(&random, 1);
    for (unsigned i = 0; i < FLIPS; i++) {
        size_t bit = random_u64(&random) % (w->length * 8);
        w->bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        assert_int_equal(try_bytes(w, w->bytes, w->length), REFUSED);
        w->bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
}

static void a_changed_program_is_refused(void **state)
{
    const struct world *w = *state;
    const struct timespec times[2] = {{1, 0}, {1, 0}};
    struct stat st;
    assert_int_equal(stat(w->program, &st), 0);
    assert_int_equal(utimensat(AT_FDCWD, w->program, times, 0), 0);
    assert_int_equal(try_bytes(w, w->bytes, w->length), REFUSED);
    const struct timespec back[2] = {st.st_atim, st.st_mtim};
    assert_int_equal(utimensat(AT_FDCWD, w->program, back, 0), 0);
    assert_int_equal(try_bytes(w, w->bytes, w->length), RESTORED);
}

/* ---- with checksums that are right */

/* All that the blocks hold. */
static size_t unpack(const struct world *w, uint8_t *to)
{
    struct block_reader *r = calloc(1, sizeof *r);
    struct error err;
    size_t length = 0;
    FILE *from = fopen(w->file, "r");
    assert_true(r && from);
    assert_int_equal(block_reader_open(r, &checkpoint_kind, from, "file", &err), 0);
    while (block_reader_next(r) == 1) {
        assert_true(length + BLOCK_RAW_MOST <= BYTES_MOST);
        memcpy(to + length, r->raw, (size_t)(r->end - r->raw));
        length += (size_t)(r->end - r->raw);
    }
    block_reader_close(r);
    fclose(from);
    free(r);
    return length;
}

static void pack(const struct world *w, const uint8_t *bytes, size_t length)
{
    struct block_writer *writer = calloc(1, sizeof *writer);
    FILE *to = fopen(w->changed, "w");
    assert_true(writer && to);
    assert_int_equal(block_writer_open(writer, &checkpoint_kind, to), 0);
    struct fields f = {.to = writer};
    field_bytes(&f, (void *)bytes, length);
    assert_int_equal(block_writer_finish(writer), 0);
    free(writer);
}

static void changed_fields_do_no_harm(void **state)
{
    const struct world *w = *state;
    uint8_t *good = malloc(BYTES_MOST), *bad = malloc(BYTES_MOST);
    struct random random;
    unsigned refused = 0;
    assert_true(good && bad);
    size_t length = unpack(w, good), fields = length > 4096 ? length - 4096 : length;
    random_seed(&random, 2);
    for (unsigned i = 0; i < CHANGES; i++) {
        static const uint8_t favourites[] = {0, 1, 2, 0x7f, 0x80, 0xff};
        memcpy(bad, good, length);
        for (uint64_t n = 1 + random_u64(&random) % 3; n > 0; n--)
            bad[random_u64(&random) % fields] = favourites[random_u64(&random) % sizeof favourites];
        pack(w, bad, length);
        int outcome = in_child(restore_any, w);
        assert_true(outcome == REFUSED || outcome == RESTORED);
        refused += outcome == REFUSED;
    }
    assert_true(refused > CHANGES / 20); /* lengths, flags, kinds and ranges are looked at */
    free(good);
    free(bad);
}

/* ---- processes that there cannot be */

static void sleep_without_call(struct process *p)
{
    p->threads->call.asleep = true;
}

static void sleep_for_nothing(struct process *p)
{
    p->threads->call.begun = p->threads->call.asleep = true;
}

static void wait_for_signals_in_another_call(struct process *p)
{
    p->threads->call.begun = true;
    p->threads->call.sigwait = 1;
}

static void wait_for_children(struct process *p)
{
    p->threads->call.begun = p->threads->call.asleep = p->threads->call.child = true;
}

static void let_nobody_live(struct process *p)
{
    p->threads->exited = true;
}

static void live_too_long(struct process *p)
{
    p->offset_ns = UINT64_MAX - 1;
}

static void arm_a_timer_for_the_past(struct process *p)
{
    p->timers[0].expires_ns = 1;
    p->timers[0].interval_ns = UINT64_MAX - 1;
}

static void give_the_next_id_twice(struct process *p)
{
    p->threads->tid = p->family->next_id;
}

static void handle_kill(struct process *p)
{
    p->actions[SIGKILL].handler = 0x10000;
}

static void impossible_processes_are_refused(void **state)
{
    static void (*const spoilers[])(struct process * p) = {
        sleep_without_call,       sleep_for_nothing,      wait_for_signals_in_another_call,
        wait_for_children,        let_nobody_live,        live_too_long,
        arm_a_timer_for_the_past, give_the_next_id_twice, handle_kill};
    struct world w = *(const struct world *)*state;
    for (size_t i = 0; i < sizeof spoilers / sizeof *spoilers; i++) {
        w.spoil = spoilers[i];
        assert_int_equal(in_child(save, &w), 0);
        if (in_child(restore, &w) != REFUSED)
            fail_msg("number %zu was restored", i);
    }
}

/* ---- names */

static int files_in(const char *folder)
{
    int count = 0;
    DIR *d = opendir(folder);
    assert_non_null(d);
    for (const struct dirent *e; (e = readdir(d)) != NULL;)
        count += e->d_name[0] != '.' || (e->d_name[1] != 0 && e->d_name[1] != '.');
    closedir(d);
    return count;
}

/* An old file stays until the new one is complete, and no third one is there afterwards. */
static void a_file_is_replaced_when_the_new_one_is_complete(void **state)
{
    struct world w = *(const struct world *)*state;
    struct error err;
    int before = files_in(w.folder);
    struct stat old, now;
    assert_int_equal(stat(w.file, &old), 0);
    struct checkpoint_file *file = checkpoint_create(w.file, &err);
    assert_non_null(file);
    checkpoint_close(file);
    assert_int_equal(stat(w.file, &now), 0);
    assert_true(now.st_ino == old.st_ino && now.st_size == old.st_size);
    assert_int_equal(in_child(save, &w), 0);
    assert_int_equal(stat(w.file, &now), 0);
    assert_true(now.st_ino != old.st_ino && now.st_size == old.st_size);
    assert_int_equal(files_in(w.folder), before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_good_one_is_restored),
        cmocka_unit_test(truncations_are_refused),
        cmocka_unit_test(more_behind_the_end_is_refused),
        cmocka_unit_test(every_flipped_bit_is_refused),
        cmocka_unit_test(a_changed_program_is_refused),
        cmocka_unit_test(changed_fields_do_no_harm),
        cmocka_unit_test(impossible_processes_are_refused),
        cmocka_unit_test(a_file_is_replaced_when_the_new_one_is_complete),
    };
    return cmocka_run_group_tests_name("checkpoint", tests, begin, end);
}
