/* The guest of tests/lib: does what its first argument says. */
#include <cyclescope/cyclescope.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile uint64_t sink;

static void spin(long n)
{
    for (long i = 0; i < n; i++)
        sink += (uint64_t)i * (uint64_t)i;
}

/* Prints what it knows of itself, at its beginning, later, and in a process that it forks. */
static int tell_about_itself(void)
{
    struct cyclescope_breakdown b;
    int first = cyclescope_self_read(&b);
    printf("first %d\n", first);
    if (first < 0)
        return first == -ENOENT ? 0 : 1;
    spin(200000);
    int later = cyclescope_self_read(&b);
    uint64_t sum = b.completion;
    for (int i = 0; later == 1 && i < CYCLESCOPE_SOURCES; i++)
        sum += b.stalls[i];
    printf("later %d, %s\n", later, later == 1 && sum == b.cycles && b.insns > 0 ? "adds up" : "does not add up");
    uint64_t number = b.number;
    spin(200000);
    printf("then %d, %s\n", cyclescope_self_read(&b), b.number > number ? "newer" : "not newer");
    fflush(stdout);
    if (fork() == 0) {
        printf("forked %d\n", cyclescope_self_read(&b));
        fflush(stdout);
        _exit(0);
    }
    wait(NULL);
    return 0;
}

static int count_descriptors(void)
{
    int count = 0;
    for (int fd = 0; fd < 1024; fd++)
        count += fcntl(fd, F_GETFD) >= 0;
    return count;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    long n = argc > 2 ? atol(argv[2]) : 0;
    if (strcmp(what, "spin") == 0)
        spin(n);
    else if (strcmp(what, "self") == 0)
        return tell_about_itself();
    else if (strcmp(what, "descriptors") == 0)
        return count_descriptors();
    else if (strcmp(what, "signal") == 0)
        raise((int)n);
    else if (strcmp(what, "read") == 0)
        return getchar();
    else if (strcmp(what, "family") == 0) {
        if (fork() == 0 && write(1, "f", 1) != 1)
            return 1;
        usleep(1000); /* the other one's turn */
        for (;;)
            spin(1000000);
    }
    return 3;
}
