/* Runs a RISC-V program on a simulated core and prints a breakdown of its cycles while it runs:
 *
 *     cc -o watch watch.c $(pkg-config --cflags --libs cyclescope)
 *     ./watch ./program arguments
 *
 * WATCH_INTERVAL in the environment sets the cycles per line. */
#include <cyclescope/cyclescope.h>
#include <stdio.h>
#include <stdlib.h>

static void print_share(const char *name, double share)
{
    if (share >= 0.005)
        printf("  %s %.0f %%", name, 100 * share);
}

/* Callback for each breakdown. */
static int print_breakdown(void *context, const struct cyclescope_breakdown *b)
{
    (void)context;
    printf("%12llu instructions  CPI %.3f:", (unsigned long long)b->first_insn,
           b->insns ? (double)b->cycles / (double)b->insns : 0);
    print_share("completion", b->cycles ? (double)b->completion / (double)b->cycles : 0);
    for (int i = 0; i < CYCLESCOPE_SOURCES; i++)
        print_share(cyclescope_source_name((enum cyclescope_source)i), cyclescope_share(b, (enum cyclescope_source)i));
    printf("\n");
    return fflush(stdout) != 0; /* the output has no reader: a nonzero result ends the run */
}

int main(int argc, char **argv)
{
    struct cyclescope_options options = cyclescope_defaults();
    struct cyclescope_result result;
    struct cyclescope_error error;
    if (argc < 2) {
        fprintf(stderr, "usage: watch PROGRAM [ARGUMENTS]\n");
        return 2;
    }
    const char *interval = getenv("WATCH_INTERVAL");
    if (interval)
        options.interval_cycles = strtoull(interval, NULL, 10);
    struct cyclescope *run = cyclescope_start(argv + 1, &options, &error);
    if (run == NULL || cyclescope_each(run, print_breakdown, NULL, &error) < 0 ||
        cyclescope_finish(run, &result, &error) < 0) {
        fprintf(stderr, "watch: %s\n", error.text);
        cyclescope_free(run);
        return 125;
    }
    cyclescope_free(run);
    printf("%llu instructions, %llu cycles in %llu intervals, exit status %d\n", (unsigned long long)result.total.insns,
           (unsigned long long)result.total.cycles, (unsigned long long)result.total.number, result.exit_status);
    return result.exit_status;
}
