#include "guest/execve.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/io.h"
#include "guest/files_priv.h"

/* Limits of Linux for scripts: nesting of script interpreters, and bytes of the first line that are read. */
enum { SCRIPT_DEPTH = 5, SCRIPT_LINE = 256 };

#define STACK_SMALLEST  (UINT64_C(256) << 10) /* a lower RLIMIT_STACK is raised to this many bytes */
#define STRINGS_MOST    (UINT64_C(6) << 20)   /* bytes of arguments and environment, whatever RLIMIT_STACK is */
#define STACK_UNLIMITED (UINT64_C(64) << 20)  /* bytes of stack if RLIMIT_STACK is infinite */

/* ---- lists of strings */

int string_list_insert(struct string_list *list, size_t at, const char *string)
{
    char **items = array_grow(list->items, list->count, &list->room, sizeof *items);
    if (!items)
        return -ENOMEM;
    list->items = items;
    char *copy = strdup(string);
    if (!copy)
        return -ENOMEM;
    memmove(&list->items[at + 1], &list->items[at], (list->count - at) * sizeof *list->items);
    list->items[at] = copy;
    list->count++;
    list->bytes += strlen(copy) + 1;
    return 0;
}

int string_list_add(struct string_list *list, const char *string)
{
    return string_list_insert(list, list->count, string);
}

static void string_list_drop_first(struct string_list *list)
{
    if (list->count == 0)
        return;
    list->bytes -= strlen(list->items[0]) + 1;
    free(list->items[0]);
    list->count--;
    memmove(&list->items[0], &list->items[1], list->count * sizeof *list->items);
}

void string_list_free(struct string_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->items[i]);
    free(list->items);
    memset(list, 0, sizeof *list);
}

void exec_plan_init(struct exec_plan *plan)
{
    memset(plan, 0, sizeof *plan);
    plan->program_fd = plan->interpreter_fd = -1;
}

void exec_plan_free(struct exec_plan *plan)
{
    if (plan->program_fd >= 0)
        close(plan->program_fd);
    if (plan->interpreter_fd >= 0)
        close(plan->interpreter_fd);
    string_list_free(&plan->argv);
    string_list_free(&plan->envp);
    plan->program_fd = plan->interpreter_fd = -1;
}

/* ---- finding and checking */

/* Opens an executable file. Returns a private descriptor, or a negative errno with a message in `err`. */
static int open_program(struct process *p, const char *path, char real[PATH_MAX], struct error *err)
{
    struct stat file;
    int fd = files_open_private(p->files, path, real);
    if (fd == -ENOENT && p->config.sysroot)
        return error_set(err, fd, "there is no %s under %s%s", path, p->config.sysroot,
                         p->config.isolate ? "" : ", nor on the host");
    if (fd == -ENOENT)
        return error_set(err, fd, "there is no %s", path);
    if (fd == -EACCES)
        return error_set(err, fd, "%s cannot be read: permission denied", path);
    if (fd < 0)
        return error_set(err, fd, "cannot open %s: %s", path, strerror(-fd));
    int result = 0;
    if (fstat(fd, &file) < 0)
        result = error_set(err, -errno, "cannot read the status of %s: %s", path, strerror(errno));
    else if (S_ISDIR(file.st_mode))
        result = error_set(err, -EACCES, "%s is a directory, not a program", path);
    else if (!S_ISREG(file.st_mode))
        result = error_set(err, -EACCES, "%s is not a regular file, so it cannot be a program", path);
    else if (!(file.st_mode & (S_IXUSR | S_IXGRP | S_IXOTH)))
        result = error_set(err, -EACCES, "%s is not executable: change that with chmod +x", path);
    if (result == 0)
        return fd;
    close(fd);
    return result;
}

/* If the file begins with `#!`, inserts the interpreter and its optional argument before argv, replaces argv[0] by the
 * script's path, writes the interpreter's path to `path` and returns 1. Returns 0 if the file is not a script, or a
 * negative errno. */
