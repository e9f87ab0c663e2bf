/* Which host file a guest path names: without a sysroot, with one, and in isolation. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "guest/files_priv.h"

/* A folder of the host that holds a sysroot, and in the sysroot the folder's own path again:
 *
 *   BASE/both/f  BASE/both/host  BASE/hosts/f       on the host
 *   BASE/root/BASE/both/f  BASE/root/BASE/roots/f   in the sysroot
 *   BASE/bound/f  BASE/fixed/f                      to be bound, the second read-only */
struct world {
    char base[64];
    char root[136]; /* BASE/root/BASE */
    struct files *files;
    struct process process; /* only its id and its program matter */
};

static const char *in(const struct world *w, const char *name)
{
    static char paths[8][192];
    static unsigned next;
    char *path = paths[next++ % 8];
    snprintf(path, sizeof paths[0], "%s/%s", w->base, name);
    return path;
}

static void make_file(const char *path)
{
    char command[512];
    snprintf(command, sizeof command, "mkdir -p \"$(dirname '%s')\" && : >'%s'", path, path);
    assert_int_equal(system(command), 0);
}

static int set_up(void **state)
{
    struct world *w = calloc(1, sizeof *w);
    strcpy(w->base, "/tmp/cyclescope-test-XXXXXX");
    assert_non_null(mkdtemp(w->base));
    snprintf(w->root, sizeof w->root, "%s/root%s", w->base, w->base);
    char path[192];
    const char *host[] = {"both/f", "both/host", "hosts/f", "bound/f", "fixed/f"}, *roots[] = {"both/f", "roots/f"};
    for (size_t i = 0; i < sizeof host / sizeof *host; i++)
        make_file(in(w, host[i]));
    for (size_t i = 0; i < sizeof roots / sizeof *roots; i++) {
        snprintf(path, sizeof path, "%s/%s", w->root, roots[i]);
        make_file(path);
    }
    *state = w;
    return 0;
}

static int tear_down(void **state)
{
    struct world *w = *state;
    char command[128];
    files_free(w->files);
    snprintf(command, sizeof command, "rm -rf '%s'", w->base);
    assert_int_equal(system(command), 0);
    free(w);
    return 0;
}

static void open_world(struct world *w, bool sysroot, bool isolate)
{
    struct guest_bind binds[2] = {{in(w, "bound"), false}, {in(w, "fixed"), true}};
    struct process_config config = {
        .sysroot = sysroot ? in(w, "root") : NULL, .isolate = isolate, .binds = binds, .bind_count = 2};
    struct error err;
    w->files = files_new(&config, &err);
    assert_non_null(w->files);
    w->process.pid = 1000;
    strcpy(w->process.exe, in(w, "both/f"));
    files_attach(w->files, &w->process);
}

static void link_in(const char *folder, const char *name, const char *text)
{
    char path[192];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    assert_int_equal(symlink(text, path), 0);
}

/* The host path that `path` leads to, or "" with the error in `code`. */
static const char *found(struct world *w, const char *path, unsigned flags, int *code)
{
    static char host[PATH_MAX], name[PATH_MAX * 2];
    struct target target;
    *code = path_lookup(w->files, AT_FDCWD, path, flags, &target);
    if (*code < 0)
        return "";
    if (target.dir == AT_FDCWD) {
        snprintf(name, sizeof name, "%s", target.name);
    } else {
        assert_int_equal(host_path(target.dir, host), 0);
        snprintf(name, sizeof name, "%s%s%s", host, strcmp(target.name, ".") && target.name[0] ? "/" : "",
                 strcmp(target.name, ".") ? target.name : "");
    }
    target_release(&target);
    return name;
}

#define LEADS_TO(w, path, flags, host)                                                                                 \
    do {                                                                                                               \
        int code_;                                                                                                     \
        const char *name_ = found(w, path, flags, &code_);                                                             \
        assert_int_equal(code_, 0);                                                                                    \
        assert_string_equal(name_, host);                                                                              \
    } while (0)

#define FAILS(w, path, flags, error)                                                                                   \
    do {                                                                                                               \
        int code_;                                                                                                     \
        found(w, path, flags, &code_);                                                                                 \
        assert_int_equal(code_, -(error));                                                                             \
    } while (0)

static const char *in_root(const struct world *w, const char *name)
{
    static char paths[4][192];
    static unsigned next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", w->root, name);
    return path;
}

