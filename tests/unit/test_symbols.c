/* Names and lines of real guest programs, beside what nm, objdump and addr2line say. */
#include "symbols_world.h"

#include <unistd.h>

#define BIAS     UINT64_C(0x2aaaaaa000)
#define LIB_BIAS UINT64_C(0x3f80123000)

enum { FIRST_ADDRESS = 0x200 }; /* of all files; what nm shows below it are offsets of thread-local variables */

static struct place code_at(struct symbols *s, uint64_t pc)
{
    struct place p;
    symbols_code(s, pc, &p);
    return p;
}

static struct place data_at(struct symbols *s, uint64_t addr)
{
    struct place p;
    symbols_data(s, addr, &p);
    return p;
}

static void expect_symbol(struct place p, const char *module, const char *name, uint64_t start, uint64_t size)
{
    assert_string_equal(p.name, name);
    assert_string_equal(p.module, module);
    assert_true(p.has_symbol);
    assert_int_equal(p.start, start);
    assert_int_equal(p.size, size);
}

static void expect_no_symbol(struct place p, const char *module, const char *name, uint64_t start)
{
    assert_string_equal(p.name, name);
    assert_string_equal(p.module, module);
    assert_false(p.has_symbol);
    assert_int_equal(p.start, start);
    assert_int_equal(p.size, 0);
}

/* ---- names */

/* Whether one of nm's symbols that contain the address has this name, start and size. nm shows names with their version
 * and as the linker knows them; the program's two mangled ones are compared elsewhere. */
static bool nm_agrees(const struct nm_symbol *n, size_t count, uint64_t pc, const struct place *p, bool *contained)
{
    bool agrees = false;
    *contained = false;
    for (size_t i = 0; i < count; i++) {
        if (pc - n[i].start >= n[i].size)
            continue;
        *contained = true;
        size_t length = strcspn(n[i].name, "@");
        bool same_name =
            strncmp(n[i].name, "_Z", 2) == 0 || (strncmp(n[i].name, p->name, length) == 0 && p->name[length] == '\0');
        agrees |= same_name && p->start == n[i].start && p->size == n[i].size;
    }
    return agrees;
}

static void check_against_nm(const char *file, uint64_t bias, struct symbols *s)
{
    struct nm_symbol *n;
    size_t count = nm(file, &n), checked = 0, step = count > 400 ? count / 400 : 1;
    for (size_t i = 0; i < count; i += step) {
        if (n[i].start < FIRST_ADDRESS || strchr("tTdDbBrRwWvVgGsSi", n[i].type) == NULL)
            continue;
        bool code = strchr("tTwWi", n[i].type) != NULL;
        for (uint64_t at = n[i].start; at < n[i].start + n[i].size + 2 && at < n[i].start + 40; at += 2) {
            bool contained;
            struct place p = code ? code_at(s, bias + at) : data_at(s, bias + at);
            p.start -= bias;
            bool agrees = nm_agrees(n, count, at, &p, &contained);
            if (contained && !agrees)
                fail_msg("%s: 0x%lx is called %s", file, at, p.name);
            if (!contained && p.size != 0 && strstr(p.name, "@plt") == NULL)
                fail_msg("%s: 0x%lx is in no symbol but called %s", file, at, p.name);
            checked += contained;
        }
    }
    assert_true(checked > (count > 1000 ? 3000 : 50));
    free(n);
}

static void names_are_those_of_nm(void **state)
{
    const struct world *w = *state;
    struct symbols *s = new_symbols(NULL);
    load(s, in(w, "static"), 0);
    check_against_nm(in(w, "static"), 0, s);
    symbols_free(s);
    s = new_symbols(NULL);
    load(s, in(w, "pie"), BIAS);
    load_as(s, in(w, "libguest.so"), in(w, "libguest.so"), LIB_BIAS, true);
    check_against_nm(in(w, "pie"), BIAS, s);
    check_against_nm(in(w, "libguest.so"), LIB_BIAS, s);
    symbols_free(s);
}