static int apply_script(struct exec_plan *plan, int fd, char path[PATH_MAX], struct error *err)
{
    char line[SCRIPT_LINE + 1];
    ssize_t length = io_pread(fd, line, SCRIPT_LINE, 0);
    if (length < 2 || line[0] != '#' || line[1] != '!')
        return 0;
    line[length] = 0;
    char *end = memchr(line, '\n', (size_t)length);
    if (end)
        *end = 0;
    char *interpreter = line + 2 + strspn(line + 2, " \t");
    char *argument = interpreter + strcspn(interpreter, " \t");
    bool cut_off = !end && length == SCRIPT_LINE && *argument == 0; /* the name may continue beyond the limit */
    if (*interpreter == 0 || cut_off)
        return error_set(err, -ENOEXEC, "%s is a script whose first line names no interpreter", path);
    if (*argument != 0) {
        *argument++ = 0;
        argument += strspn(argument, " \t");
    }
    size_t argument_length = strlen(argument);
    while (argument_length > 0 && (argument[argument_length - 1] == ' ' || argument[argument_length - 1] == '\t'))
        argument[--argument_length] = 0;

    string_list_drop_first(&plan->argv);
    int result = string_list_insert(&plan->argv, 0, path);
    if (result == 0 && *argument != 0)
        result = string_list_insert(&plan->argv, 0, argument);
    if (result == 0)
        result = string_list_insert(&plan->argv, 0, interpreter);
    if (result < 0)
        return error_set(err, result, "out of memory");
    snprintf(path, PATH_MAX, "%s", interpreter);
    return 1;
}

static int prepare_interpreter(struct exec_plan *plan, struct process *p, const char *program, struct error *err)
{
    const char *name = plan->program.interpreter;
    if (name[0] == 0)
        return 0;
    struct error reason;
    plan->interpreter_fd = open_program(p, name, NULL, &reason);
    if (plan->interpreter_fd == -ENOENT && p->config.sysroot)
        return error_set(err, -ENOENT,
                         "%.150s needs the interpreter %.150s, which is not under %.150s: "
                         "pass the right folder with --sysroot DIR, or link the program statically",
                         program, name, p->config.sysroot);
    if (plan->interpreter_fd == -ENOENT)
        return error_set(err, -ENOENT,
                         "%.200s needs the interpreter %.200s, which is not on this machine: "
                         "pass --sysroot DIR, or link the program statically",
                         program, name);
    if (plan->interpreter_fd < 0)
        return error_set(err, plan->interpreter_fd, "%.200s needs its interpreter, but %.250s", program, reason.text);
    int result = elf_read(&plan->interpreter, plan->interpreter_fd, name, &reason);
    if (result == 0 && !plan->interpreter.relocatable)
        result = error_set(&reason, -ENOEXEC, "%.200s is not position-independent", name);
    if (result < 0)
        return error_set(err, result == -ENOEXEC ? -ELIBBAD : result, "%.200s needs its interpreter, but %.250s",
                         program, reason.text);
    return 0;
}

static uint64_t stack_bytes(const struct process *p)
{
    uint64_t limit = p->limits[RLIMIT_STACK].rlim_cur;
    if (limit == RLIM_INFINITY)
        return STACK_UNLIMITED;
    if (limit > GUEST_SPACE / 8)
        limit = GUEST_SPACE / 8;
    if (limit < STACK_SMALLEST)
        limit = STACK_SMALLEST;
    return limit & ~(uint64_t)(GUEST_PAGE - 1);
}

uint64_t exec_strings_most(const struct process *p)
{
    uint64_t quarter = stack_bytes(p) / 4;
    return quarter < STRINGS_MOST ? quarter : STRINGS_MOST;
}

