/* A guest program of known addresses and a profile of it whose sums are known by construction, for tests of reports. */
#ifndef TESTS_UNIT_REPORT_WORLD_H
#define TESTS_UNIT_REPORT_WORLD_H

#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/core.h"
#include "profile/profile_names.h"

/* Lines are numbered from 1; all instructions have four bytes. */
static const char *const source_lines[] = {
    /* 1 */ "    .option norvc",
    "    .option norelax",
    "    .globl _start, work, leaf, table, counter",
    "    .type _start, @function",
    /* 5 */ "_start: jal ra, work", /* 10000 */
    "    jal ra, leaf",             /* 10004 */
    "    ecall",                    /* 10008 */
    "    .size _start, . - _start",
    "    .type work, @function",
    /* 10 */ "work: addi sp, sp, -16", /* 1000c */
    "    jal ra, leaf",                /* 10010 */
    "    jal ra, work",                /* 10014 */
    "    bne a0, zero, work",          /* 10018 */
    "    ret",                         /* 1001c */
    /* 15 */ "    .size work, . - work",
    "    .type leaf, @function",
    "leaf: ld a0, 0(a1)", /* 10020 */
    "    add a0, a0, a0", /* 10024 */
    "    ret",            /* 10028 */
    /* 20 */ "    .size leaf, . - leaf",
    "    .data",
    "    .type table, @object",
    "table: .zero 96", /* 20000 */
    "    .size table, . - table",
    /* 25 */ "    .type counter, @object",
    "counter: .zero 32", /* 20060 */
    "    .size counter, . - counter",
    "    .section .note.GNU-stack,\"\",@progbits",
};

enum {
    PC_START_ECALL = 0x10008,
    PC_WORK = 0x1000c,
    PC_WORK_BRANCH = 0x10018,
    PC_LEAF = 0x10020,
    PC_LEAF_ADD = 0x10024,
    SITE_START_WORK = 0x10000,
    SITE_START_LEAF = 0x10004,
    SITE_WORK_LEAF = 0x10010,
    SITE_WORK_WORK = 0x10014,
    DATA_TABLE = 0x20000,
    DATA_COUNTER = 0x20060,
    HEAP = 0x300000
};

struct world {
    char folder[64], program[128], source[128];
    char file[128]; /* the profile that is being written */
    struct profile_writer *writer;
    struct profile *profile;
    struct symbols *symbols;
    struct profile_names *names;
    char *text; /* what was written last by a function under test */
    size_t length;
    FILE *to;
};

/* ---- the program */

static inline int make_world(void **state)
{
    struct world *w = calloc(1, sizeof *w);
    char command[1024];
    assert_non_null(w);
    strcpy(w->folder, "/tmp/cyclescope-test-XXXXXX");
    assert_non_null(mkdtemp(w->folder));
    snprintf(w->program, sizeof w->program, "%s/program", w->folder);
    snprintf(w->source, sizeof w->source, "%s/source.s", w->folder);
    snprintf(w->file, sizeof w->file, "%s/test.prof", w->folder);
    FILE *f = fopen(w->source, "w");
    assert_non_null(f);
    for (size_t i = 0; i < sizeof source_lines / sizeof source_lines[0]; i++)
        fprintf(f, "%s\n", source_lines[i]);
    assert_int_equal(fclose(f), 0);
    snprintf(command, sizeof command,
             "riscv64-linux-gnu-gcc -Wa,-g -nostdlib -static -no-pie -Wl,-Ttext=0x10000,-Tdata=0x20000 -o %s %s",
             w->program, w->source);
    assert_int_equal(system(command), 0);
    *state = w;
    return 0;
}

static inline void close_profile(struct world *w)
{
    profile_names_free(w->names);
    symbols_free(w->symbols);
    profile_free(w->profile);
    w->names = NULL;
    w->symbols = NULL;
    w->profile = NULL;
    free(w->text);
    w->text = NULL;
}

/* ---- text that functions under test write */

static inline FILE *open_text(struct world *w)
{
    free(w->text);
    w->text = NULL;
    w->to = open_memstream(&w->text, &w->length);
    assert_non_null(w->to);
    return w->to;
}

static inline const char *close_text(struct world *w)
{
    assert_int_equal(fclose(w->to), 0);
    return w->text;
}

static inline int remove_world(void **state)
{
    struct world *w = *state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", w->folder);
    assert_int_equal(system(command), 0);
    free(w);
    return 0;
}

/* ---- writing */

static inline void put(struct world *w, const struct profile_record *r)
{
    profile_write(w->writer, r);
}

static inline void put_map(struct world *w, uint64_t start, uint64_t length, uint64_t offset, const char *path)
{
    put(w, &(struct profile_record){.kind = PROFILE_MAP, .map = {start, length, offset, path}});
}

/* As a loader would. */
static inline void put_program(struct world *w)
{
    Elf64_Ehdr header;
    Elf64_Phdr ph;
    FILE *f = fopen(w->program, "rb");
    assert_non_null(f);
    assert_int_equal(fread(&header, sizeof header, 1, f), 1);
    for (unsigned i = 0; i < header.e_phnum; i++) {
        assert_int_equal(fseek(f, (long)(header.e_phoff + i * sizeof ph), SEEK_SET), 0);
        assert_int_equal(fread(&ph, sizeof ph, 1, f), 1);
        uint64_t before = ph.p_vaddr & 0xfff;
        if (ph.p_type == PT_LOAD)
            put_map(w, ph.p_vaddr - before, (ph.p_memsz + before + 0xfff) & ~UINT64_C(0xfff), ph.p_offset - before,
                    w->program);
    }
    fclose(f);
}

