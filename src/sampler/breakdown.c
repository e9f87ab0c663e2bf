#include "sampler/breakdown.h"

#include <string.h>
#include <unistd.h>

_Static_assert((int)CYCLESCOPE_SOURCES == (int)STALL_SOURCES && (int)CYCLESCOPE_ICACHE == (int)STALL_ICACHE &&
                   (int)CYCLESCOPE_BRANCH == (int)STALL_BRANCH && (int)CYCLESCOPE_DCACHE == (int)STALL_DCACHE &&
                   (int)CYCLESCOPE_TRANSLATION == (int)STALL_TRANSLATION &&
                   (int)CYCLESCOPE_REJECT == (int)STALL_REJECT && (int)CYCLESCOPE_FPU == (int)STALL_FPU &&
                   (int)CYCLESCOPE_INTEGER == (int)STALL_INTEGER && (int)CYCLESCOPE_OTHER == (int)STALL_OTHER,
               "stall sources have the same numbers as in the public header");

/* guest_report.read: copies the latest breakdown if it fits. */
static size_t read_report(void *context, void *to, size_t size)
{
    const struct breakdown_report *r = context;
    if (r->latest.number == 0 || size < sizeof r->latest || getpid() != r->host_pid)
        return 0;
    memcpy(to, &r->latest, sizeof r->latest);
    return sizeof r->latest;
}

void breakdown_report_init(struct breakdown_report *r)
{
    *r = (struct breakdown_report){
        .latest = {.size = sizeof r->latest, .version = CYCLESCOPE_API_VERSION},
        .report = {.read = read_report, .context = r},
        .host_pid = getpid(),
    };
}

void breakdown_report_add(struct breakdown_report *r, const struct stall_interval *i)
{
    struct cyclescope_breakdown *b = &r->latest;
    b->number++;
    b->first_insn = i->first_insn;
    b->first_cycle = i->first_cycle;
    b->insns = i->insns;
    b->cycles = i->cycles;
    b->completion = i->completion;
    memcpy(b->stalls, i->stalls, sizeof b->stalls);
    memcpy(b->error, i->error, sizeof b->error);
}
