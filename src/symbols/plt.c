/* Stubs of the procedure linkage table. They have no symbols. Each stub loads the address of its function from a slot,
 * and the relocation of that slot gives the function's name. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "symbols/symbols_priv.h"

enum { STUB_BYTES = 16 };

/* A slot that the dynamic linker fills. */
struct slot {
    uint64_t address;
    const char *name; /* function whose address the slot holds */
};

struct slots {
    struct slot *slot;
    size_t count, room;
};

static bool add_slot(struct slots *s, uint64_t address, const char *name)
{
    struct slot *slot = array_grow(s->slot, s->count, &s->room, sizeof *slot);
    if (slot == NULL)
        return false;
    s->slot = slot;
    s->slot[s->count++] = (struct slot){address, name};
    return true;
}

/* Adds the slots of one relocation table. */
static void read_slots(Elf *elf, Elf_Scn *relocations, const GElf_Shdr *header, struct slots *slots)
{
    GElf_Shdr symbols_header;
    Elf_Scn *symbols = elf_getscn(elf, header->sh_link);
    if (symbols == NULL || gelf_getshdr(symbols, &symbols_header) == NULL || symbols_header.sh_type != SHT_DYNSYM)
        return;
    Elf_Data *data = elf_getdata(relocations, NULL), *symbol_data = elf_getdata(symbols, NULL);
    struct strings names = strings_of(elf, symbols_header.sh_link);
    size_t count = data ? data->d_size / sizeof(Elf64_Rela) : 0;
    for (size_t i = 0; i < count; i++) {
        GElf_Rela rela;
        GElf_Sym symbol;
        if (gelf_getrela(data, (int)i, &rela) == NULL || GELF_R_TYPE(rela.r_info) != R_RISCV_JUMP_SLOT)
            continue;
        if (symbol_data == NULL || gelf_getsym(symbol_data, (int)GELF_R_SYM(rela.r_info), &symbol) == NULL ||
            symbol.st_name >= names.length || names.text[symbol.st_name] == '\0')
            continue;
        if (!add_slot(slots, rela.r_offset, names.text + symbol.st_name))
            return;
    }
}

static int compare_slots(const void *a, const void *b)
{
    const struct slot *x = a, *y = b;
    return x->address < y->address ? -1 : x->address > y->address;
}

static uint32_t word_at(const unsigned char *p)
{
    return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

/* Recognizes a stub of the psABI: auipc t3, HIGH; ld t3, LOW(t3); jalr t1, t3; nop. The table's header does not match.
 * Sets the address of its slot. */
static bool stub_slot(const unsigned char *code, uint64_t address, uint64_t *slot)
{
    uint32_t auipc = word_at(code), load = word_at(code + 4), jump = word_at(code + 8);
    if ((auipc & 0xfff) != 0xe17 || (load & 0xfffff) != 0xe3e03 || jump != 0x000e0367)
        return false;
    *slot = address + (uint64_t)(int32_t)(auipc & 0xfffff000) + (uint64_t)((int32_t)load >> 20);
    return true;
}

static void name_stubs(struct module *m, Elf_Scn *plt, const struct slots *slots)
{
    GElf_Shdr header;
    Elf_Data *data = elf_getdata(plt, NULL);
    if (data == NULL || data->d_buf == NULL || gelf_getshdr(plt, &header) == NULL)
        return;
    for (size_t at = 0; at + STUB_BYTES <= data->d_size; at += STUB_BYTES) {
        struct slot key = {0};
        if (!stub_slot((const unsigned char *)data->d_buf + at, header.sh_addr + at, &key.address))
            continue;
        const struct slot *slot = bsearch(&key, slots->slot, slots->count, sizeof key, compare_slots);
        if (slot)
            table_add(
                m,
                (struct symbol){
                    .start = header.sh_addr + at, .size = STUB_BYTES, .name = slot->name, .typed = true, .plt = true});
    }
}

void plt_add_symbols(struct module *m)
{
    struct slots slots = {NULL, 0, 0};
    Elf_Scn *plt = image_section(&m->image, SHT_PROGBITS, ".plt");
    if (plt == NULL)
        return;
    for (Elf_Scn *scn = NULL; (scn = elf_nextscn(m->image.elf, scn));) {
        GElf_Shdr header;
        if (gelf_getshdr(scn, &header) && header.sh_type == SHT_RELA && header.sh_flags & SHF_ALLOC)
            read_slots(m->image.elf, scn, &header, &slots);
    }
    if (slots.count > 0) {
        qsort(slots.slot, slots.count, sizeof *slots.slot, compare_slots);
        name_stubs(m, plt, &slots);
    }
    free(slots.slot);
}
