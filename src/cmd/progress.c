#include "cmd/progress.h"

#include <time.h>

#include "cmd/guest_run.h"

static double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void progress_begin(struct progress *p, struct status_line *line, uint64_t skip_insns, uint64_t max_insns)
{
    double now = now_seconds();
    *p =
        (struct progress){.line = line, .skip_insns = skip_insns, .max_insns = max_insns, .begun = now, .printed = now};
}

/* Returns true if the line is shown, and it is time to update it. */
static bool is_due(struct progress *p, double now)
{
    if (p->line == NULL || now - p->printed < PROGRESS_MS / 1000.0)
        return false;
    p->printed = now;
    return true;
}

enum { REST_SIZE = 40 };

/* What a run of `insns` instructions, `done` of which took `seconds`, still takes. */
static const char *rest(char text[REST_SIZE], uint64_t insns, uint64_t done, double seconds)
{
    text[0] = '\0';
    if (insns > done && done)
        snprintf(text, REST_SIZE, ", %.0f s left", (double)(insns - done) / ((double)done / seconds));
    return text;
}

void progress_skip(void *context, uint64_t insns)
{
    struct progress *p = context;
    double now = now_seconds();
    char text[REST_SIZE];
    if (is_due(p, now))
        status_line_draw(p->line, "skipped %.0f of %.0f million instructions%s", (double)insns / 1e6,
                         (double)p->skip_insns / 1e6, rest(text, p->skip_insns, insns, now - p->begun));
}

void progress_note(void *context, uint64_t insns)
{
    struct progress *p = context;
    double now = now_seconds(), seconds = now - p->measuring;
    char text[REST_SIZE];
    if (p->measuring == 0) {
        p->measuring = p->printed = now;
        p->cpu = cpu_seconds();
        return;
    }
    if (is_due(p, now))
        status_line_draw(p->line, "%.1f million instructions, %.2f MIPS%s", (double)insns / 1e6,
                         (double)insns / seconds / 1e6, rest(text, p->max_insns, insns, seconds));
}

void progress_run(struct progress *p, uint64_t insns, uint64_t all)
{
    double now = now_seconds();
    char text[REST_SIZE];
    if (!is_due(p, now))
        return;
    if (all)
        status_line_draw(p->line, "%.0f of %.0f million instructions%s", (double)insns / 1e6, (double)all / 1e6,
                         rest(text, all, insns, now - p->begun));
    else
        status_line_draw(p->line, "%.0f million instructions", (double)insns / 1e6);
}

void progress_end(struct progress *p)
{
    status_line_clear(p->line);
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
