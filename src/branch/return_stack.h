/* Return stack: a ring of return addresses. A push onto a full stack overwrites the oldest address; a pop from an empty
 * stack does nothing.
 *
 * Recovery restores the position of the top and the address there. That undoes any number of pops, and pushes after at
 * most one pop. It does not restore addresses below the top that a wrong path overwrote: by two or more pops followed
 * by pushes, or by more pushes than the stack has room for. */
#ifndef CYCLESCOPE_BRANCH_RETURN_STACK_H
#define CYCLESCOPE_BRANCH_RETURN_STACK_H

#include <stdint.h>

enum { RETURN_STACK_MAX = 256 };

struct return_stack {
    uint32_t size;  /* 0: no return stack */
    uint32_t top;   /* index of the youngest address */
    uint32_t count; /* number of addresses in the stack */
    uint64_t address[RETURN_STACK_MAX];
};

static inline void return_stack_push(struct return_stack *s, uint64_t address)
{
    if (s->size == 0)
        return;
    s->top = s->top + 1 == s->size ? 0 : s->top + 1;
    s->address[s->top] = address;
    s->count += s->count < s->size;
}

static inline void return_stack_pop(struct return_stack *s)
{
    if (s->count == 0)
        return;
    s->top = (s->top == 0 ? s->size : s->top) - 1;
    s->count--;
}

/* Returns what return_stack_restore needs besides the address at the top. */
static inline uint32_t return_stack_place(const struct return_stack *s)
{
    return s->top | s->count << 16;
}

static inline void return_stack_restore(struct return_stack *s, uint32_t place, uint64_t top_address)
{
    s->top = place & 0xffff;
    s->count = place >> 16;
    s->address[s->top] = top_address;
}

#endif
