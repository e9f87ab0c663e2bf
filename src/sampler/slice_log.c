/* Slice logs as a format of the generic record writer and reader (base/block_records.h). */
#include "sampler/slice_log_format.h"

struct slice_log_writer {
    struct record_writer file; /* the only member, since record_writer_new allocates it */
};

struct slice_log_reader {
    struct record_reader file;
};

/* ---- writing */

struct slice_log_writer *slice_log_writer_new(FILE *to, struct error *err)
{
    return (struct slice_log_writer *)record_writer_new(&slice_log_format, to, err);
}

void slice_log_write(struct slice_log_writer *w, const struct slice_log_record *r)
{
    record_write(&w->file, r);
    if (r->kind == LOG_SLICE || r->kind == LOG_EXIT)
        record_writer_tick(&w->file);
}

void slice_log_write_plan(struct slice_log_writer *w, const struct plan *plan, const struct event_specs *specs)
{
    const struct slice_log_plan p = {.slots = plan->slots,
                                     .clock = plan->clock,
                                     .slice = plan->slice,
                                     .first_slice = plan->first_slice,
                                     .seed = plan->seed,
                                     .fixed_order = plan->fixed_order,
                                     .least = plan->least};
    slice_log_write(w, &(struct slice_log_record){.kind = LOG_PLAN, .plan = p});
    for (uint32_t i = 0; i < plan->group_count; i++)
        slice_log_write(w, &(struct slice_log_record){.kind = LOG_GROUP, .group = {i, plan->group[i]}});
    for (uint32_t i = 0; i < plan->event_count; i++) {
        const struct slice_log_event e = {i, specs->of[i].text, plan->event[i]};
        slice_log_write(w, &(struct slice_log_record){.kind = LOG_EVENT, .event = e});
    }
}

void slice_log_writer_flush(struct slice_log_writer *w)
{
    record_writer_flush(&w->file);
}

int slice_log_writer_close(struct slice_log_writer *w, struct error *err)
{
    return record_writer_close(&w->file, &(struct slice_log_record){.kind = LOG_END}, err);
}

void slice_log_writer_abandon(struct slice_log_writer *w)
{
    record_writer_abandon(&w->file);
}

/* ---- reading */

struct slice_log_reader *slice_log_reader_new(FILE *from, const char *name, struct error *err)
{
    return (struct slice_log_reader *)record_reader_new(&slice_log_format, from, name, err);
}

int slice_log_read(struct slice_log_reader *r, struct slice_log_record *to, struct error *err)
{
    return record_read(&r->file, to, err);
}

bool slice_log_reader_complete(const struct slice_log_reader *r)
{
    return r->file.complete;
}

void slice_log_reader_free(struct slice_log_reader *r)
{
    record_reader_free((struct record_reader *)r);
}