static void joining_shortens_by_text(void **state)
{
    char out[PATH_MAX], longest[PATH_MAX];
    const struct {
        const char *folder, *path, *want;
    } rows[] = {
        {"/a/b", "c", "/a/b/c"}, {"/a/b", "../c", "/a/c"},  {"/a", "/b//c/./", "/b/c"},
        {"/", "..", "/"},        {"/a", "../../..", "/"},   {"/a", "", "/a"},
        {"/", "", "/"},          {"/a/b", "x/../..", "/a"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(path_join(out, rows[i].folder, rows[i].path), 0);
        assert_string_equal(out, rows[i].want);
    }
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    assert_int_equal(path_join(out, "/a", longest), -ENAMETOOLONG);
}

static void without_a_sysroot_the_host_decides(void **state)
{
    struct world *w = *state;
    open_world(w, false, false);
    LEADS_TO(w, in(w, "both/f"), LOOKUP_FOLLOW, in(w, "both/f"));
    LEADS_TO(w, "/proc/self/root", LOOKUP_FOLLOW, "/");
    LEADS_TO(w, "/proc/self/exe", LOOKUP_FOLLOW, in(w, "both/f"));
    LEADS_TO(w, "/proc/1000/exe", LOOKUP_FOLLOW, in(w, "both/f"));
    FAILS(w, "", LOOKUP_FOLLOW, ENOENT);
    FAILS(w, "/proc/self/mem", LOOKUP_FOLLOW, ENOENT);
}

static void the_sysroot_comes_first(void **state)
{
    struct world *w = *state;
    open_world(w, true, false);
    LEADS_TO(w, in(w, "both/f"), LOOKUP_FOLLOW, in_root(w, "both/f"));
    LEADS_TO(w, in(w, "roots/f"), LOOKUP_FOLLOW, in_root(w, "roots/f"));
    LEADS_TO(w, in(w, "hosts/f"), LOOKUP_FOLLOW, in(w, "hosts/f"));
    LEADS_TO(w, in(w, "both/host"), LOOKUP_FOLLOW, in(w, "both/host"));
    LEADS_TO(w, in(w, "roots/../hosts/f"), LOOKUP_FOLLOW, in(w, "hosts/f"));
    LEADS_TO(w, "/dev/null", LOOKUP_FOLLOW, "/dev/null");
}

static void a_new_file_goes_to_the_host_if_it_has_the_folder(void **state)
{
    struct world *w = *state;
    open_world(w, true, false);
    LEADS_TO(w, in(w, "both/new"), LOOKUP_CREATE, in(w, "both/new"));
    LEADS_TO(w, in(w, "hosts/new"), LOOKUP_CREATE, in(w, "hosts/new"));
    LEADS_TO(w, in(w, "roots/new"), LOOKUP_CREATE, in_root(w, "roots/new"));
    LEADS_TO(w, in(w, "both/f"), LOOKUP_CREATE, in_root(w, "both/f"));
}

static void links_in_the_sysroot_are_the_guests(void **state)
{
    struct world *w = *state;
    open_world(w, true, false);
    link_in(w->root, "both/to_root", in(w, "roots/f"));
    link_in(w->root, "both/to_host", in(w, "hosts/f"));
    link_in(w->root, "both/beside", "../roots");
    link_in(w->root, "both/loop", "loop");
    LEADS_TO(w, in(w, "both/to_root"), LOOKUP_FOLLOW, in_root(w, "roots/f"));
    LEADS_TO(w, in(w, "both/to_root"), 0, in_root(w, "both/to_root"));
    LEADS_TO(w, in(w, "both/to_host"), LOOKUP_FOLLOW, in(w, "hosts/f"));
    LEADS_TO(w, in(w, "both/beside/f"), LOOKUP_FOLLOW, in_root(w, "roots/f"));
    LEADS_TO(w, in(w, "both/beside/"), 0, in_root(w, "roots"));
    FAILS(w, in(w, "both/loop"), LOOKUP_FOLLOW, ELOOP);
    FAILS(w, in(w, "both/f/"), LOOKUP_FOLLOW, ENOTDIR);
    FAILS(w, in(w, "both/f/x"), LOOKUP_FOLLOW, ENOTDIR);
}

static void the_working_folder_chooses_its_side(void **state)
{
    struct world *w = *state;
    open_world(w, true, false);
    assert_int_equal(files_chdir(w->files, AT_FDCWD, in(w, "hosts")), 0);
    LEADS_TO(w, "f", LOOKUP_FOLLOW, in(w, "hosts/f"));
    assert_int_equal(files_chdir(w->files, AT_FDCWD, in(w, "both")), 0);
    LEADS_TO(w, "f", LOOKUP_FOLLOW, in_root(w, "both/f"));
    LEADS_TO(w, "host", LOOKUP_FOLLOW, in(w, "both/host"));
    LEADS_TO(w, "../roots/f", LOOKUP_FOLLOW, in_root(w, "roots/f"));
    LEADS_TO(w, "new", LOOKUP_CREATE, in(w, "both/new"));
}

static void isolation_has_sysroot_and_binds(void **state)
{
    struct world *w = *state;
    open_world(w, true, true);
    LEADS_TO(w, in(w, "both/f"), LOOKUP_FOLLOW, in_root(w, "both/f"));
    LEADS_TO(w, in(w, "bound/f"), LOOKUP_FOLLOW, in(w, "bound/f"));
    LEADS_TO(w, in(w, "bound/../fixed/f"), LOOKUP_FOLLOW, in(w, "fixed/f"));
    LEADS_TO(w, in(w, "roots/new"), LOOKUP_CREATE, in_root(w, "roots/new"));
    LEADS_TO(w, in(w, "both/new"), LOOKUP_CREATE, in_root(w, "both/new"));
    LEADS_TO(w, "/../../..", LOOKUP_FOLLOW, in(w, "root"));
    FAILS(w, in(w, "hosts/f"), LOOKUP_FOLLOW, ENOENT);
    FAILS(w, in(w, "both/host"), LOOKUP_FOLLOW, ENOENT);
    FAILS(w, in(w, "hosts/new"), LOOKUP_CREATE, ENOENT);
}

static void isolation_does_not_follow_links_out(void **state)
{
    struct world *w = *state;
    open_world(w, true, true);
    link_in(w->root, "both/absolute", in(w, "hosts/f"));
    link_in(w->root, "both/relative", "../../../../hosts/f");
    link_in(w->root, "both/root", "/proc/self/root");
    link_in(w->root, "both/up", "../../../../../../../..");
    link_in(w->base, "bound/relative", "../hosts/f");
    FAILS(w, in(w, "both/absolute"), LOOKUP_FOLLOW, ENOENT);
    FAILS(w, in(w, "both/relative"), LOOKUP_FOLLOW, ENOENT);
    FAILS(w, in(w, "bound/relative"), LOOKUP_FOLLOW, ENOENT);
    LEADS_TO(w, in(w, "both/root"), LOOKUP_FOLLOW, in(w, "root"));
    LEADS_TO(w, in(w, "both/up"), LOOKUP_FOLLOW, in(w, "root"));
}

static void read_only_binds_refuse_changes(void **state)
{
    struct world *w = *state;
    struct target target;
    open_world(w, true, true);
    assert_int_equal(path_lookup_change(w->files, AT_FDCWD, in(w, "fixed/f"), 0, &target), -EROFS);
    assert_int_equal(path_lookup_change(w->files, AT_FDCWD, in(w, "fixed"), 0, &target), -EROFS);
    assert_int_equal(path_lookup_create(w->files, AT_FDCWD, in(w, "fixed/new"), &target), -EROFS);
    assert_int_equal(path_lookup_create(w->files, AT_FDCWD, in(w, "fixed/f"), &target), -EEXIST);
    assert_int_equal(path_lookup_change(w->files, AT_FDCWD, in(w, "bound/f"), 0, &target), 0);
    target_release(&target);
    assert_true(files_is_busy(w->files, in(w, "fixed")));
    assert_true(files_is_busy(w->files, w->base));
    assert_false(files_is_busy(w->files, in(w, "bound/f")));
}

static void a_folder_outside_is_no_place_to_start(void **state)
{
    struct world *w = *state;
    struct target target;
    open_world(w, true, true);
    int fd = open(in(w, "hosts"), O_RDONLY | O_DIRECTORY);
    assert_int_equal(path_lookup(w->files, fd, "f", LOOKUP_FOLLOW, &target), -EACCES);
    close(fd);
    fd = open(in(w, "bound"), O_RDONLY | O_DIRECTORY);
    assert_int_equal(path_lookup(w->files, fd, "f", LOOKUP_FOLLOW, &target), 0);
    target_release(&target);
    close(fd);
    assert_int_equal(path_lookup(w->files, fd, "f", LOOKUP_FOLLOW, &target), -EBADF);
    assert_int_equal(path_lookup(w->files, w->files->root, "f", LOOKUP_FOLLOW, &target), -EBADF);
}

#define PATH_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(joining_shortens_by_text),
        PATH_TEST(without_a_sysroot_the_host_decides),
        PATH_TEST(the_sysroot_comes_first),
        PATH_TEST(a_new_file_goes_to_the_host_if_it_has_the_folder),
        PATH_TEST(links_in_the_sysroot_are_the_guests),
        PATH_TEST(the_working_folder_chooses_its_side),
        PATH_TEST(isolation_has_sysroot_and_binds),
        PATH_TEST(isolation_does_not_follow_links_out),
        PATH_TEST(read_only_binds_refuse_changes),
        PATH_TEST(a_folder_outside_is_no_place_to_start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