int exec_prepare(struct exec_plan *plan, struct process *p, const char *path, struct error *err)
{
    char at[PATH_MAX];
    if (snprintf(at, sizeof at, "%s", path) >= (int)sizeof at)
        return error_set(err, -ENAMETOOLONG, "the path of the program is longer than %d bytes", PATH_MAX - 1);
    if (plan->argv.count == 0 && string_list_add(&plan->argv, "") < 0)
        return error_set(err, -ENOMEM, "out of memory");
    for (int depth = 0;; depth++) {
        if (depth == SCRIPT_DEPTH)
            return error_set(err, -ELOOP, "%s is a script with an interpreter that is a script, nested too deeply",
                             path);
        struct error reason;
        int fd = open_program(p, at, plan->exe, &reason);
        if (fd < 0 && depth > 0)
            return error_set(err, fd, "%.200s is a script, but %.280s", path, reason.text);
        if (fd < 0)
            return error_set(err, fd, "%s", reason.text);
        memcpy(plan->execfn, at, sizeof at);
        int script = apply_script(plan, fd, at, err);
        if (script == 0) {
            plan->program_fd = fd;
            break;
        }
        close(fd);
        if (script < 0)
            return script;
    }
    uint64_t pointers = (plan->argv.count + plan->envp.count) * sizeof(uint64_t);
    if (plan->argv.bytes + plan->envp.bytes + pointers > exec_strings_most(p))
        return error_set(err, -E2BIG, "arguments and environment are longer than %llu KB",
                         (unsigned long long)exec_strings_most(p) >> 10);
    if (stack_bytes(p) > guest_memory_limit(p->memory))
        return error_set(err, -ENOMEM, "cannot map a stack of %llu KB: the memory limit is too low",
                         (unsigned long long)stack_bytes(p) >> 10);
    int result = elf_read(&plan->program, plan->program_fd, at, err);
    return result < 0 ? result : prepare_interpreter(plan, p, at, err);
}

bool exec_is_elf(const struct exec_plan *plan)
{
    char magic[4];
    return plan->program_fd >= 0 && io_pread_exactly(plan->program_fd, magic, sizeof magic, 0) &&
           memcmp(magic, "\177ELF", sizeof magic) == 0;
}

static const char *plan_path(const struct exec_plan *plan)
{
    for (size_t i = 0; i < plan->envp.count; i++)
        if (strncmp(plan->envp.items[i], "PATH=", 5) == 0)
            return plan->envp.items[i] + 5;
    return "/bin:/usr/bin";
}

int exec_search(const struct exec_plan *plan, struct process *p, const char *command, char path[PATH_MAX],
                struct error *err)
{
    struct error reason;
    if (command[0] == 0)
        return error_set(err, -ENOENT, "the name of the program is empty");
    if (strchr(command, '/')) {
        int length = snprintf(path, PATH_MAX, "%s", command);
        return length < PATH_MAX ? 0 : error_set(err, -ENAMETOOLONG, "the path of the program is too long");
    }
    for (const char *dir = plan_path(plan);; dir++) {
        size_t length = strcspn(dir, ":");
        int written = snprintf(path, PATH_MAX, "%.*s%s%s", (int)length, dir, length ? "/" : "./", command);
        int fd = written < PATH_MAX ? open_program(p, path, NULL, &reason) : -ENAMETOOLONG;
        if (fd >= 0) {
            close(fd);
            return 0;
        }
        dir += length;
        if (*dir == 0)
            break;
    }
    int here = files_open_private(p->files, command, NULL);
    if (here < 0)
        return error_set(err, -ENOENT, "there is no program %.200s in PATH=%.200s", command, plan_path(plan));
    close(here);
    return error_set(err, -ENOENT, "there is no program %.100s in PATH; the one in this folder is called ./%.100s",
                     command, command);
}

/* ---- the new program */

/* Maps the code that a signal handler returns to. In Linux it is part of the vDSO, which is not provided here. */
static int map_trampoline(struct process *p)
{
    static const uint32_t code[] = {0x08b00893 /* li a7, 139 */, 0x00000073 /* ecall */};
    int64_t at =
        guest_mmap(p->memory, 0, GUEST_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0, "[vdso]");
    if (at < 0)
        return (int)at;
    p->trampoline = (uint64_t)at;
    if (guest_copy_out(p->memory, p->trampoline, code, sizeof code) < 0)
        return -EFAULT;
    return (int)guest_mprotect(p->memory, p->trampoline, GUEST_PAGE, PROT_READ | PROT_EXEC);
}

