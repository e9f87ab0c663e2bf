#include "program.h"

#include <assert.h>
#include <elf.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { A0 = 10, A1 = 11, A2 = 12, A3 = 13, A7 = 17, SYS_WRITE = 64, SYS_EXIT = 93, PAGE = 4096 };

static void append(struct bytes *b, const void *from, size_t length)
{
    if (b->length + length > b->room) {
        b->room = 2 * (b->length + length);
        b->at = realloc(b->at, b->room);
        assert(b->at);
    }
    memcpy(b->at + b->length, from, length);
    b->length += length;
}

static void emit(struct program *p, enum insn_id form, unsigned rd, unsigned rs1, unsigned rs2, int32_t imm)
{
    struct insn insn = {.form = form, .rd = (uint8_t)rd, .rs1 = (uint8_t)rs1, .rs2 = (uint8_t)rs2, .imm = imm};
    bool encoded = encoder_encode(p->encoder, &insn);
    assert(encoded);
    (void)encoded;
    append(&p->code, &insn.bits, insn.length);
}

/* lui and addi, for addresses below 2 GiB; auipc and jalr likewise for distances. */
static int32_t upper(int64_t value)
{
    return (int32_t)((value + 0x800) & ~INT64_C(0xfff));
}

static void emit_address(struct program *p, unsigned rd, uint64_t address)
{
    emit(p, INSN_lui, rd, 0, 0, upper((int64_t)address));
    emit(p, INSN_addi, rd, rd, 0, (int32_t)address - upper((int64_t)address));
}

static void emit_call(struct program *p, uint32_t routine)
{
    int32_t distance = (int32_t)routine - (int32_t)p->code.length;
    emit(p, INSN_auipc, p->link, 0, 0, upper(distance));
    emit(p, INSN_jalr, p->link, p->link, 0, distance - upper(distance));
}

/* Copies the scratch memory between its place and a record, from a0 to a1, through a2 and a3. */
static void emit_copy(struct program *p)
{
    emit(p, INSN_addi, A2, A0, 0, SCRATCH_BYTES);
    emit(p, INSN_ld, A3, A0, 0, 0);
    emit(p, INSN_sd, 0, A1, A3, 0);
    emit(p, INSN_addi, A0, A0, 0, 8);
    emit(p, INSN_addi, A1, A1, 0, 8);
    emit(p, INSN_bne, 0, A0, A2, -16);
}

static bool is_harness(const struct program *p, unsigned reg)
{
    return reg == 0 || reg == p->base || reg == p->link;
}

/* Expects the address of an input record in the base register. A failing sc ends a reservation that is still open. */
static void emit_load(struct program *p)
{
    p->load = (uint32_t)p->code.length;
    emit_address(p, A1, SCRATCH_ADDRESS);
    emit(p, INSN_sc_w, 0, A1, 0, 0);
    emit(p, INSN_addi, A0, p->base, 0, offsetof(struct record, scratch));
    emit_copy(p);
    emit(p, INSN_ld, A0, p->base, 0, offsetof(struct record, fcsr));
    emit(p, INSN_csrrw, 0, A0, 0, 3);
    for (unsigned i = 0; i < 32; i++)
        emit(p, INSN_fld, i, p->base, 0, (int32_t)(offsetof(struct record, f) + 8 * i));
    for (unsigned i = 1; i < 32; i++)
        if (!is_harness(p, i))
            emit(p, INSN_ld, i, p->base, 0, (int32_t)(offsetof(struct record, x) + 8 * i));
    emit(p, INSN_jalr, 0, p->link, 0, 0);
}

static void emit_exit(struct program *p, int32_t status)
{
    emit(p, INSN_addi, A0, 0, 0, status);
    emit(p, INSN_addi, A7, 0, 0, SYS_EXIT);
    emit(p, INSN_ecall, 0, 0, 0, 0);
}

