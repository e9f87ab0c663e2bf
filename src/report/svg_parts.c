#include "report/svg_parts.h"

#include <math.h>

#include "report/stack_chart.h"

void svg_text(const char *text, size_t most, FILE *to)
{
    const char *from = text;
    size_t left = stack_name_length(text) > most ? most - 1 : most;
    for (uint32_t c; left > 0 && (c = stack_name_next(&text)) != 0; left--, from = text) {
        if (c == '&' || c == '<' || c == '>' || c == '"')
            fprintf(to, "&#%u;", (unsigned)c);
        else if (c == REPLACEMENT_CHARACTER)
            fputs("&#xfffd;", to);
        else
            fwrite(from, 1, (size_t)(text - from), to);
    }
    if (*text)
        fputs("&#x2026;", to);
}

double svg_tick_step(double range, unsigned ticks)
{
    double raw = range / ticks, power = pow(10, floor(log10(raw)));
    return power * (raw <= power ? 1 : raw <= 2 * power ? 2 : raw <= 5 * power ? 5 : 10);
}

int svg_decimals(double step)
{
    return (int)fmax(0, -floor(log10(step) + 1e-9));
}