static int set_cmdline(struct process *p, const struct string_list *argv)
{
    char *cmdline = malloc(argv->bytes + 1);
    if (!cmdline)
        return -ENOMEM;
    char *end = cmdline;
    for (size_t i = 0; i < argv->count; i++)
        end = stpcpy(end, argv->items[i]) + 1;
    free(p->cmdline);
    p->cmdline = cmdline;
    p->cmdline_bytes = argv->bytes;
    return 0;
}

static void reset_thread(struct thread *t, const char *execfn)
{
    struct hart *h = &t->hart;
    const char *slash = strrchr(execfn, '/');
    memset(h->x, 0, sizeof h->x);
    memset(h->f, 0, sizeof h->f);
    h->fflags = h->frm = 0;
    h->reserved_addr = NO_RESERVATION;
    t->clear_tid_addr = t->robust_list = 0;
    const char *base = slash ? slash + 1 : execfn;
    memset(t->name, 0, sizeof t->name);
    memcpy(t->name, base, strnlen(base, sizeof t->name - 1));
}

static int map_programs(struct exec_plan *plan, struct process *p, struct elf_mapping *program,
                        struct elf_mapping *interpreter, struct error *err)
{
    int result = elf_map(&plan->program, plan->program_fd, plan->exe, p->memory, ELF_PIE_BASE, program, err);
    if (result < 0)
        return result;
    guest_set_brk(p->memory, program->end);
    if (plan->interpreter_fd >= 0)
        result = elf_map(&plan->interpreter, plan->interpreter_fd, plan->program.interpreter, p->memory, 0, interpreter,
                         err);
    return result;
}

int exec_commit(struct exec_plan *plan, struct thread *t, struct error *err)
{
    struct process *p = t->process;
    struct elf_mapping program, interpreter = {0, 0, 0, 0};
    uint64_t size = stack_bytes(p);
    thread_free_others(p, t);
    t->tid = p->pid;
    files_close_on_exec(p->files);
    timers_delete_posix(p);
    signal_reset_for_exec(p);
    guest_memory_clear(p->memory);
    segments_detach_all(p);
    ipc_forget_waiters(p->family->ipc, p->pid, 0);
    reset_thread(t, plan->execfn);
    memcpy(p->exe, plan->exe, sizeof p->exe);
    p->exe_absolute = plan->execfn[0] == '/' && !path_below_start(p->files, plan->execfn);

    int result = (int)guest_map_stack(p->memory, GUEST_STACK_TOP, size);
    if (result < 0)
        return error_set(err, result, "cannot map a stack of %llu KB: the memory limit is too low",
                         (unsigned long long)size >> 10);
    if (plan->program.stack_exec)
        result = (int)guest_mprotect(p->memory, GUEST_STACK_TOP - size, size, PROT_READ | PROT_WRITE | PROT_EXEC);
    if (result == 0)
        result = map_programs(plan, p, &program, &interpreter, err);
    if (result < 0)
        return result;
    if ((result = map_trampoline(p)) < 0 || (result = set_cmdline(p, &plan->argv)) < 0)
        return error_set(err, result, "cannot start %s: %s", plan->exe, strerror(-result));
    p->loader_start = interpreter.base;
    p->loader_end = interpreter.end;
    struct stack_facts facts = {&program, plan->program.phdr_count, interpreter.base};
    uint64_t sp = stack_build(p, plan, &facts, GUEST_STACK_TOP, size);
    if (sp == 0)
        return error_set(err, -E2BIG, "the stack of %s cannot take its arguments", plan->exe);
    t->hart.x[REG_SP] = sp;
    hart_return_to(&t->hart, plan->interpreter_fd >= 0 ? interpreter.entry : program.entry);
    return 0;
}
