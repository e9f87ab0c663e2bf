#include "report/base_report.h"

#include <stdlib.h>

#include "report/text_table.h"
#include "stacks/base_split.h"

enum { PARTS = GRAPH_LIMITS + 1 }; /* the limits, and the rest */

struct base_part {
    const char *key, *label;
    double cycles;
};

static int by_size(const void *a, const void *b)
{
    double x = ((const struct base_part *)a)->cycles, y = ((const struct base_part *)b)->cycles;
    return x < y ? 1 : x > y ? -1 : 0;
}

/* Fills in the limits, and then the rest. Returns the base. */
static double find_parts(const struct stack_interval *total, struct base_part part[PARTS])
{
    struct base_split b;
    double base = 0;
    base_split_find(total, &b);
    for (unsigned i = 0; i < GRAPH_LIMITS; i++)
        part[i] = (struct base_part){limit_rows[i].key, limit_rows[i].label, (double)b.parts[i] / BASE_PARTS};
    part[GRAPH_LIMITS] = (struct base_part){"rest", "rest", (double)b.rest / BASE_PARTS};
    for (unsigned i = 0; i < PARTS; i++)
        base += part[i].cycles;
    return base;
}

/* A sentence such as `base 0.41: 0.21 dependences, 0.13 width, 0.07 window`. Parts that would be 0.00 are left out. */
static void print_sentence(const struct base_part part[PARTS], double base, double insns, FILE *to)
{
    const double least = 0.005;
    char text[512];
    size_t used = (size_t)snprintf(text, sizeof text, "base %.2f", base / insns);
    const char *between = ": ";
    for (unsigned i = 0; i < PARTS && used < sizeof text; i++) {
        double cpi = part[i].cycles / insns;
        if (cpi < least && cpi > -least)
            continue;
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%.2f %s", between, cpi, part[i].label);
        between = ", ";
    }
    text_paragraph(to, "%s.", text);
}

void base_report_print(const struct stack_interval *total, FILE *to)
{
    struct base_part part[PARTS];
    double base = find_parts(total, part), insns = (double)total->instructions;
    struct text_table *t = text_table_new();
    text_column(t, TEXT_LEFT, "base by what limits it");
    text_column(t, TEXT_NUMBER, "CPI");
    text_column(t, TEXT_BESIDE, "% of base");
    for (unsigned i = 0; i < PARTS; i++) {
        text_cell(t, "%s", part[i].label);
        text_cell(t, "%.4f", part[i].cycles / insns);
        text_cell(t, "%.1f", base > 0 ? 100 * part[i].cycles / base : 0);
    }
    text_table_print(t, to, 1, PAGE_COLUMNS);
    fputc('\n', to);
    qsort(part, GRAPH_LIMITS, sizeof *part, by_size);
    print_sentence(part, base, insns, to);
    fputc('\n', to);
}

json_t *base_report_json(const struct stack_interval *total, uint64_t divisor)
{
    struct base_part part[PARTS];
    json_t *object = json_object();
    find_parts(total, part);
    for (unsigned i = 0; i < PARTS; i++)
        json_object_set_new(object, part[i].key, json_real(part[i].cycles / (double)divisor));
    return object;
}
