/* A series of stalls as a graph: cycles per instruction over instructions, stacked by source.
 *
 * All columns stand for the same number of instructions. An interval that spans several columns is divided among them
 * in proportion to its instructions. Layers are stacked from the bottom up: completion, then stalls in the order of
 * enum stall_source. */
#ifndef CYCLESCOPE_REPORT_STALL_PICTURE_H
#define CYCLESCOPE_REPORT_STALL_PICTURE_H

#include <stdio.h>

#include "sampler/stalls_phases.h"
#include "stacks/stacks.h"

enum { LAYER_COMPLETION, LAYER_FIRST_STALL, STALL_LAYERS = LAYER_FIRST_STALL + STALL_SOURCES };

struct stall_layer {
    char mark;                         /* letter of its cells on a terminal */
    const struct component_row *style; /* color, hatch and stroke: of the matching component of CPI stacks, if any */
};

extern const struct stall_layer stall_layers[STALL_LAYERS];

const char *stall_layer_label(unsigned layer);
/* Cycles of an interval that belong to the layer. */
uint64_t stall_layer_cycles(const struct stall_interval *i, unsigned layer);

struct stall_column {
    double cpi[STALL_LAYERS]; /* height of each layer: cycles per instruction */
};

uint64_t stall_series_insns(const struct stall_series *s); /* instructions of all intervals */
/* Fills in `count` columns. All are 0 if the series has no instructions. */
void stall_columns(const struct stall_series *s, size_t count, struct stall_column *to);

/* CPI at the top of the vertical axis: the highest column, or less if a few columns are more than twice as high as all
 * others. */
double stall_scale(const struct stall_column *column, size_t count);

enum { SHORT_NUMBER = 16 };
/* Formats `n` in `text` with three digits or less, for example 12.3M; returns `text`. */
const char *stall_short(uint64_t n, char text[SHORT_NUMBER]);

/* Prints the graph with `rows` lines of characters, then its axis and a legend. A column that is higher than the graph
 * ends in ^. Prints nothing if there are too few columns, no instructions, or no memory. */
void stall_picture_print(const struct stall_series *s, unsigned rows, unsigned columns, bool color, FILE *to);

/* Writes the graph as an SVG document, with the boundaries of the phases. */
void stall_svg_write(const struct stall_series *s, const struct stall_phase *phase, size_t phases, const char *title,
                     FILE *to);

#endif