static void emit_save(struct program *p)
{
    p->save = (uint32_t)p->code.length;
    emit_address(p, p->base, OUTPUT_ADDRESS);
    for (unsigned i = 1; i < 32; i++)
        if (!is_harness(p, i))
            emit(p, INSN_sd, 0, p->base, i, (int32_t)(offsetof(struct record, x) + 8 * i));
    for (unsigned i = 0; i < 32; i++)
        emit(p, INSN_fsd, 0, p->base, i, (int32_t)(offsetof(struct record, f) + 8 * i));
    emit(p, INSN_csrrs, A0, 0, 0, 3);
    emit(p, INSN_sd, 0, p->base, A0, offsetof(struct record, fcsr));
    emit(p, INSN_ld, A0, p->base, 0, offsetof(struct record, number));
    emit(p, INSN_addi, A0, A0, 0, 1);
    emit(p, INSN_sd, 0, p->base, A0, offsetof(struct record, number));
    emit_address(p, A0, SCRATCH_ADDRESS);
    emit(p, INSN_addi, A1, p->base, 0, offsetof(struct record, scratch));
    emit_copy(p);

    emit(p, INSN_addi, A0, 0, 0, 1);
    emit(p, INSN_addi, A1, p->base, 0, 0);
    emit(p, INSN_addi, A2, 0, 0, sizeof(struct record));
    emit(p, INSN_addi, A7, 0, 0, SYS_WRITE);
    emit(p, INSN_ecall, 0, 0, 0, 0);
    emit(p, INSN_bne, 0, A0, A2, 8);
    emit(p, INSN_jalr, 0, p->link, 0, 0);
    emit_exit(p, 1);
}

void program_begin(struct program *p, const struct fuzzer *fuzzer, uint64_t first)
{
    *p = (struct program){
        .encoder = &fuzzer->encoder, .base = fuzzer->base_reg, .link = fuzzer->link_reg, .first = first};
    emit_load(p);
    emit_save(p);
    p->entry = (uint32_t)p->code.length;
}

uint64_t program_add(struct program *p, const struct sequence *s)
{
    emit_address(p, p->base, INPUT_ADDRESS + p->input.length);
    append(&p->input, &s->input, sizeof s->input);
    emit_call(p, p->load);
    uint64_t start = CODE_ADDRESS + p->code.length;
    for (unsigned i = 0; i < s->count; i++)
        for (unsigned k = 0; k < s->unit[i].count && !s->unit[i].dropped; k++)
            append(&p->code, &s->unit[i].step[k].insn.bits, s->unit[i].step[k].insn.length);
    emit_call(p, p->save);
    return start;
}

static size_t pad_to(FILE *to, size_t at, size_t wanted)
{
    for (; at < wanted; at++)
        putc(0, to);
    return wanted;
}

/* Scratch memory, output record with the number before the first, and input records, as they lie in memory. */
static void write_data(const struct program *p, FILE *to)
{
    struct record output = {.number = p->first - 1};
    pad_to(to, 0, OUTPUT_ADDRESS - DATA_ADDRESS);
    fwrite(&output, sizeof output, 1, to);
    pad_to(to, sizeof output, INPUT_ADDRESS - OUTPUT_ADDRESS);
    fwrite(p->input.at, p->input.length, 1, to);
}

bool program_end(struct program *p, FILE *to)
{
    size_t code_at = PAGE, data_at, data_length = INPUT_ADDRESS - DATA_ADDRESS + p->input.length;
    emit_exit(p, 0);
    data_at = (code_at + p->code.length + PAGE - 1) & ~(size_t)(PAGE - 1);

    Elf64_Ehdr header = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
                         .e_type = ET_EXEC,
                         .e_machine = EM_RISCV,
                         .e_version = EV_CURRENT,
                         .e_entry = CODE_ADDRESS + p->entry,
                         .e_phoff = sizeof header,
                         .e_flags = EF_RISCV_RVC | EF_RISCV_FLOAT_ABI_DOUBLE,
                         .e_ehsize = sizeof header,
                         .e_phentsize = sizeof(Elf64_Phdr),
                         .e_phnum = 2};
    Elf64_Phdr segment[2] = {{.p_type = PT_LOAD,
                              .p_flags = PF_R | PF_X,
                              .p_offset = code_at,
                              .p_vaddr = CODE_ADDRESS,
                              .p_paddr = CODE_ADDRESS,
                              .p_filesz = p->code.length,
                              .p_memsz = p->code.length,
                              .p_align = PAGE},
                             {.p_type = PT_LOAD,
                              .p_flags = PF_R | PF_W,
                              .p_offset = data_at,
                              .p_vaddr = DATA_ADDRESS,
                              .p_paddr = DATA_ADDRESS,
                              .p_filesz = data_length,
                              .p_memsz = data_length,
                              .p_align = PAGE}};
    fwrite(&header, sizeof header, 1, to);
    fwrite(segment, sizeof segment, 1, to);
    size_t at = pad_to(to, sizeof header + sizeof segment, code_at);
    fwrite(p->code.at, p->code.length, 1, to);
    pad_to(to, at + p->code.length, data_at);
    write_data(p, to);
    free(p->code.at);
    free(p->input.at);
    return fflush(to) == 0 && !ferror(to);
}
