/* Call graphs of all phases for Graphviz: nodes are functions with their share of the phase, edges are calls with their
 * count. A phase shows its MOST_CALLS most frequent calls, the functions on either side of them, and other functions
 * with at least LEAST_SHARE of its instructions. */
#include <stdlib.h>
#include <string.h>

#include "base/clean_text.h"
#include "report/phase_report.h"

enum { MOST_CALLS = 40 };
static const double LEAST_SHARE = 0.005;

/* Graphviz reads UTF-8, and its quoted strings may contain everything but a quotation mark and a backslash. The text is
 * also cleaned (clean_text), since the file may be shown on a terminal. */
static void put_quoted(const char *text, FILE *to)
{
    char *copy = strdup(text);
    if (copy == NULL)
        return;
    clean_text(copy);
    for (const char *s = copy; *s; s++) {
        if (*s == '"' || *s == '\\')
            fputc('\\', to);
        fputc(*s, to);
    }
    free(copy);
}

static double share_of(const struct phase_code *code, uint32_t function)
{
    for (size_t k = 0; k < code->shares; k++)
        if (code->share[k].function == function)
            return code->share[k].insns / code->insns;
    return 0;
}

static void put_node(const struct phase_report *r, unsigned phase, uint32_t function, FILE *to)
{
    struct phase_function f = phase_function_at(r->functions, function);
    fprintf(to, "    p%u_%u [label=\"", phase, function);
    put_quoted(f.name, to);
    fprintf(to, "\\n%.1f %%\"];\n", 100 * share_of(&r->code[phase], function));
}

/* Whether the function is caller or callee in one of the first `end` calls. */
static bool is_mentioned(const struct phase_code *code, uint32_t function, size_t end)
{
    for (size_t k = 0; k < end; k++)
        if (code->call[k].from == function || code->call[k].to == function)
            return true;
    return false;
}

static void put_phase(const struct phase_report *r, unsigned phase, FILE *to)
{
    const struct phase_code *code = &r->code[phase];
    size_t calls = code->calls < MOST_CALLS ? code->calls : MOST_CALLS;
    fprintf(to, "  subgraph cluster_%u {\n    label=\"phase %u: %.2f %% of the run\";\n", phase, phase,
            100 * r->clusters->point[phase].weight);
    for (size_t k = 0; k < code->shares; k++) {
        uint32_t function = code->share[k].function;
        if (code->share[k].insns >= LEAST_SHARE * code->insns || is_mentioned(code, function, calls))
            put_node(r, phase, function, to);
    }
    for (size_t k = 0; k < calls; k++) {
        uint32_t callee = code->call[k].to; /* may have no share, and no node yet, if none of its instructions ran */
        if (share_of(code, callee) == 0 && !is_mentioned(code, callee, k))
            put_node(r, phase, callee, to);
        fprintf(to, "    p%u_%u -> p%u_%u [label=\"%.0f\"];\n", phase, code->call[k].from, phase, callee,
                code->call[k].count);
    }
    fputs("  }\n", to);
}

void phase_report_dot(const struct phase_report *r, FILE *to)
{
    fputs("digraph phases {\n  label=\"", to);
    put_quoted(r->source, to);
    fputs("\";\n  node [shape=box, fontname=\"sans-serif\"];\n  edge [fontname=\"sans-serif\"];\n", to);
    for (unsigned k = 0; k < r->clusters->count; k++)
        put_phase(r, k, to);
    fputs("}\n", to);
}
