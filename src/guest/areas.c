#include "guest/areas.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_CAPACITY = 64 };

bool areas_init(struct areas *table)
{
    *table = (struct areas){.area = calloc(FIRST_CAPACITY, sizeof *table->area), .capacity = FIRST_CAPACITY};
    return table->area != NULL;
}

void areas_free(struct areas *table)
{
    for (size_t i = 0; i < table->count; i++)
        free(table->area[i].name);
    free(table->area);
}

size_t areas_first_above(const struct areas *table, uint64_t addr)
{
    size_t low = 0, high = table->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (table->area[middle].end > addr)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

bool areas_are_free(const struct areas *table, uint64_t start, uint64_t end)
{
    size_t i = areas_first_above(table, start);
    return i == table->count || table->area[i].start >= end;
}

bool areas_have(const struct areas *table, uint64_t start, uint64_t end, int prot)
{
    for (size_t i = areas_first_above(table, start); start < end; i++) {
        if (i == table->count || table->area[i].start > start || (table->area[i].prot & prot) != prot)
            return false;
        start = table->area[i].end;
    }
    return true;
}

static struct guest_area *insert_slot(struct areas *table, size_t at)
{
    if (table->count == table->capacity) {
        table->capacity = 2 * table->capacity;
        table->area = realloc(table->area, table->capacity * sizeof *table->area);
        if (table->area == NULL)
            abort();
    }
    memmove(&table->area[at + 1], &table->area[at], (table->count - at) * sizeof *table->area);
    table->count++;
    return &table->area[at];
}

/* Splits the area that contains `addr`, if any, so that no area extends across `addr`. */
static void split_at(struct areas *table, uint64_t addr)
{
    size_t i = areas_first_above(table, addr);
    if (i == table->count || table->area[i].start >= addr)
        return;
    struct guest_area *low = insert_slot(table, i);
    struct guest_area *high = low + 1;
    *low = *high;
    low->end = high->start = addr;
    high->offset += area_has_offset(high) ? addr - low->start : 0;
    high->name = low->name ? strdup(low->name) : NULL;
}

/* Whether `b` starts where `a` ends and has the same attributes, so that the two can be merged. */
static bool continues(const struct guest_area *a, const struct guest_area *b)
{
    bool same_name = a->name == NULL ? b->name == NULL : b->name != NULL && strcmp(a->name, b->name) == 0;
    bool same_object = a->dev == b->dev && a->inode == b->inode && a->object == b->object;
    return a->end == b->start && a->prot == b->prot && a->flags == b->flags && a->charged == b->charged &&
           a->detached == b->detached && same_object && same_name &&
           (!area_has_offset(a) || a->offset + (a->end - a->start) == b->offset);
}

static void merge_around(struct areas *table, uint64_t start, uint64_t end)
{
    size_t i = areas_first_above(table, start ? start - 1 : 0);
    while (i + 1 < table->count && table->area[i].start <= end) {
        if (!continues(&table->area[i], &table->area[i + 1])) {
            i++;
            continue;
        }
        table->area[i].end = table->area[i + 1].end;
        free(table->area[i + 1].name);
        memmove(&table->area[i + 1], &table->area[i + 2], (table->count - i - 2) * sizeof *table->area);
        table->count--;
    }
}

void areas_remove(struct areas *table, uint64_t start, uint64_t end)
{
    split_at(table, start);
    split_at(table, end);
    size_t from = areas_first_above(table, start), to = from;
    for (; to < table->count && table->area[to].start < end; to++)
        free(table->area[to].name);
    memmove(&table->area[from], &table->area[to], (table->count - to) * sizeof *table->area);
    table->count -= to - from;
}

void areas_add(struct areas *table, const struct guest_area *area)
{
    areas_remove(table, area->start, area->end);
    *insert_slot(table, areas_first_above(table, area->start)) = *area;
    merge_around(table, area->start, area->end);
}

void areas_charge(struct areas *table, uint64_t start, uint64_t end, bool charged)
{
    split_at(table, start);
    split_at(table, end);
    for (size_t i = areas_first_above(table, start); i < table->count && table->area[i].start < end; i++)
        table->area[i].charged = charged;
    merge_around(table, start, end);
}

void areas_protect(struct areas *table, uint64_t start, uint64_t end, int prot)
{
    split_at(table, start);
    split_at(table, end);
    for (size_t i = areas_first_above(table, start); i < table->count && table->area[i].start < end; i++)
        table->area[i].prot = prot;
    merge_around(table, start, end);
}
