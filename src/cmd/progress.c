#include "cmd/progress.h"

#include <time.h>

#include "cmd/guest_run.h"
#include "cmd/terminal.h"

static double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void progress_begin(struct progress *p, FILE *to, bool quiet, uint64_t skip_insns, uint64_t max_insns)
{
    bool terminal = !quiet && terminal_obeys(to);
    double now = now_seconds();
    *p = (struct progress){
        .to = terminal ? to : NULL, .skip_insns = skip_insns, .max_insns = max_insns, .begun = now, .printed = now};
}

/* Ends the line: what a run of `insns` instructions, `done` of which took `seconds`, still takes. */
static void print_rest(struct progress *p, uint64_t insns, uint64_t done, double seconds)
{
    if (insns && done)
        fprintf(p->to, ", %.0f s left", (double)(insns - done) / ((double)done / seconds));
    fputs("\033[K", p->to);
    fflush(p->to);
    p->shown = true;
}

void progress_skip(void *context, uint64_t insns)
{
    struct progress *p = context;
    double now = now_seconds();
    if (p->to == NULL || now - p->printed < 0.25)
        return;
    p->printed = now;
    fprintf(p->to, "\rskipped %.0f of %.0f million instructions", (double)insns / 1e6, (double)p->skip_insns / 1e6);
    print_rest(p, p->skip_insns, insns, now - p->begun);
}

void progress_note(void *context, uint64_t insns)
{
    struct progress *p = context;
    double now = now_seconds(), seconds = now - p->measuring;
    if (p->measuring == 0) {
        p->measuring = p->printed = now;
        p->cpu = cpu_seconds();
        return;
    }
    if (p->to == NULL || now - p->printed < 0.25)
        return;
    p->printed = now;
    double rate = (double)insns / seconds;
    fprintf(p->to, "\r%.1f million instructions, %.2f MIPS", (double)insns / 1e6, rate / 1e6);
    print_rest(p, p->max_insns, insns, seconds);
}

void progress_end(struct progress *p)
{
    if (p->shown)
        fputs("\r\033[K", p->to);
}

double progress_skip_seconds(const struct progress *p)
{
    return (p->measuring ? p->measuring : now_seconds()) - p->begun;
}

double progress_seconds(const struct progress *p)
{
    return p->measuring ? now_seconds() - p->measuring : 0;
}

double progress_cpu_seconds(const struct progress *p)
{
    return p->measuring ? cpu_seconds() - p->cpu : 0;
}
