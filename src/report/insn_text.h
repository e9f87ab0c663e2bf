/* An instruction of a mapped file as text, with the targets of branches and calls as addresses. */
#ifndef CYCLESCOPE_REPORT_INSN_TEXT_H
#define CYCLESCOPE_REPORT_INSN_TEXT_H

#include "riscv/insn.h"
#include "symbols/symbols.h"

enum { INSN_TEXT_SIZE = 256 };

/* The instruction at `pc`; false if the file's bytes are not there. Reserved encodings decode to INSN_ILLEGAL. */
bool insn_of_file(struct symbols *s, uint64_t pc, struct insn *insn);
/* Targets that are not in the function that begins at `start` also have a name. */
void insn_text(struct symbols *s, const struct insn *insn, uint64_t pc, uint64_t start, char text[INSN_TEXT_SIZE]);

#endif
