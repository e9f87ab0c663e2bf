/* Files with wrong bytes, or cut off: names may be lost, nothing else. Worth running under sanitizers. */
#include "symbols_world.h"

#include "base/random.h"

enum { ROUNDS = 600, QUESTIONS = 80 };

static uint64_t below(struct random *r, uint64_t limit)
{
    return limit ? random_u64(r) % limit : 0;
}

/* Half of the wrong bytes go where a byte counts: the headers and the tables of symbols and relocations. */
static size_t choose_byte(struct random *r, const unsigned char *good, size_t length)
{
    const Elf64_Ehdr *header = (const void *)good;
    const Elf64_Shdr *section = (const void *)(good + header->e_shoff);
    switch (below(r, 8)) {
    case 0: return below(r, sizeof *header);
    case 1: return header->e_phoff + below(r, header->e_phnum * sizeof(Elf64_Phdr));
    case 2: return header->e_shoff + below(r, header->e_shnum * sizeof(Elf64_Shdr));
    case 3:
    case 4:
    case 5:
        section += below(r, header->e_shnum);
        return section->sh_type == SHT_NOBITS ? 0 : section->sh_offset + below(r, section->sh_size);
    default: return below(r, length);
    }
}

static void damage(struct random *r, const unsigned char *good, unsigned char *bytes, size_t *length)
{
    static const unsigned char telling[] = {0x00, 0x01, 0x7f, 0x80, 0xff};
    size_t whole = *length;
    memcpy(bytes, good, whole);
    for (uint64_t n = 1 + below(r, 6); n > 0; n--) {
        size_t at = choose_byte(r, good, whole);
        if (at < whole)
            bytes[at] = below(r, 2) ? telling[below(r, sizeof telling)] : (unsigned char)random_u64(r);
    }
    if (below(r, 4) == 0)
        *length = below(r, whole);
}

/* What was found all the same. */
struct found {
    unsigned names, lines;
};

static void ask(struct random *r, struct symbols *s, uint64_t start, uint64_t length, struct found *found)
{
    for (int i = 0; i < QUESTIONS; i++) {
        struct place p;
        const char *file;
        unsigned line;
        char bytes[32];
        uint64_t address = start + below(r, i & 1 ? length + PAGE : PAGE);
        symbols_code(s, address, &p);
        assert_true(p.name[0] != '\0' && p.module[0] != '\0');
        assert_true(p.size == 0 || address - p.start < p.size);
        found->names += p.has_symbol;
        symbols_data(s, address, &p);
        assert_true(p.name[0] != '\0' && p.module[0] != '\0');
        if (symbols_line(s, address, &file, &line)) {
            assert_true(strlen(file) > 0 && line > 0);
            found->lines++;
        }
        assert_true(symbols_bytes(s, address, bytes, sizeof bytes) <= sizeof bytes);
    }
}

static void damage_file(const struct world *w, const char *name, uint64_t bias, uint64_t seed)
{
    struct random r;
    struct found found = {0, 0};
    size_t whole;
    unsigned char *good = read_all(in(w, name), &whole), *bytes = malloc(whole);
    char broken[PATH_BYTES];
    strcpy(broken, in(w, "broken"));
    assert_non_null(bytes);
    random_seed(&r, seed);
    for (int round = 0; round < ROUNDS; round++) {
        size_t length = whole;
        damage(&r, good, bytes, &length);
        remove(broken); /* much faster than to overwrite it */
        FILE *f = fopen(broken, "wb");
        assert_non_null(f);
        assert_int_equal(fwrite(bytes, 1, length, f), length);
        fclose(f);
        struct symbols *s = new_symbols(NULL);
        load_as(s, in(w, name), broken, bias, round & 1);
        ask(&r, s, bias, 2 * PAGE, &found);
        symbols_free(s);
    }
    assert_true(found.names > ROUNDS && found.lines > ROUNDS / 2);
    free(bytes);
    free(good);
}

static void broken_files_do_no_harm(void **state)
{
    const struct world *w = *state;
    damage_file(w, "pie", 0x2aaaaaa000, 1);
    damage_file(w, "libguest.so", 0x3f80123000, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(broken_files_do_no_harm),
    };
    return cmocka_run_group_tests_name("symbols-corrupt", tests, make_world, remove_world);
}
