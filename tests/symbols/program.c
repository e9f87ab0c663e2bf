/* A program whose symbols are of every kind that tests/unit/test_symbols.c asks for. */
#include <stdio.h>

int library_add(int a, int b);

int zeros[5000];               /* beyond the pages of the file */
int numbers[16] = {1, 2, 3};   /* in the file */
static long counter[4] = {10}; /* local */
const char table[64] = "constants";

/* A member of a class, and a function of Rust. */
int cpp_member(int x) __asm__("_ZN3foo3barEi");
int rust_function(int x) __asm__("_ZN4core3fmt5write17h0123456789abcdefE");

__attribute__((noinline)) int cpp_member(int x)
{
    return x * 3 + numbers[x & 15];
}

__attribute__((noinline)) int rust_function(int x)
{
    return x * 5 + (int)counter[x & 3];
}

/* Four names of one function: the shortest global one without underscores is shown. */
__attribute__((noinline)) int __twice_as_much(int x)
{
    for (int i = 0; i < x; i++)
        zeros[i] += i;
    return 2 * x;
}
extern int twice(int x) __attribute__((alias("__twice_as_much")));
extern int twice_long(int x) __attribute__((weak, alias("__twice_as_much")));
static int two(int x) __attribute__((used, alias("__twice_as_much")));

/* A function with another inside, an inner label, labels without type and size behind it, and untyped data. */
__asm__(".text\n"
        ".globl outer\n.type outer, @function\nouter:\n"
        "  nop\n  nop\n"
        "inner_label:\n"
        "  nop\n"
        ".type inner, @function\ninner:\n"
        "  nop\n  nop\n"
        ".size inner, .-inner\n"
        "  nop\n  ret\n"
        ".size outer, .-outer\n"
        "  nop\n  nop\n"
        "bare:\n"
        "  nop\n  ret\n"
        ".data\n"
        "bare_data: .space 24\n"
        ".text\n");

static __attribute__((noinline)) int hidden(int x)
{
    int sum = 0;
    for (int i = 0; i < x; i++)
        if (table[i & 63] & 1)
            sum += library_add(i, x);
    return sum;
}

int main(int argc, char **argv)
{
    (void)argv;
    counter[0] = hidden(argc);
    printf("%d %d %d %ld\n", cpp_member(argc), rust_function(argc), twice(argc), counter[0]);
    return 0;
}
