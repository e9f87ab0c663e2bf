#include "sampler/core_sampler.h"

#include <errno.h>
#include <string.h>

#include "riscv/csr.h"

/* The firmware's ELF file as data. The Makefile defines SAMPLER_FILE. */
__asm__(".pushsection .rodata\n"
        ".balign 8\n"
        ".globl cyclescope_sampler_firmware, cyclescope_sampler_firmware_end\n"
        ".hidden cyclescope_sampler_firmware, cyclescope_sampler_firmware_end\n"
        "cyclescope_sampler_firmware:\n"
        ".incbin \"" SAMPLER_FILE "\"\n"
        "cyclescope_sampler_firmware_end:\n"
        ".popsection\n");

extern const uint8_t cyclescope_sampler_firmware[] __attribute__((visibility("hidden")));
extern const uint8_t cyclescope_sampler_firmware_end[] __attribute__((visibility("hidden")));

/* simulation_firmware_hooks.prepare: writes the plan into the memory of the firmware. */
static int prepare(void *context, struct core *c, struct error *err)
{
    struct core_sampler *s = context;
    uint64_t free, start = core_firmware_free(c, &free);
    if (sampler_bytes(s->sampler) > free)
        return error_set(err, -ENOMEM, "the sampler's log does not fit the firmware's memory: take longer slices");
    s->memory = core_firmware_memory(c, start, sampler_bytes(s->sampler));
    sampler_load(s->sampler, s->memory);
    return 0;
}

/* Reads the counters of the running context. */
static void read_now(struct core_sampler *s, struct core *c, struct sampler_reading *now)
{
    *now = (struct sampler_reading){.cycles = core_machine_counter(c, COUNTER_CYCLE),
                                    .insns = core_machine_counter(c, COUNTER_INSTRET)};
    for (uint32_t i = 0; i < sampler_counters(s->sampler); i++)
        now->counter[i] = core_machine_counter(c, COUNTER_FIRST + i);
}

static void begin(void *context, struct core *c)
{
    struct core_sampler *s = context;
    struct sampler_reading now;
    read_now(s, c, &now);
    sampler_begin(s->sampler, s->memory, core_space(c), &now);
}

static void end(void *context, struct core *c)
{
    struct core_sampler *s = context;
    struct sampler_reading now;
    read_now(s, c, &now);
    sampler_end(s->sampler, s->memory, core_space(c), &now);
}

static void drain(void *context, struct core *c)
{
    struct core_sampler *s = context;
    (void)c;
    sampler_drain(s->sampler);
}

int core_sampler_init(struct core_sampler *c, const struct plan *plan, struct simulation *s, uint32_t programs,
                      uint64_t quantum, sampler_sink *sink, void *sink_context, struct error *err)
{
    /* Records between two drains, with ample room: a quantum may take 64 cycles per instruction. */
    uint64_t factor = plan->clock == CLOCK_CYCLES ? 1 : 2;
    uint64_t records = 16 + 64 * factor * quantum / plan_slice_in_round(plan, 0);
    *c = (struct core_sampler){
        .firmware_hooks = {.prepare = prepare, .begin = begin, .end = end, .drain = drain, .context = c}};
    c->sampler = sampler_new(plan, programs, records, sink, sink_context, err);
    if (c->sampler == NULL)
        return -EINVAL;
    s->firmware = "the sampler";
    s->firmware_image = cyclescope_sampler_firmware;
    s->firmware_bytes = (size_t)(cyclescope_sampler_firmware_end - cyclescope_sampler_firmware);
    s->firmware_hooks = &c->firmware_hooks;
    return 0;
}

void core_sampler_free(struct core_sampler *c)
{
    sampler_free(c->sampler);
    *c = (struct core_sampler){0};
}