static inline void begin(struct world *w)
{
    struct error err;
    FILE *to = fopen(w->file, "wb");
    assert_non_null(to);
    w->writer = profile_writer_new(to, &err);
    assert_non_null(w->writer);
    put(w, &(struct profile_record){.kind = PROFILE_INFO, .info = {"program", w->program}});
    put(w, &(struct profile_record){.kind = PROFILE_INFO, .info = {"core", "small"}});
    put_program(w);
    put_map(w, HEAP, 0x10000, 0, "[heap]");
}

static inline void put_event(struct world *w, uint32_t number, const char *name, uint64_t period)
{
    put(w, &(struct profile_record){.kind = PROFILE_EVENT, .event = {number, name, period, number == 0}});
}

static inline void put_chain(struct world *w, uint32_t number, uint32_t parent, uint64_t site, uint64_t entry)
{
    put(w, &(struct profile_record){.kind = PROFILE_CHAIN, .chain = {number, parent, site, entry}});
}

static inline void put_samples(struct world *w, struct profile_sample s, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        put(w, &(struct profile_record){.kind = PROFILE_SAMPLE, .sample = s});
}

/* What was written becomes w->profile; NULL if it cannot be read. */
static inline void load(struct world *w, bool ended, struct error *err)
{
    if (ended)
        assert_int_equal(profile_writer_close(w->writer, err), 0);
    else
        profile_writer_abandon(w->writer);
    FILE *from = fopen(w->file, "rb");
    assert_non_null(from);
    w->profile = profile_load(from, "test.prof", true, err);
    fclose(from);
}

static inline void load_names(struct world *w, bool ended)
{
    struct error err = {""};
    load(w, ended, &err);
    assert_string_equal(err.text, "");
    assert_non_null(w->profile);
    w->symbols = profile_symbols(w->profile, NULL, &err);
    assert_non_null(w->symbols);
    w->names = profile_names_new(w->profile, w->symbols, true, &err);
    assert_non_null(w->names);
}

/* ---- the usual profile: of cycles 100 in _start, 500 in work, of which 300 after a call of itself, and 1,400 in leaf,
 * of which 300 were called by _start; of misses 60 and 20 in leaf */

enum { CHAIN_WORK = 1, CHAIN_WORK_LEAF, CHAIN_WORK_WORK, CHAIN_WORK_WORK_LEAF, CHAIN_LEAF };

static inline void put_usual(struct world *w)
{
    begin(w);
    put_event(w, 0, "cycles", 100);
    put_event(w, 1, "l1d_misses:u", 10);
    put_chain(w, CHAIN_WORK, 0, SITE_START_WORK, PC_WORK);
    put_chain(w, CHAIN_WORK_LEAF, CHAIN_WORK, SITE_WORK_LEAF, PC_LEAF);
    put_chain(w, CHAIN_WORK_WORK, CHAIN_WORK, SITE_WORK_WORK, PC_WORK);
    put_chain(w, CHAIN_WORK_WORK_LEAF, CHAIN_WORK_WORK, SITE_WORK_LEAF, PC_LEAF);
    put_chain(w, CHAIN_LEAF, 0, SITE_START_LEAF, PC_LEAF);
    put_samples(w, (struct profile_sample){.pc = PC_START_ECALL, .weight = 100}, 1);
    put_samples(w, (struct profile_sample){.pc = PC_WORK_BRANCH, .chain = CHAIN_WORK, .weight = 100}, 2);
    put_samples(w, (struct profile_sample){.pc = PC_WORK_BRANCH, .chain = CHAIN_WORK_WORK, .weight = 100}, 3);
    put_samples(w, (struct profile_sample){.pc = PC_LEAF, .chain = CHAIN_WORK_LEAF, .weight = 100}, 5);
    put_samples(w, (struct profile_sample){.pc = PC_LEAF, .chain = CHAIN_WORK_WORK_LEAF, .weight = 100}, 4);
    put_samples(w, (struct profile_sample){.pc = PC_LEAF_ADD, .chain = CHAIN_WORK_WORK_LEAF, .weight = 100}, 2);
    put_samples(w, (struct profile_sample){.pc = PC_LEAF_ADD, .chain = CHAIN_LEAF, .weight = 100}, 3);
    struct profile_sample miss = {.event = 1, .pc = PC_LEAF, .chain = CHAIN_WORK_LEAF, .weight = 10};
    miss.flags = PROFILE_HAS_ADDRESS;
    miss.outcome = EVENT_L1D | EVENT_L2D;
    miss.address = DATA_TABLE + 72;
    put_samples(w, miss, 4);
    miss.address = DATA_COUNTER;
    miss.outcome = EVENT_L1D;
    miss.flags |= PROFILE_STORE;
    put_samples(w, miss, 1);
    miss.address = HEAP + 8;
    put_samples(w, miss, 1);
    miss.flags = 0;
    miss.chain = CHAIN_LEAF;
    put_samples(w, miss, 2);
    put(w, &(struct profile_record){.kind = PROFILE_TOTAL, .total = {0, 2034}});
}

static inline void open_usual(struct world *w)
{
    put_usual(w);
    load_names(w, true);
}

#endif
