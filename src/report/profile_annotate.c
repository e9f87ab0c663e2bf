#include "report/profile_annotate.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/insn_text.h"
#include "report/profile_columns.h"
#include "report/run_report.h"

enum { INSN_COLUMNS = 40, PERCENT_COLUMNS = 8, COUNT_COLUMNS = 15 }; /* what a page must have room for */
enum { AHEAD_INSNS = 8 }; /* instructions shown after a sampled one if the size of the function is unknown */

/* Shares of the function from which an instruction is highlighted. */
static const double hot_percent = 10, warm_percent = 2;

/* A function that is being printed. */
struct page {
    const struct profile_annotate *a;
    const struct profile_function *f;
    const struct profile_rows *insns; /* sampled instructions of all functions, sorted by function and address */
    size_t next, end;                 /* rows of this function that have not been printed yet */
    const struct profile_amount *sum; /* total of the function, by event */
    const char *file;                 /* file of the source line that was shown last, or NULL */
    unsigned line;                    /* number of that line */
    bool counts;                      /* counts are shown beside shares */
    struct text_table *text;
    FILE *to;
};

static uint64_t pc_of(const struct page *p, size_t i)
{
    return p->a->names->place[p->insns->row[i].place].pc;
}

/* ---- lines */

static void print_head(const struct page *p)
{
    const struct profile_annotate *a = p->a;
    const struct profile *profile = a->names->profile;
    fprintf(p->to, "\n %s in %s\n", p->f->name, p->f->module);
    for (unsigned e = a->first; e <= a->last; e++) {
        char weight[GROUPED_SIZE], samples[GROUPED_SIZE];
        const struct profile_counted *c = &profile->event[e];
        fprintf(p->to, " %.2f %% of %s: %s %s, %s sample%s\n", share_percent(c, p->sum[e].weight), c->name,
                c->period ? "about" : "exactly", grouped(p->sum[e].weight, weight), grouped(p->sum[e].samples, samples),
                p->sum[e].samples == 1 ? "" : "s");
    }
    fputc('\n', p->to);
}

/* The counts are left out if they do not fit beside an instruction. */
static void put_heads(struct page *p)
{
    const struct profile_annotate *a = p->a;
    unsigned events = a->last - a->first + 1;
    p->counts = INSN_COLUMNS + events * (PERCENT_COLUMNS + COUNT_COLUMNS) <= a->columns;
    text_column(p->text, TEXT_LEFT, "");
    for (unsigned e = a->first; e <= a->last; e++) {
        text_column(p->text, TEXT_NUMBER, "%");
        text_over(p->text, a->names->profile->event[e].name);
        if (p->counts)
            text_column(p->text, TEXT_BESIDE, "count");
    }
}

/* Adds the source line of the instruction at `pc`, unless it is the line that was shown last. */
static void put_source(struct page *p, uint64_t pc)
{
    const char *file, *text;
    unsigned line;
    if (!symbols_line(p->a->names->symbols, pc, &file, &line) || line == 0)
        return;
    if (p->file && p->line == line && strcmp(p->file, file) == 0)
        return;
    p->file = file;
    p->line = line;
    text = source_line(p->a->source, file, line);
    text_cell_colored(p->text, p->a->color ? "\033[36m" : NULL, text ? "%s:%u  %s" : "%s:%u",
                      text ? short_path(file) : file, line, text);
    text_end_row(p->text);
}

/* The largest share of the function, over all events that are shown, that an instruction has. */
static double heat(const struct page *p, const struct profile_amount *amount)
{
    double most = 0;
    for (unsigned e = p->a->first; amount && e <= p->a->last; e++) {
        double share = p->sum[e].weight ? 100 * (double)amount[e].weight / (double)p->sum[e].weight : 0;
        most = share > most ? share : most;
    }
    return most;
}

static void put_insn(const struct page *p, uint64_t pc, const struct profile_amount *amount, const char *text)
{
    double hot = heat(p, amount);
    const char *color = !p->a->color ? NULL : hot >= hot_percent ? "\033[31m" : hot >= warm_percent ? "\033[33m" : NULL;
    text_cell_colored(p->text, color, "%s %10" PRIx64 ":  %s", hot >= hot_percent ? ">" : " ", pc, text);
    for (unsigned e = p->a->first; e <= p->a->last; e++) {
        char number[GROUPED_SIZE];
        bool sampled = amount && amount[e].samples && p->sum[e].weight;
        if (sampled)
            text_cell_colored(p->text, color, "%.2f", 100 * (double)amount[e].weight / (double)p->sum[e].weight);
        else
            text_cell(p->text, "%s", "");
        if (p->counts)
            text_cell_colored(p->text, color, "%s", sampled ? grouped(amount[e].weight, number) : "");
    }
}

/* ---- one function */

/* Returns the amounts of the instruction at `pc` and advances to the next sampled one; NULL if `pc` was not sampled. */
static const struct profile_amount *take_amount(struct page *p, uint64_t pc)
{
    if (p->next == p->end || pc_of(p, p->next) != pc)
        return NULL;
    return row_self(p->insns, &p->insns->row[p->next++]);
}

/* Adds one instruction at `pc`. Returns its length in bytes, or 0 if the file has no bytes there. If a sampled
 * instruction begins inside the decoded one, only the bytes before it are shown, as data, so that no sample is lost.
 */
