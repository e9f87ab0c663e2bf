/* Builds the initial stack of a program. Contents from the top down: the path of the program, the strings of the
 * environment, the strings of the arguments, 16 random bytes; then the auxiliary vector, envp, argv, and argc at the
 * stack pointer. */
#include <elf.h>
#include <string.h>
#include <unistd.h>

#include "guest/execve.h"

#ifndef AT_MINSIGSTKSZ
#define AT_MINSIGSTKSZ 51
#endif

/* A stack that is being filled downwards. */
struct builder {
    struct guest_memory *memory;
    uint64_t sp;     /* guest address of the last item written */
    uint64_t bottom; /* lowest guest address of the stack */
    bool full;       /* an item did not fit or could not be written */
};

static uint64_t push_bytes(struct builder *b, const void *bytes, uint64_t length)
{
    if (b->full || length > b->sp - b->bottom) {
        b->full = true;
        return 0;
    }
    b->sp -= length;
    b->full = guest_copy_out(b->memory, b->sp, bytes, length) < 0;
    return b->sp;
}

static uint64_t push_string(struct builder *b, const char *string)
{
    return push_bytes(b, string, strlen(string) + 1);
}

/* Pushes the last string first, so that the strings are in ascending order in memory, as ps and setproctitle expect.
 * Returns the address of the first string. */
static uint64_t push_strings(struct builder *b, const struct string_list *list)
{
    for (size_t i = list->count; i-- > 0;)
        push_string(b, list->items[i]);
    return b->sp;
}

static uint64_t put_word(struct builder *b, uint64_t at, uint64_t word)
{
    if (!b->full)
        b->full = guest_copy_out(b->memory, at, &word, sizeof word) < 0;
    return at + sizeof word;
}

/* Writes a null-terminated array of pointers at `at`. They point to the strings of `list`, which lie one after the
 * other from address `string` on. Returns the address behind the array. */
static uint64_t put_pointers(struct builder *b, uint64_t at, const struct string_list *list, uint64_t string)
{
    for (size_t i = 0; i < list->count; i++) {
        at = put_word(b, at, string);
        string += strlen(list->items[i]) + 1;
    }
    return put_word(b, at, 0);
}

static uint64_t hwcap(void)
{
    uint64_t bits = 0;
    for (const char *letter = "IMAFDC"; *letter; letter++)
        bits |= UINT64_C(1) << (*letter - 'A');
    return bits;
}

uint64_t stack_build(struct process *p, const struct exec_plan *plan, const struct stack_facts *facts, uint64_t top,
                     uint64_t size)
{
    struct builder b = {.memory = p->memory, .sp = top, .bottom = top - size};
    uint8_t random[16];
    random_fill(&p->random, random, sizeof random);
    push_bytes(&b, &(uint64_t){0}, sizeof(uint64_t));
    uint64_t execfn = push_string(&b, plan->execfn);
    uint64_t envp = push_strings(&b, &plan->envp);
    uint64_t argv = push_strings(&b, &plan->argv);
    p->env_start = envp;
    p->env_end = execfn;
    b.sp &= ~UINT64_C(15);
    uint64_t random_addr = push_bytes(&b, random, sizeof random);

    const struct user_ids user = process_user(p);
    const uint64_t auxv[][2] = {
        {AT_HWCAP, hwcap()},
        {AT_PAGESZ, GUEST_PAGE},
        {AT_CLKTCK, 100},
        {AT_PHDR, facts->program->phdr_addr},
        {AT_PHENT, sizeof(Elf64_Phdr)},
        {AT_PHNUM, facts->phdr_count},
        {AT_BASE, facts->interpreter_base},
        {AT_FLAGS, 0},
        {AT_ENTRY, facts->program->entry},
        {AT_UID, user.uid},
        {AT_EUID, user.euid},
        {AT_GID, user.gid},
        {AT_EGID, user.egid},
        {AT_SECURE, 0},
        {AT_RANDOM, random_addr},
        {AT_EXECFN, execfn},
        {AT_MINSIGSTKSZ, SIGNAL_FRAME_BYTES},
        {AT_NULL, 0},
    };
    const uint64_t auxv_words = sizeof auxv / sizeof(uint64_t);
    uint64_t words = 1 + plan->argv.count + 1 + plan->envp.count + 1 + auxv_words;
    if (b.full || words > (b.sp - b.bottom) / sizeof(uint64_t) - 2)
        return 0;
    uint64_t sp = (b.sp - words * sizeof(uint64_t)) & ~UINT64_C(15);
    uint64_t at = put_word(&b, sp, plan->argv.count);
    at = put_pointers(&b, at, &plan->argv, argv);
    at = put_pointers(&b, at, &plan->envp, envp);
    for (size_t i = 0; i < sizeof auxv / sizeof auxv[0]; i++) {
        at = put_word(&b, at, auxv[i][0]);
        at = put_word(&b, at, auxv[i][1]);
    }
    return b.full ? 0 : sp;
}
