/* Reads a whole slice log into memory. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "sampler/slice_log.h"

enum { SLICES_MOST = 1 << 24 }; /* 4 GB: limits what a small, damaged file can make us allocate */

/* The log that is being loaded, and the allocated sizes of its arrays. */
struct loading {
    struct slice_log *log;
    size_t info_room, group_room, event_room, text_room, context_room, slice_room, total_room;
};

static int out_of_memory(struct error *err)
{
    return error_set(err, -ENOMEM, "out of memory for a slice log");
}

/* Makes room for one more element. `array` is the address of a pointer to elements of any type. */
static bool grow(void *array, size_t count, size_t *room, size_t element_bytes)
{
    void *old, *grown;
    memcpy(&old, array, sizeof old);
    grown = array_grow(old, count, room, element_bytes);
    if (grown)
        memcpy(array, &grown, sizeof grown);
    return grown != NULL;
}

static bool add_info(struct loading *l, const struct slice_log_info *info)
{
    struct slice_log *log = l->log;
    if (!grow(&log->info, log->info_count, &l->info_room, sizeof *log->info))
        return false;
    char **pair = log->info[log->info_count++];
    pair[0] = strdup(info->name);
    pair[1] = strdup(info->value);
    return pair[0] && pair[1];
}

static bool add_event(struct loading *l, const struct slice_log_event *event)
{
    struct slice_log *log = l->log;
    struct plan *plan = &log->plan;
    if (!grow(&plan->event, plan->event_count, &l->event_room, sizeof *plan->event) ||
        !grow(&log->text, plan->event_count, &l->text_room, sizeof *log->text))
        return false;
    plan->event[plan->event_count] = event->event;
    log->text[plan->event_count] = strdup(event->text);
    return log->text[plan->event_count++] != NULL;
}

static bool add_group(struct loading *l, const struct plan_group *group)
{
    struct plan *plan = &l->log->plan;
    if (!grow(&plan->group, plan->group_count, &l->group_room, sizeof *plan->group))
        return false;
    plan->group[plan->group_count++] = *group;
    return true;
}

static bool add_context(struct loading *l, const struct slice_log_context *context)
{
    struct slice_log *log = l->log;
    if (!grow(&log->context, log->context_count, &l->context_room, sizeof *log->context))
        return false;
    struct slice_log_program *p = &log->context[log->context_count++];
    *p = (struct slice_log_program){.program = strdup(context->program)};
    return p->program != NULL;
}

static bool add_slice(struct loading *l, const struct slice *slice)
{
    struct slice_log *log = l->log;
    if (log->slice_count == SLICES_MOST || !grow(&log->slice, log->slice_count, &l->slice_room, sizeof *log->slice))
        return false;
    log->slice[log->slice_count++] = *slice;
    return true;
}

static bool add_total(struct loading *l, const struct slice_log_total *total)
{
    struct slice_log *log = l->log;
    if (!grow(&log->total, log->total_count, &l->total_room, sizeof *log->total))
        return false;
    log->total[log->total_count++] = *total;
    return true;
}

static void set_plan(struct slice_log *log, const struct slice_log_plan *p)
{
    log->planned = true;
    log->plan.slots = p->slots;
    log->plan.slice = p->slice;
    log->plan.first_slice = p->first_slice;
    log->plan.clock = (enum slice_clock)p->clock;
    log->plan.fixed_order = p->fixed_order;
    log->plan.seed = p->seed;
    log->plan.least = p->least;
}

/* Adds a record to the log. False: out of memory. The reader has checked that numbers are valid indexes. */
static bool add(struct loading *l, const struct slice_log_record *r)
{
    switch (r->kind) {
    case LOG_INFO: return add_info(l, &r->info);
    case LOG_PLAN: set_plan(l->log, &r->plan); return true;
    case LOG_GROUP: return add_group(l, &r->group.group);
    case LOG_EVENT: return add_event(l, &r->event);
    case LOG_CONTEXT: return add_context(l, &r->context);
    case LOG_SLICE: return add_slice(l, &r->slice);
    case LOG_TOTAL: return add_total(l, &r->total);
    case LOG_EXIT:
        l->log->context[r->exit.context].ended = true;
        l->log->context[r->exit.context].exit = r->exit;
        return true;
    default: return true;
    }
}

int slice_log_load(struct slice_log *log, FILE *from, const char *name, struct error *err)
{
    struct slice_log_record record;
    struct loading l = {.log = log};
    *log = (struct slice_log){0};
    struct slice_log_reader *r = slice_log_reader_new(from, name, err);
    if (!r)
        return -EINVAL;
    int result;
    while ((result = slice_log_read(r, &record, err)) > 0)
        if (!add(&l, &record)) {
            result = out_of_memory(err);
            break;
        }
    log->complete = slice_log_reader_complete(r);
    slice_log_reader_free(r);
    return result;
}

void slice_log_free(struct slice_log *log)
{
    for (size_t i = 0; i < log->info_count; i++) {
        free(log->info[i][0]);
        free(log->info[i][1]);
    }
    for (size_t i = 0; i < log->plan.event_count; i++)
        free(log->text[i]);
    for (size_t i = 0; i < log->context_count; i++)
        free(log->context[i].program);
    free(log->info);
    free(log->text);
    free(log->context);
    free(log->slice);
    free(log->total);
    plan_free(&log->plan);
    *log = (struct slice_log){0};
}

const char *slice_log_info(const struct slice_log *log, const char *name)
{
    for (size_t i = 0; i < log->info_count; i++)
        if (strcmp(log->info[i][0], name) == 0)
            return log->info[i][1];
    return NULL;
}
