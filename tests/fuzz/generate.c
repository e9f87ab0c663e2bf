/* Writes an executable of random instruction sequences, for the differential fuzzer.
 *
 *     generate --seed S --sequences N [--first K] [--without TEXT]... [--drop UNIT]... [--list] [--coverage] ELF
 *
 * Sequence K of a seed is the same whatever else is generated with it. --without leaves out the rows with that text,
 * --drop units of the sequences, which is how a sequence is shrunk. --list prints the sequences with the registers
 * that they start from, --coverage how many instructions of each row there are. */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "program.h"
#include "values.h"

enum { OPTION_NAMES = 64 };

struct options {
    uint64_t seed, sequences, first;
    const char *without[OPTION_NAMES];
    unsigned withouts;
    unsigned drop[SEQUENCE_UNITS];
    unsigned drops;
    bool list, coverage;
    const char *file;
};

static bool parse_options(int argc, char **argv, struct options *o)
{
    static const struct option names[] = {
        {"seed", 1, NULL, 's'}, {"sequences", 1, NULL, 'n'}, {"first", 1, NULL, 'f'},    {"without", 1, NULL, 'w'},
        {"drop", 1, NULL, 'd'}, {"list", 0, NULL, 'l'},      {"coverage", 0, NULL, 'c'}, {NULL, 0, NULL, 0}};
    int option;
    *o = (struct options){.seed = 1, .sequences = 2000, .first = 1};
    while ((option = getopt_long(argc, argv, "", names, NULL)) != -1) {
        switch (option) {
        case 's': o->seed = strtoull(optarg, NULL, 0); break;
        case 'n': o->sequences = strtoull(optarg, NULL, 0); break;
        case 'f': o->first = strtoull(optarg, NULL, 0); break;
        case 'l': o->list = true; break;
        case 'c': o->coverage = true; break;
        case 'w':
            if (o->withouts == OPTION_NAMES)
                return false;
            o->without[o->withouts++] = optarg;
            break;
        case 'd':
            if (o->drops == SEQUENCE_UNITS)
                return false;
            o->drop[o->drops++] = (unsigned)strtoul(optarg, NULL, 0);
            break;
        default: return false;
        }
    }
    if (optind + 1 != argc)
        return false;
    o->file = argv[optind];
    return true;
}

/* Rows that end or trap the program are never part of a sequence. */
static bool is_left_out(const struct options *o, enum insn_id row)
{
    if (row == INSN_ecall || row == INSN_ebreak || row == INSN_c_ebreak || row == INSN_mret || row == INSN_wfi)
        return true;
    for (unsigned i = 0; i < o->withouts; i++)
        if (strcmp(o->without[i], insn_describe(row)->text) == 0)
            return true;
    return false;
}

static bool is_base(enum insn_id row)
{
    return insn_describe(insn_describe(row)->op)->ext == EXT_I;
}

static void fuzzer_init(struct fuzzer *f, const struct options *o)
{
    /* registers that neither the harness's system calls nor compressed forms use */
    static const uint8_t harness_regs[] = {1,  3,  4,  5,  6,  7,  16, 18, 19, 20, 21,
                                           22, 23, 24, 25, 26, 27, 28, 29, 30, 31};
    struct random random;
    encoder_init(&f->encoder);
    for (unsigned row = 0; row < INSN_COUNT; row++)
        if (!is_left_out(o, row) && is_base(row))
            f->rows[f->base_count++] = row;
    f->row_count = f->base_count;
    for (unsigned row = 0; row < INSN_COUNT; row++)
        if (!is_left_out(o, row) && !is_base(row))
            f->rows[f->row_count++] = row;
    random_seed(&random, ~o->seed);
    f->seed = o->seed;
    f->scratch = SCRATCH_ADDRESS;
    f->base_reg = harness_regs[random_below(&random, sizeof harness_regs)];
    do
        f->link_reg = harness_regs[random_below(&random, sizeof harness_regs)];
    while (f->link_reg == f->base_reg);
}

/* The registers that the sequence names, whatever it uses them for. */
static void list_input(const struct sequence *s)
{
    uint32_t named = 0, harness = UINT32_C(1) << s->fuzzer->base_reg | UINT32_C(1) << s->fuzzer->link_reg;
    for (unsigned i = 0; i < s->count; i++) {
        for (unsigned k = 0; k < s->unit[i].count && !s->unit[i].dropped; k++) {
            const struct insn *insn = &s->unit[i].step[k].insn;
            named |= UINT32_C(1) << insn->rd | UINT32_C(1) << insn->rs1 | UINT32_C(1) << insn->rs2 |
                     UINT32_C(1) << insn->rs3;
        }
    }
    printf("sequence %llu: fcsr 0x%llx", (unsigned long long)s->input.number, (unsigned long long)s->input.fcsr);
    for (unsigned i = 1; i < 32; i++)
        if ((named & ~harness) >> i & 1)
            printf(" %s 0x%llx", insn_reg_name(i), (unsigned long long)s->input.x[i]);
    for (unsigned i = 0; i < 32; i++)
        if (named >> i & 1)
            printf(" %s 0x%016llx", insn_freg_name(i), (unsigned long long)s->input.f[i]);
    printf("\n");
}

static void list_sequence(const struct sequence *s, uint64_t address)
{
    list_input(s);
    for (unsigned i = 0; i < s->count; i++) {
        uint64_t pc = address + s->unit[i].offset;
        for (unsigned k = 0; k < s->unit[i].count && !s->unit[i].dropped; k++) {
            const struct insn *insn = &s->unit[i].step[k].insn;
            char text[64];
            insn_disassemble(insn, text, sizeof text);
            printf("unit %u: %llx: %0*x %s\n", i, (unsigned long long)pc, 2 * insn->length, insn->bits, text);
            pc += insn->length;
        }
    }
}

static void print_coverage(const struct fuzzer *f)
{
    for (unsigned row = 0; row < INSN_COUNT; row++)
        printf("coverage %s %llu\n", insn_describe(row)->text, (unsigned long long)f->generated[row]);
}

int main(int argc, char **argv)
{
    struct options o;
    struct fuzzer *fuzzer = calloc(1, sizeof *fuzzer);
    struct sequence *s = malloc(sizeof *s);
    struct program program;
    if (!fuzzer || !s || !parse_options(argc, argv, &o)) {
        fprintf(stderr, "usage: generate --seed S --sequences N [--first K] [--without TEXT]... [--drop UNIT]... "
                        "[--list] [--coverage] ELF\n");
        return 2;
    }
    FILE *to = fopen(o.file, "wb");
    if (!to) {
        perror(o.file);
        return 1;
    }
    fuzzer_init(fuzzer, &o);
    program_begin(&program, fuzzer, o.first);
    for (uint64_t n = 0; n < o.sequences; n++) {
        sequence_draw(s, fuzzer, o.first + n);
        for (unsigned i = 0; i < o.drops; i++)
            if (o.drop[i] < s->count)
                sequence_drop(s, o.drop[i]);
        sequence_resolve(s);
        uint64_t address = program_add(&program, s);
        if (o.list)
            list_sequence(s, address);
    }
    if (o.coverage)
        print_coverage(fuzzer);
    bool written = program_end(&program, to) && fchmod(fileno(to), 0755) == 0;
    free(s);
    free(fuzzer);
    return fclose(to) == 0 && written ? 0 : 1;
}