static void the_best_of_several_names_is_shown(void **state)
{
    const struct world *w = *state;
    const char *file = in(w, "pie");
    struct nm_symbol n = nm_find(file, "__twice_as_much");
    struct symbols *s = new_symbols(NULL);
    load(s, file, BIAS);
    expect_symbol(code_at(s, BIAS + n.start + 2), file, "twice", BIAS + n.start, n.size);
    symbols_free(s);
}

static void names_are_demangled(void **state)
{
    const struct world *w = *state;
    const char *file = in(w, "pie");
    struct nm_symbol cpp = nm_find(file, "_ZN3foo3barEi");
    struct nm_symbol rust = nm_find(file, "_ZN4core3fmt5write17h0123456789abcdefE");
    struct symbols *s = new_symbols(NULL);
    load(s, file, BIAS);
    struct place p = code_at(s, BIAS + cpp.start);
    expect_symbol(p, file, "foo::bar(int)", BIAS + cpp.start, cpp.size);
    assert_ptr_equal(code_at(s, BIAS + cpp.start + 2).name, p.name);
    expect_symbol(code_at(s, BIAS + rust.start), file, "core::fmt::write", BIAS + rust.start, rust.size);
    symbols_free(s);
}

/* The innermost symbol with a size, else one before it without a size. Behind a symbol with a size there is none. */
static void symbols_nest_and_lack_sizes(void **state)
{
    const struct world *w = *state;
    const char *file = in(w, "static");
    uint64_t outer = nm_find(file, "outer").start, inner = nm_find(file, "inner").start;
    uint64_t outer_size = nm_find(file, "outer").size, inner_size = nm_find(file, "inner").size;
    uint64_t bare = nm_find(file, "bare").start, bare_data = nm_find(file, "bare_data").start;
    struct symbols *s = new_symbols(NULL);
    load(s, file, 0);
    expect_symbol(code_at(s, nm_find(file, "inner_label").start), file, "outer", outer, outer_size);
    expect_symbol(code_at(s, inner + inner_size - 2), file, "inner", inner, inner_size);
    expect_symbol(code_at(s, inner + inner_size), file, "outer", outer, outer_size);
    assert_false(code_at(s, outer + outer_size).has_symbol);
    assert_string_equal(code_at(s, outer + outer_size).name, "[static]");
    expect_symbol(code_at(s, bare), file, "bare", bare, 0);
    expect_symbol(code_at(s, bare + 2), file, "bare", bare, 0);
    expect_symbol(data_at(s, bare_data + 20), file, "bare_data", bare_data, 0);
    symbols_free(s);
}

static void stubs_are_those_of_objdump(void **state)
{
    const struct world *w = *state;
    const char *file = in(w, "pie");
    char command[PATH_BYTES + 64], line[256], name[128];
    struct symbols *s = new_symbols(NULL);
    load(s, file, BIAS);
    snprintf(command, sizeof command, "riscv64-linux-gnu-objdump -d -j .plt '%s'", file);
    FILE *f = popen(command, "r");
    assert_non_null(f);
    unsigned stubs = 0;
    uint64_t at;
    while (fgets(line, sizeof line, f))
        if (sscanf(line, "%lx <%127[^>]>:", &at, name) == 2 && strstr(name, "@plt")) {
            expect_symbol(code_at(s, BIAS + at + 12), file, name, BIAS + at, 16);
            stubs++;
        }
    pclose(f);
    assert_true(stubs >= 3);
    symbols_free(s);
}

/* ---- data */

static void data_has_names_in_anonymous_memory_too(void **state)
{
    const struct world *w = *state;
    const char *program = in(w, "pie"), *library = in(w, "libguest.so");
    struct nm_symbol zeros = nm_find(program, "zeros"), far = nm_find(library, "library_zeros");
    struct symbols *s = new_symbols(NULL);
    uint64_t end = load(s, program, BIAS);
    map(s, end, 0x21000, 0, "[heap]");
    load_as(s, library, library, LIB_BIAS, true);
    uint64_t last = BIAS + zeros.start + zeros.size - 1, library_last = LIB_BIAS + far.start + far.size - 1;
    assert_string_equal(code_at(s, last).module, "[anonymous]");
    expect_symbol(data_at(s, last), program, "zeros", BIAS + zeros.start, zeros.size);
    expect_symbol(data_at(s, library_last), library, "library_zeros", LIB_BIAS + far.start, far.size);
    expect_no_symbol(data_at(s, end), "[heap]", "[heap]", end);
    symbols_free(s);
}

