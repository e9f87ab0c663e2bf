/* A library with a function that is known outside, and one behind it that is not. */
int library_zeros[3000];
int library_numbers[8] = {4};

static int step(int x);

int library_add(int a, int b)
{
    library_zeros[a & 7] += b;
    return step(a) + library_numbers[b & 7];
}

static __attribute__((noinline)) int step(int x)
{
    int sum = 0;
    for (int i = 0; i < x; i++)
        sum ^= sum * 3 + library_zeros[i & 7];
    return sum;
}
