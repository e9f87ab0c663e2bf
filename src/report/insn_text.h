/* Disassembly of code in mapped files, with absolute addresses as targets of branches and jumps. */
#ifndef CYCLESCOPE_REPORT_INSN_TEXT_H
#define CYCLESCOPE_REPORT_INSN_TEXT_H

#include "riscv/insn.h"
#include "symbols/symbols.h"

enum { INSN_TEXT_SIZE = 256 };

/* Decodes the instruction at `pc`. False if the bytes of the file cannot be read. Reserved encodings decode to
 * INSN_ILLEGAL. */
bool insn_of_file(struct symbols *s, uint64_t pc, struct insn *insn);
/* Disassembles `insn`, which is at `pc`. Branch and jump targets outside the function that begins at `start` are
 * followed by the name of the function that contains them. */
void insn_text(struct symbols *s, const struct insn *insn, uint64_t pc, uint64_t start, char text[INSN_TEXT_SIZE]);

#endif