/* Memory that is later used for something else, and a library that was there before. */
static void a_new_mapping_takes_the_old_names_away(void **state)
{
    const struct world *w = *state;
    const char *program = in(w, "pie"), *library = in(w, "libguest.so");
    uint64_t zeros = BIAS + nm_find(program, "zeros").start + 8000;
    struct nm_symbol add = nm_find(library, "library_add"), hidden = nm_find(program, "hidden");
    struct symbols *s = new_symbols(NULL);
    load(s, program, BIAS);
    assert_string_equal(data_at(s, zeros).name, "zeros");
    map(s, BIAS, 0x100000, 0, "");
    expect_no_symbol(data_at(s, zeros), "[anonymous]", "[anonymous]", BIAS);
    load(s, library, BIAS);
    expect_symbol(code_at(s, BIAS + add.start), library, "library_add", BIAS + add.start, add.size);
    map(s, page_down(BIAS + add.start), PAGE, 0, "[stack]");
    assert_string_equal(code_at(s, BIAS + add.start).name, "[stack]");
    load(s, program, LIB_BIAS);
    expect_symbol(code_at(s, LIB_BIAS + hidden.start), program, "hidden", LIB_BIAS + hidden.start, hidden.size);
    symbols_free(s);
}

static void what_has_no_name_says_so(void **state)
{
    const struct world *w = *state;
    char gone[PATH_BYTES], path[PATH_BYTES];
    struct error err = {""};
    struct symbols *s = new_symbols(NULL);
    strcpy(gone, in(w, "no/such/file"));
    const char *text = "tests/symbols/library.c";
    map(s, 0x100000, 0x3000, 0, gone);
    map(s, 0x101000, 0x1000, 0, "");
    map(s, 0x200000, 0x1000, 0, "[stack]");
    map(s, 0x300000, 0x1000, 0, text);
    map(s, 0x400000, 0x1000, 0, w->folder);
    expect_no_symbol(code_at(s, 0x99999), "[unknown]", "[unknown]", 0);
    expect_no_symbol(data_at(s, UINT64_MAX), "[unknown]", "[unknown]", 0);
    expect_no_symbol(code_at(s, 0x100fff), gone, "[file]", 0x100000);
    expect_no_symbol(code_at(s, 0x101000), "[anonymous]", "[anonymous]", 0x101000);
    expect_no_symbol(data_at(s, 0x102000), gone, "[file]", 0x102000);
    expect_no_symbol(code_at(s, 0x103000), "[unknown]", "[unknown]", 0);
    expect_no_symbol(data_at(s, 0x200fff), "[stack]", "[stack]", 0x200000);
    expect_no_symbol(code_at(s, 0x300004), text, "[library.c]", 0x300000);
    snprintf(path, sizeof path, "[%s]", strrchr(w->folder, '/') + 1);
    expect_no_symbol(code_at(s, 0x400004), w->folder, path, 0x400000);
    unsigned line;
    const char *file;
    char bytes[4];
    assert_false(symbols_line(s, 0x300004, &file, &line));
    assert_int_equal(symbols_bytes(s, 0x100000, bytes, 4), 0);
    assert_true(symbols_map(s, UINT64_MAX - 5, 100, 0, "/lib/x", &err) < 0);
    assert_non_null(strstr(err.text, "/lib/x"));
    symbols_free(s);
}

/* ---- which file */

static void a_stripped_library_has_dynamic_symbols(void **state)
{
    const struct world *w = *state;
    uint64_t start = nm_find(in(w, "libguest.so"), "library_add").start;
    struct nm_symbol step = nm_find(in(w, "libguest.so"), "step");
    shell(w, "riscv64-linux-gnu-strip --strip-all -o %D/stripped.so %D/libguest.so");
    const char *file = in(w, "stripped.so");
    struct symbols *s = new_symbols(NULL);
    load(s, file, LIB_BIAS);
    assert_string_equal(code_at(s, LIB_BIAS + start + 4).name, "library_add");
    expect_no_symbol(code_at(s, LIB_BIAS + step.start + step.size - 2), file, "[stripped.so]", page_down(LIB_BIAS));
    const char *source;
    unsigned line;
    assert_false(symbols_line(s, LIB_BIAS + start, &source, &line));
    symbols_free(s);
}

