/* Starts a program: finds its file, resolves `#!` scripts and the ELF interpreter, and sets up memory and registers.
 *
 * exec_prepare reads and checks all files while the old program still exists. exec_commit then replaces the old
 * program. After a failure of exec_commit the old program is gone. */
#ifndef CYCLESCOPE_GUEST_EXECVE_H
#define CYCLESCOPE_GUEST_EXECVE_H

#include "guest/elf.h"
#include "guest/process_priv.h"

/* The strings of argv or of the environment, in the emulator's memory. */
struct string_list {
    char **items;   /* not terminated by NULL; the list owns the strings */
    size_t count;   /* number of strings */
    size_t room;    /* number of items allocated */
    uint64_t bytes; /* total size of the strings with their terminating zeros */
};

int string_list_add(struct string_list *list, const char *string) MUST_CHECK; /* appends a copy; 0 or -ENOMEM */
int string_list_insert(struct string_list *list, size_t at, const char *string) MUST_CHECK; /* a copy; 0 or -ENOMEM */
void string_list_free(struct string_list *list); /* frees the strings; the list is then empty */

/* A program that is about to be started. */
struct exec_plan {
    char execfn[PATH_MAX];                 /* AT_EXECFN: the path passed to execve, or a script's interpreter */
    char exe[PATH_MAX];                    /* guest path of the program without links, for /proc/self/exe */
    int program_fd, interpreter_fd;        /* private descriptors of the two ELF files; -1: none */
    struct elf_image program, interpreter; /* headers of the two ELF files */
    struct string_list argv, envp;         /* arguments and environment, filled in by the caller */
};

/* Returns the limit of the bytes of arguments and environment with their pointers: a quarter of the stack, and at most
 * 6 MB, as in Linux. */
uint64_t exec_strings_most(const struct process *p);
void exec_plan_init(struct exec_plan *plan);
void exec_plan_free(struct exec_plan *plan);

/* Opens and checks the program at guest path `path`. The plan's argv and envp must be set; for a script, the
 * interpreter and its argument are inserted before the arguments. Returns 0, or a negative errno with a message in
 * `err`. */
int exec_prepare(struct exec_plan *plan, struct process *p, const char *path, struct error *err) MUST_CHECK;
bool exec_is_elf(const struct exec_plan *plan); /* after exec_prepare has failed: the file starts with the ELF magic */
/* Searches for a command in PATH of the plan's environment, as execvp does, and writes its guest path to `path`.
 * Returns 0, or a negative errno with a message in `err`. */
int exec_search(const struct exec_plan *plan, struct process *p, const char *command, char path[PATH_MAX],
                struct error *err) MUST_CHECK;
/* Replaces the program of the process. All threads but `t` end. 0, or a negative errno with a message in `err`. */
int exec_commit(struct exec_plan *plan, struct thread *t, struct error *err) MUST_CHECK;

/* Facts about the loaded program that go into the auxiliary vector. */
struct stack_facts {
    const struct elf_mapping *program; /* where the program is mapped */
    uint64_t phdr_count;               /* number of its program headers */
    uint64_t interpreter_base;         /* AT_BASE: where the dynamic loader is mapped; 0: no loader */
};
/* stack.c: writes arguments, environment and auxiliary vector below `top` of the mapped stack of `size` bytes. Returns
 * the initial stack pointer, or 0 if the strings do not fit. */
uint64_t stack_build(struct process *p, const struct exec_plan *plan, const struct stack_facts *facts, uint64_t top,
                     uint64_t size);

#endif