static unsigned put_at(struct page *p, uint64_t pc)
{
    char text[INSN_TEXT_SIZE];
    struct insn insn;
    struct symbols *s = p->a->names->symbols;
    if (!insn_of_file(s, pc, &insn))
        return 0;
    const struct profile_amount *amount = take_amount(p, pc);
    unsigned length = insn.length;
    if (p->next < p->end && pc_of(p, p->next) - pc < length) {
        length = (unsigned)(pc_of(p, p->next) - pc);
        snprintf(text, sizeof text, length == 2 ? ".2byte 0x%04x" : ".byte 0x%02x",
                 insn.bits & (length == 2 ? 0xffff : 0xff));
    } else {
        insn_text(s, &insn, pc, p->f->start, text);
    }
    put_source(p, pc);
    put_insn(p, pc, amount, text);
    return length;
}

/* Adds instructions from `pc` to `end`, or until the file has no more bytes. */
static void put_range(struct page *p, uint64_t pc, uint64_t end)
{
    for (unsigned length; pc < end && (length = put_at(p, pc)) != 0; pc += length)
        ;
}

/* Adds a sampled instruction that cannot be read from the file. */
static void put_bare(struct page *p)
{
    uint64_t pc = pc_of(p, p->next);
    put_insn(p, pc, take_amount(p, pc), "?");
}

/* Something is left out here. */
static void put_gap(struct page *p)
{
    text_cell(p->text, "...");
    text_end_row(p->text);
}

/* Adds the remaining sampled instructions, each with up to AHEAD_INSNS that follow it. */
static void put_around(struct page *p)
{
    bool gap = false;
    while (p->next < p->end) {
        uint64_t pc = pc_of(p, p->next);
        unsigned left = AHEAD_INSNS, length = 1;
        if (gap)
            put_gap(p);
        gap = true;
        while (left-- && (length = put_at(p, pc)) != 0) {
            pc += length;
            if (p->next < p->end && pc_of(p, p->next) == pc)
                left = AHEAD_INSNS;
        }
        if (length == 0 && p->next < p->end && pc_of(p, p->next) <= pc)
            put_bare(p);
    }
}

static void print_function(struct page *p)
{
    print_head(p);
    p->text = text_table_new();
    put_heads(p);
    if (p->f->size) {
        while (p->next < p->end && pc_of(p, p->next) < p->f->start)
            put_bare(p);
        put_range(p, p->f->start, p->f->start + p->f->size);
    }
    put_around(p);
    text_table_print(p->text, p->to, 0, p->a->columns);
    fputc('\n', p->to);
}

/* ---- choice of functions */

static int by_address(const void *left, const void *right, void *context)
{
    const struct profile_place *place = context;
    const struct profile_place *a = &place[((const struct profile_row *)left)->place];
    const struct profile_place *b = &place[((const struct profile_row *)right)->place];
    if (a->function != b->function)
        return a->function < b->function ? -1 : 1;
    return a->pc < b->pc ? -1 : a->pc > b->pc;
}

/* The first row of `function`, or of a later one. */
static size_t first_of(const struct profile_rows *insns, uint32_t function)
{
    size_t low = 0, high = insns->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (insns->names->place[insns->row[middle].place].function < function)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool is_chosen(const struct profile_annotate *a, const struct profile_rows *functions, size_t i)
{
    const struct profile_row *row = &functions->row[i];
    struct profile_columns columns = {.profile = a->names->profile, .first = a->first, .last = a->last};
    if (a->function)
        return profile_function_is(&a->names->function[a->names->place[row->place].function], a->function);
    if (a->all && columns_reach(&columns, row_self(functions, row), NULL, a->limit_percent))
        return true; /* the first function is shown even if none reaches the limit */
    return i == 0 && row_self(functions, row)[a->first].samples;
}

static int print_chosen(const struct profile_annotate *a, const struct profile_rows *functions,
                        struct profile_rows *insns, FILE *to, struct error *err)
{
    unsigned printed = 0;
    if (insns->count)
        qsort_r(insns->row, insns->count, sizeof *insns->row, by_address, a->names->place);
    for (size_t i = 0; i < functions->count; i++) {
        uint32_t function = a->names->place[functions->row[i].place].function;
        if (!is_chosen(a, functions, i))
            continue;
        struct page p = {.a = a, .f = &a->names->function[function], .insns = insns, .to = to};
        p.sum = row_self(functions, &functions->row[i]);
        p.next = first_of(insns, function);
        p.end = first_of(insns, function + 1);
        print_function(&p);
        printed++;
    }
    if (printed)
        return 0;
    if (a->function)
        return error_set(err, -ENOENT,
                         "the profile has no samples in a function '%s'; `report` lists those that it has",
                         a->function);
    return error_set(err, -ENOENT, "the profile has no samples of '%s'", a->names->profile->event[a->first].name);
}

int profile_annotate_print(const struct profile_annotate *a, FILE *to, struct error *err)
{
    struct profile_rows functions = {0}, insns = {0};
    int code = profile_rows_make(&functions, a->names, PROFILE_BY_FUNCTION, false, err);
    if (code == 0)
        code = profile_rows_make(&insns, a->names, PROFILE_BY_INSN, false, err);
    if (code == 0) {
        profile_rows_sort(&functions, a->first);
        code = print_chosen(a, &functions, &insns, to, err);
    }
    profile_rows_free(&functions);
    profile_rows_free(&insns);
    return code;
}