static void a_debug_file_is_found_by_build_id(void **state)
{
    const struct world *w = *state;
    struct nm_symbol hidden = nm_find(in(w, "pie"), "hidden");
    shell(w, "riscv64-linux-gnu-strip --strip-all -o %D/stripped %D/pie && "
             "id=$(riscv64-linux-gnu-readelf -n %D/pie | sed -n 's/.*Build ID: //p') && "
             "to=%D/root/usr/lib/debug/.build-id/$(echo $id | cut -c1-2) && mkdir -p $to && "
             "riscv64-linux-gnu-objcopy --only-keep-debug %D/pie $to/$(echo $id | cut -c3-).debug");
    const char *file = in(w, "stripped"), *source;
    unsigned line;
    struct symbols *s = new_symbols(in(w, "root"));
    load(s, file, BIAS);
    expect_symbol(code_at(s, BIAS + hidden.start + 2), file, "hidden", BIAS + hidden.start, hidden.size);
    assert_true(symbols_line(s, BIAS + hidden.start, &source, &line));
    assert_non_null(strstr(source, "tests/symbols/program.c"));
    symbols_free(s);

    /* One of another build is not taken. */
    shell(w, "f=$(find %D/root -name '*.debug') && riscv64-linux-gnu-objcopy --only-keep-debug %D/libguest.so $f");
    s = new_symbols(in(w, "root"));
    load(s, file, BIAS);
    assert_string_not_equal(code_at(s, BIAS + hidden.start + 2).name, "hidden");
    assert_false(symbols_line(s, BIAS + hidden.start, &source, &line));
    symbols_free(s);
}

/* Below the sysroot first, where absolute links stay, then as the path says. */
static void files_come_from_the_sysroot_first(void **state)
{
    const struct world *w = *state;
    const char *program = in(w, "pie");
    struct nm_symbol add = nm_find(in(w, "libguest.so"), "library_add"), hidden = nm_find(program, "hidden");
    shell(w, "mkdir -p %D/sys/lib %D/sys/%D && cp %D/libguest.so %D/sys/lib/library && "
             "ln -s /lib/library %D/sys/%D/pie");
    struct symbols *s = new_symbols(in(w, "sys"));
    load_as(s, in(w, "libguest.so"), "/lib/library", LIB_BIAS, true);
    expect_symbol(code_at(s, LIB_BIAS + add.start), "/lib/library", "library_add", LIB_BIAS + add.start, add.size);
    load_as(s, in(w, "libguest.so"), program, BIAS, true);
    expect_symbol(code_at(s, BIAS + add.start), program, "library_add", BIAS + add.start, add.size);
    symbols_free(s);
    shell(w, "rm %D/sys/%D/pie");
    s = new_symbols(in(w, "sys"));
    load(s, program, BIAS);
    expect_symbol(code_at(s, BIAS + hidden.start), program, "hidden", BIAS + hidden.start, hidden.size);
    symbols_free(s);
}

/* ---- lines */

/* addr2line's answer without what it adds about discriminators; empty if it does not know. */
static void read_answer(FILE *f, char *line, int room)
{
    assert_non_null(fgets(line, room, f));
    line[strcspn(line, " \n")] = '\0';
    const char *colon = strrchr(line, ':');
    if (line[0] == '?' || colon == NULL || atoi(colon + 1) == 0)
        line[0] = '\0';
}

