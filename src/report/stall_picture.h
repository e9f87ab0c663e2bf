/* A series of stalls as a picture: cycles per instruction over instructions, stacked by source.
 *
 * Columns stand for equal numbers of instructions; an interval that lies in several is divided among them in
 * proportion. Layers are stacked from the bottom up: completion, then the sources in the order of enum stall_source. */
#ifndef CYCLESCOPE_REPORT_STALL_PICTURE_H
#define CYCLESCOPE_REPORT_STALL_PICTURE_H

#include <stdio.h>

#include "monitor/stalls_phases.h"

enum { LAYER_COMPLETION, LAYER_FIRST_STALL, STALL_LAYERS = LAYER_FIRST_STALL + STALL_SOURCES };

struct stall_layer {
    uint32_t colour;          /* 0xrrggbb: those of CPI stacks for the same things */
    char mark;                /* of its cells, where there is no colour */
    const char *hatch, *line; /* over the colour, on a tile of 8 by 8, for eyes and printers without colours */
};

extern const struct stall_layer stall_layers[STALL_LAYERS];

const char *stall_layer_label(unsigned layer);
uint64_t stall_layer_cycles(const struct stall_interval *i, unsigned layer);

struct stall_column {
    double cpi[STALL_LAYERS];
};

uint64_t stall_series_insns(const struct stall_series *s);
/* Fills in `count` columns; all are 0 without instructions. */
void stall_columns(const struct stall_series *s, size_t count, struct stall_column *to);

/* What the vertical axis should show: the highest column, or less where a few tower above all others. */
double stall_scale(const struct stall_column *column, size_t count);

/* So many instructions, as 12.3M. */
enum { SHORT_NUMBER = 16 };
const char *stall_short(uint64_t n, char text[SHORT_NUMBER]);

/* Lines of text: `rows` of the picture, its axis, and a legend; nothing if there is too little room, or no memory. A
 * column that is cut off ends in ^. */
void stall_picture_print(const struct stall_series *s, unsigned rows, unsigned columns, bool colour, FILE *to);

/* Areas as SVG, with the borders of the phases. */
void stall_svg_write(const struct stall_series *s, const struct stall_phase *phase, size_t phases, const char *title,
                     FILE *to);

#endif
