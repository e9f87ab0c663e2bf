/* Starting a program: finding it, running its script or ELF interpreter, and the state that it finds at its entry.
 *
 * exec_prepare reads and checks everything while the old program is still there; exec_commit replaces it and cannot go
 * back. */
#ifndef CYCLESCOPE_GUEST_EXEC_H
#define CYCLESCOPE_GUEST_EXEC_H

#include "guest/elf.h"
#include "guest/process_priv.h"

/* Strings in the emulator's memory, as execve passes them. */
struct string_list {
    char **items; /* not terminated */
    size_t count, room;
    uint64_t bytes; /* of all strings with their zeros */
};

int string_list_add(struct string_list *list, const char *string) MUST_CHECK; /* a copy; 0 or -ENOMEM */
int string_list_insert(struct string_list *list, size_t at, const char *string) MUST_CHECK;
void string_list_free(struct string_list *list);

/* A program that can be started. */
struct exec_plan {
    char execfn[PATH_MAX];          /* the path that execve was given, or a script's interpreter */
    char exe[PATH_MAX];             /* without links, for /proc/self/exe */
    int program_fd, interpreter_fd; /* -1 if there is none */
    struct elf_image program, interpreter;
    struct string_list argv, envp;
};

void exec_plan_init(struct exec_plan *plan);
void exec_plan_free(struct exec_plan *plan);

/* Opens `path` with the plan's arguments in place. 0, or a negative errno and a sentence. */
int exec_prepare(struct exec_plan *plan, struct process *p, const char *path, struct error *err) MUST_CHECK;
bool exec_is_elf(const struct exec_plan *plan); /* after a failure: the file says that it is an ELF file */
/* Looks a command up in PATH of the plan's environment, as execvp does. */
int exec_search(const struct exec_plan *plan, struct process *p, const char *command, char path[PATH_MAX],
                struct error *err) MUST_CHECK;
/* Replaces the program of the process; `t` is the thread that remains. */
int exec_commit(struct exec_plan *plan, struct thread *t, struct error *err) MUST_CHECK;

/* What stack_build needs to know of the loaded program. */
struct stack_facts {
    const struct elf_mapping *program;
    uint64_t phdr_count;
    uint64_t interpreter_base; /* 0 if there is none */
};
/* Puts arguments, environment and auxiliary vector below `top` of the mapped stack; the stack pointer, or 0 if they do
 * not fit. (stack.c) */
uint64_t stack_build(struct process *p, const struct exec_plan *plan, const struct stack_facts *facts, uint64_t top,
                     uint64_t size);

#endif
