/* Guest programs, cross-compiled into a temporary folder, and a loader that maps them as Linux and the C library do. */
#ifndef TESTS_UNIT_SYMBOLS_WORLD_H
#define TESTS_UNIT_SYMBOLS_WORLD_H

#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "symbols/symbols.h"

enum { PAGE = 4096, PATH_BYTES = 256 };

/* What is in the folder: static, pie (uses libguest.so) and libguest.so. */
struct world {
    char folder[64];
};

/* Runs a shell command; %D in it stands for the folder. */
static inline void shell(const struct world *w, const char *command)
{
    char text[2048];
    size_t length = 0;
    for (const char *c = command; *c; c++)
        if (c[0] == '%' && c[1] == 'D' && c++)
            length += (size_t)snprintf(text + length, sizeof text - length, "%s", w->folder);
        else
            text[length++] = *c;
    text[length] = '\0';
    assert_int_equal(system(text), 0);
}

static inline const char *in(const struct world *w, const char *name)
{
    static char paths[8][PATH_BYTES];
    static unsigned next;
    char *path = paths[next++ % 8];
    snprintf(path, PATH_BYTES, "%s/%s", w->folder, name);
    return path;
}

static inline int make_world(void **state)
{
    struct world *w = calloc(1, sizeof *w);
    strcpy(w->folder, "/tmp/cyclescope-test-XXXXXX");
    assert_non_null(mkdtemp(w->folder));
    shell(w, "riscv64-linux-gnu-gcc -g -O2 -shared -fPIC -o %D/libguest.so tests/symbols/library.c && "
             "riscv64-linux-gnu-gcc -g -O2 -pie -fPIE -o %D/pie tests/symbols/program.c -L%D -lguest && "
             "riscv64-linux-gnu-gcc -g -O2 -static -no-pie -fno-pie -o %D/static tests/symbols/*.c");
    *state = w;
    return 0;
}

static inline int remove_world(void **state)
{
    struct world *w = *state;
    shell(w, "rm -rf %D");
    free(w);
    return 0;
}

static inline unsigned char *read_all(const char *path, size_t *length)
{
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    fseek(f, 0, SEEK_END);
    *length = (size_t)ftell(f);
    rewind(f);
    unsigned char *bytes = malloc(*length + 1);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, *length, f), *length);
    fclose(f);
    return bytes;
}

static inline struct symbols *new_symbols(const char *sysroot)
{
    struct error err;
    struct symbols *s = symbols_new(sysroot, &err);
    assert_non_null(s);
    return s;
}

static inline void map(struct symbols *s, uint64_t start, uint64_t length, uint64_t offset, const char *path)
{
    struct error err = {""};
    assert_int_equal(symbols_map(s, start, length, offset, path, &err), 0);
}

static inline uint64_t page_down(uint64_t a)
{
    return a / PAGE * PAGE;
}

static inline uint64_t page_up(uint64_t a)
{
    return page_down(a + PAGE - 1);
}

/* Maps the segments of a file, and anonymous memory where it has no bytes. With `span`, as the dynamic linker: first
 * all addresses with the first segment, over which the others are laid. Returns the end of what is mapped. */
static inline uint64_t load_as(struct symbols *s, const char *file, const char *path, uint64_t bias, bool span)
{
    size_t length;
    unsigned char *bytes = read_all(file, &length);
    const Elf64_Ehdr *header = (const void *)bytes;
    const Elf64_Phdr *ph = (const void *)(bytes + header->e_phoff);
    uint64_t end = 0;
    for (int i = 0; i < header->e_phnum; i++)
        if (ph[i].p_type == PT_LOAD)
            end = page_up(ph[i].p_vaddr + ph[i].p_memsz);
    for (int i = 0; i < header->e_phnum; i++) {
        if (ph[i].p_type != PT_LOAD)
            continue;
        uint64_t start = page_down(ph[i].p_vaddr), file_end = page_up(ph[i].p_vaddr + ph[i].p_filesz);
        uint64_t memory_end = page_up(ph[i].p_vaddr + ph[i].p_memsz);
        map(s, bias + start, (span ? end : file_end) - start, page_down(ph[i].p_offset), path);
        span = false;
        if (memory_end > file_end)
            map(s, bias + file_end, memory_end - file_end, 0, "");
    }
    free(bytes);
    return bias + end;
}

static inline uint64_t load(struct symbols *s, const char *file, uint64_t bias)
{
    return load_as(s, file, file, bias, false);
}

/* A line of `nm -S`. */
struct nm_symbol {
    uint64_t start, size;
    char type;
    char name[128];
};

/* Every defined symbol of a file; their number. */
static inline size_t nm(const char *file, struct nm_symbol **symbols)
{
    char command[PATH_BYTES + 64], line[512];
    size_t count = 0, room = 0;
    snprintf(command, sizeof command, "riscv64-linux-gnu-nm -S --defined-only '%s'", file);
    FILE *f = popen(command, "r");
    assert_non_null(f);
    *symbols = NULL;
    while (fgets(line, sizeof line, f)) {
        struct nm_symbol n = {0};
        bool has_size = strlen(line) > 33 && line[33] == ' '; /* sixteen digits, a space, sixteen digits */
        int read = has_size ? sscanf(line, "%lx %lx %c %127s", &n.start, &n.size, &n.type, n.name) - 1
                            : sscanf(line, "%lx %c %127s", &n.start, &n.type, n.name);
        assert_int_equal(read, 3);
        if (count == room) {
            room = room ? 2 * room : 256;
            *symbols = realloc(*symbols, room * sizeof **symbols);
            assert_non_null(*symbols);
        }
        (*symbols)[count++] = n;
    }
    pclose(f);
    assert_true(count > 0);
    return count;
}

static inline struct nm_symbol nm_find(const char *file, const char *name)
{
    struct nm_symbol *symbols, found = {0};
    size_t count = nm(file, &symbols);
    for (size_t i = 0; i < count; i++)
        if (strcmp(symbols[i].name, name) == 0)
            found = symbols[i];
    free(symbols);
    if (found.start == 0)
        fail_msg("%s has no symbol %s", file, name);
    return found;
}

#endif