static unsigned check_lines(const struct world *w, const char *file, uint64_t bias, uint64_t from, uint64_t to)
{
    char command[3 * PATH_BYTES], expected[PATH_BYTES * 2], actual[PATH_BYTES * 2];
    FILE *list = fopen(in(w, "addresses"), "w");
    assert_non_null(list);
    for (uint64_t at = from; at < to; at += 2)
        fprintf(list, "0x%lx\n", at);
    fclose(list);
    struct symbols *s = new_symbols(NULL);
    load(s, file, bias);
    snprintf(command, sizeof command, "riscv64-linux-gnu-addr2line -e '%s' <'%s'", file, in(w, "addresses"));
    FILE *answers = popen(command, "r");
    assert_non_null(answers);
    unsigned known = 0;
    for (uint64_t at = from; at < to; at += 2) {
        const char *source;
        unsigned line;
        read_answer(answers, expected, sizeof expected);
        actual[0] = '\0';
        if (symbols_line(s, bias + at, &source, &line))
            snprintf(actual, sizeof actual, "%s:%u", source, line);
        if (strcmp(actual, expected) != 0)
            fail_msg("%s: 0x%lx is at '%s', not '%s'", file, at, expected, actual);
        known += actual[0] != '\0';
    }
    pclose(answers);
    symbols_free(s);
    return known;
}

/* Only code is asked about: of data, addr2line tells where it is declared. */
static void lines_are_those_of_addr2line(void **state)
{
    const struct world *w = *state;
    uint64_t main_start = nm_find(in(w, "static"), "main").start, first = nm_find(in(w, "pie"), "_start").start;
    struct nm_symbol twice = nm_find(in(w, "pie"), "twice"), step = nm_find(in(w, "libguest.so"), "step");
    assert_true(check_lines(w, in(w, "static"), 0, main_start - 100, main_start + 8000) > 100);
    assert_true(check_lines(w, in(w, "pie"), BIAS, first, twice.start + twice.size) > 50);
    assert_true(check_lines(w, in(w, "libguest.so"), LIB_BIAS, step.start - 100, step.start + step.size) > 20);
    shell(w, "riscv64-linux-gnu-gcc -gdwarf-4 -O2 -static -ffunction-sections -Wl,--gc-sections -gz -o %D/dwarf4 "
             "tests/symbols/*.c");
    main_start = nm_find(in(w, "dwarf4"), "main").start;
    assert_true(check_lines(w, in(w, "dwarf4"), 0, main_start - 100, main_start + 8000) > 50);
}

/* ---- bytes and functions */

static void bytes_are_those_of_the_file(void **state)
{
    const struct world *w = *state;
    const char *file = in(w, "static");
    size_t length;
    unsigned char *whole = read_all(file, &length), bytes[3 * PAGE];
    const uint64_t start = 0x10000; /* where the file begins: offset 0 */
    struct symbols *s = new_symbols(NULL);
    load(s, file, 0);
    assert_int_equal(symbols_bytes(s, start + PAGE + 6, bytes, 8), 8);
    assert_memory_equal(bytes, whole + PAGE + 6, 8);
    map(s, start + PAGE, PAGE, PAGE, file); /* cuts the mapping into three, none of which ends the code */
    assert_int_equal(symbols_bytes(s, start + 10, bytes, sizeof bytes), sizeof bytes);
    assert_memory_equal(bytes, whole + 10, sizeof bytes);
    map(s, start + 2 * PAGE, PAGE, 0, "");
    assert_int_equal(symbols_bytes(s, start + 2 * PAGE - 6, bytes, 16), 6);
    assert_int_equal(symbols_bytes(s, start + 2 * PAGE, bytes, 16), 0);
    symbols_free(s);
    free(whole);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_those_of_nm),
        cmocka_unit_test(the_best_of_several_names_is_shown),
        cmocka_unit_test(names_are_demangled),
        cmocka_unit_test(symbols_nest_and_lack_sizes),
        cmocka_unit_test(stubs_are_those_of_objdump),
        cmocka_unit_test(data_has_names_in_anonymous_memory_too),
        cmocka_unit_test(a_new_mapping_takes_the_old_names_away),
        cmocka_unit_test(what_has_no_name_says_so),
        cmocka_unit_test(a_stripped_library_has_dynamic_symbols),
        cmocka_unit_test(a_debug_file_is_found_by_build_id),
        cmocka_unit_test(files_come_from_the_sysroot_first),
        cmocka_unit_test(lines_are_those_of_addr2line),
        cmocka_unit_test(bytes_are_those_of_the_file),
    };
    return cmocka_run_group_tests_name("symbols", tests, make_world, remove_world);
}
