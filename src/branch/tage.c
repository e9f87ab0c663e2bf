/* tage: tagged tables with geometric history lengths (Seznec and Michaud 2006, with the update rules of Seznec 2007).
 *
 * The matching entry with the longest history, the provider, makes the prediction; without a match a table of two-bit
 * counters by pc does. A provider with a weak counter may know less than the next shorter match, the alternate: the
 * counter use_alt tracks which of the two is right in such cases. A misprediction allocates an entry with a longer
 * history, in place of one that is not useful, that is, has not recently been right while its alternate was wrong.
 *
 * Histories of hundreds of bits are never hashed as a whole. Each table keeps its history folded into one word: the
 * polynomial sum of outcome(age) * FOLD^age modulo 2^64. A step multiplies, adds the outcome that enters and subtracts
 * the one that leaves, at the same cost for all lengths. The outcomes lie in a ring of bits. So the speculative state
 * is the position in the ring, the path, and a word per table. This is the note: `recover` restores the state from it,
 * and `train` finds with it the entries that were used.
 *
 * Training reads the tables as they are at retirement: several branches in flight that were mispredicted for the same
 * reason then allocate only once.
 *
 * Limits: hardware folds by exclusive or to the widths of index and tag. There, outcomes of a loop cancel when its
 * period is a multiple of a width; that does not happen here. The ring holds the longest history and
 * BRANCH_HISTORY_BITS - BRANCH_TAGE_HISTORY branches in flight. The history contains conditional branches only. There
 * is no loop predictor and no statistical corrector. */
#include <stdlib.h>

#include "base/random.h"
#include "branch/branch.h"

enum {
    COUNTER_HIGH = 3, /* range of the three-bit signed counters */
    COUNTER_LOW = -4,
    USEFUL_MAX = 3,
    USE_ALT_HIGH = 7, /* range of the four-bit counter use_alt */
    USE_ALT_LOW = -8,
    PATH_BITS = 16,
    DECAY_BITS = 18, /* log2 of the branches between two halvings of `useful` */
    NONE = -1        /* no table: the base predictor */
};

/* Odd, so multiplication loses nothing. FOLD - 1 is divisible by 2 only once, so the order of outcomes matters. */
static const uint64_t FOLD = UINT64_C(0xa3b195354a39b70b);

struct tage_entry {
    uint16_t tag;   /* 0: empty */
    int8_t counter; /* predicts taken from 0 on; weak at 0 and -1 */
    uint8_t useful; /* 0: the entry may be replaced */
};

struct tage_table {
    unsigned length;    /* length of its history in branches */
    unsigned tag_shift; /* shift from the hash to the tag */
    uint64_t fold;      /* folded speculative history */
    uint64_t leaving;   /* weight of an outcome when it leaves the history: FOLD^length */
    uint64_t path_mask; /* bits of the path that are used: as many as the history is long */
    struct tage_entry *entries;
};

struct tage {
    unsigned tables;
    unsigned index_bits;  /* upper bits of the hash used as the index; the tag's bits follow */
    uint32_t head;        /* number of outcomes so far; place of the next one in the ring */
    uint32_t path;        /* one address bit of each recent branch, newest in bit 0 */
    int use_alt;          /* from 0 on, a weak provider's alternate predicts */
    uint32_t trained;     /* number of branches trained */
    struct random random; /* advances with training only, so wrong paths do not change it */
    struct counters *base;
    struct tage_entry *entries; /* entries of all tables */
    struct tage_table table[BRANCH_TAGE_TABLES];
    uint64_t ring[BRANCH_HISTORY_BITS / 64];
};

/* The entries that match a branch, and their predictions. */
struct tage_match {
    int provider, alternate;              /* table numbers, or NONE */
    struct tage_entry *entry;             /* the provider's entry */
    struct tage_entry *alternate_entry;   /* the alternate's entry; not set for NONE */
    bool provider_taken, alternate_taken; /* predictions of the provider and of the alternate */
    bool weak;                            /* the provider's counter is weak */
    bool predicted;                       /* the final prediction */
};

/* History lengths: a geometric series in fixed-point numbers, so that the result is the same on all hosts. */
enum { FRACTION_BITS = 20 };

static uint64_t geometric(uint64_t first, uint64_t ratio, unsigned steps)
{
    for (uint64_t value = first << FRACTION_BITS;; value = value * ratio >> FRACTION_BITS)
        if (steps-- == 0)
            return value;
}

/* Finds the ratio of the series by bisection, and sets the length of each table's history. */
static void set_lengths(struct tage *t, const struct branch_config *c)
{
    unsigned last = t->tables - 1;
    uint64_t low = 1 << FRACTION_BITS, high = (uint64_t)c->tage_max_history << FRACTION_BITS;
    while (high - low > 1) {
        uint64_t middle = (low + high) / 2;
        bool fits = true;
        /* A ratio that is too large fails before the product overflows. */
        for (unsigned i = 1; i <= last && fits; i++)
            fits = geometric(c->tage_min_history, middle, i) <= (uint64_t)c->tage_max_history << FRACTION_BITS;
        if (fits)
            low = middle;
        else
            high = middle;
    }
    for (unsigned i = 0; i <= last; i++) {
        unsigned length =
            (unsigned)((geometric(c->tage_min_history, low, i) + (1 << (FRACTION_BITS - 1))) >> FRACTION_BITS);
        if (i > 0 && length <= t->table[i - 1].length)
            length = t->table[i - 1].length + 1;
        t->table[i].length = i == last ? c->tage_max_history : length;
    }
}

static void set_up_table(struct tage *t, unsigned i, const struct branch_config *c)
{
    struct tage_table *table = &t->table[i];
    unsigned tag_bits = c->tage_tag_bits + (t->tables > 1 ? 4 * i / (t->tables - 1) : 0);
    table->tag_shift = 64 - tag_bits;
    table->leaving = 1;
    for (unsigned age = 0; age < table->length; age++)
        table->leaving *= FOLD;
    table->path_mask = (UINT64_C(1) << (table->length < PATH_BITS ? table->length : PATH_BITS)) - 1;
    table->entries = t->entries + ((size_t)i << t->index_bits);
}

static void destroy(void *state)
{
    struct tage *t = state;
    free(t->base);
    free(t->entries);
    free(t);
}

static void visit_state(void *state, state_visitor *visit, void *context)
{
    struct tage *t = state;
    visit(context, &t->head, sizeof t->head);
    visit(context, &t->path, sizeof t->path);
    visit(context, &t->use_alt, sizeof t->use_alt);
    visit(context, &t->trained, sizeof t->trained);
    visit(context, &t->random, sizeof t->random);
    visit(context, t->ring, sizeof t->ring);
    for (unsigned i = 0; i < t->tables; i++)
        visit(context, &t->table[i].fold, sizeof t->table[i].fold);
    counters_visit(t->base, visit, context);
    visit(context, t->entries, sizeof *t->entries * t->tables << t->index_bits);
}

static void *create(const struct branch_config *c)
{
    struct tage *t = calloc(1, sizeof *t);
    if (!t)
        return NULL;
    t->tables = c->tage_tables;
    t->index_bits = c->tage_bits;
    random_seed(&t->random, 0);
    t->base = counters_new(c->bimodal_bits, COUNTER_WEAKLY_TAKEN);
    t->entries = calloc((size_t)t->tables << t->index_bits, sizeof *t->entries);
    if (!t->base || !t->entries) {
        destroy(t);
        return NULL;
    }
    set_lengths(t, c);
    for (unsigned i = 0; i < t->tables; i++)
        set_up_table(t, i, c);
    return t;
}

/* Hash that identifies an entry within its table. Odd multipliers; upper bits of a product depend on all lower bits. */
static uint64_t hash(const struct tage *t, unsigned i, uint64_t pc, uint64_t fold, uint64_t path)
{
    uint64_t branch = (pc >> 1) * UINT64_C(0x9e3779b97f4a7c15);
    path = (path & t->table[i].path_mask) * UINT64_C(0xc2b2ae3d27d4eb4f);
    return (fold ^ branch ^ path) * UINT64_C(0xd6e8feb86659fd93);
}

static struct tage_entry *entry_at(const struct tage *t, unsigned i, uint64_t h)
{
    return &t->table[i].entries[h >> (64 - t->index_bits)];
}

static uint16_t tag_of(const struct tage *t, unsigned i, uint64_t h)
{
    uint64_t tag = h << t->index_bits >> t->table[i].tag_shift;
    return (uint16_t)(tag ? tag : 1);
}

static bool is_weak(const struct tage_entry *e)
{
    return e->counter == 0 || e->counter == -1;
}

/* Finds provider and alternate. `note` is the note of the prediction. */
static void match(const struct tage *t, uint64_t pc, const uint64_t *note, struct tage_match *m)
{
    *m = (struct tage_match){.provider = NONE, .alternate = NONE};
    for (unsigned i = t->tables; i-- > 0;) {
        uint64_t h = hash(t, i, pc, note[1 + i], note[0] >> 32);
        struct tage_entry *e = entry_at(t, i, h);
        if (e->tag != tag_of(t, i, h))
            continue;
        if (m->provider != NONE) {
            m->alternate = (int)i;
            m->alternate_entry = e;
            break;
        }
        m->provider = (int)i;
        m->entry = e;
    }
    m->alternate_taken =
        m->alternate != NONE ? m->alternate_entry->counter >= 0 : counter_taken(*counters_by_pc(t->base, pc));
    m->provider_taken = m->alternate_taken;
    if (m->provider != NONE) {
        m->provider_taken = m->entry->counter >= 0;
        m->weak = is_weak(m->entry);
    }
    m->predicted = m->weak && t->use_alt >= 0 ? m->alternate_taken : m->provider_taken;
}

static void mark(void *state, uint64_t *note)
{
    const struct tage *t = state;
    note[0] = t->head | (uint64_t)t->path << 32;
    for (unsigned i = 0; i < t->tables; i++)
        note[1 + i] = t->table[i].fold;
}

static bool predict(void *state, uint64_t pc, bool backward, uint64_t *note)
{
    const struct tage *t = state;
    struct tage_match m;
    (void)backward;
    mark(state, note);
    match(t, pc, note, &m);
    return m.predicted;
}

static uint64_t ring_bit(const struct tage *t, uint32_t place)
{
    return t->ring[place / 64 % (BRANCH_HISTORY_BITS / 64)] >> place % 64 & 1;
}

static void speculate(void *state, uint64_t pc, bool taken)
{
    struct tage *t = state;
    for (unsigned i = 0; i < t->tables; i++) {
        struct tage_table *table = &t->table[i];
        uint64_t leaving = -ring_bit(t, t->head - table->length) & table->leaving;
        table->fold = table->fold * FOLD + taken - leaving;
    }
    uint64_t *word = &t->ring[t->head / 64 % (BRANCH_HISTORY_BITS / 64)];
    *word = (*word & ~(UINT64_C(1) << t->head % 64)) | (uint64_t)taken << t->head % 64;
    t->head++;
    t->path = (t->path << 1 | ((pc >> 1 ^ pc >> 4) & 1)) & ((1u << PATH_BITS) - 1);
}

static void recover(void *state, const uint64_t *note)
{
    struct tage *t = state;
    t->head = (uint32_t)note[0];
    t->path = (uint32_t)(note[0] >> 32);
    for (unsigned i = 0; i < t->tables; i++)
        t->table[i].fold = note[1 + i];
}

static void train_counter(int8_t *counter, bool taken)
{
    if (taken)
        *counter = (int8_t)(*counter + (*counter < COUNTER_HIGH));
    else
        *counter = (int8_t)(*counter - (*counter > COUNTER_LOW));
}

/* Allocates an entry with a longer history than the provider's. The search starts at each next longer table with half
 * the probability of the previous one, so branches that allocate together do not always meet in the same table. */
static void allocate(struct tage *t, uint64_t pc, bool taken, int provider, const uint64_t *note)
{
    unsigned first = (unsigned)(provider + 1);
    for (uint64_t coins = random_u64(&t->random) & 3; coins & 1 && first + 1 < t->tables; coins >>= 1)
        first++;
    for (unsigned i = first; i < t->tables; i++) {
        uint64_t h = hash(t, i, pc, note[1 + i], note[0] >> 32);
        struct tage_entry *e = entry_at(t, i, h);
        if (e->useful > 0)
            continue;
        *e = (struct tage_entry){.tag = tag_of(t, i, h), .counter = taken ? 0 : -1};
        return;
    }
    for (unsigned i = first; i < t->tables; i++)
        entry_at(t, i, hash(t, i, pc, note[1 + i], note[0] >> 32))->useful--;
}

/* Halves all `useful` counters, so that entries that are no longer useful can be replaced. */
static void decay(struct tage *t)
{
    size_t count = (size_t)t->tables << t->index_bits;
    for (size_t i = 0; i < count; i++)
        t->entries[i].useful >>= 1;
}

static void train_provider(struct tage *t, const struct tage_match *m, bool taken, uint64_t pc)
{
    struct tage_entry *e = m->entry;
    bool right = m->provider_taken == taken, differ = m->provider_taken != m->alternate_taken;
    /* Until the entry has proved useful, its alternate may have to take over again, so it keeps learning. */
    if (e->useful == 0) {
        if (m->alternate != NONE)
            train_counter(&m->alternate_entry->counter, taken);
        else
            counter_train(counters_by_pc(t->base, pc), taken);
    }
    if (differ && right) {
        e->useful = (uint8_t)(e->useful + (e->useful < USEFUL_MAX));
        t->use_alt -= m->weak && t->use_alt > USE_ALT_LOW;
    } else if (differ) {
        e->useful = (uint8_t)(e->useful - (e->useful > 0));
        t->use_alt += m->weak && t->use_alt < USE_ALT_HIGH;
    }
    train_counter(&e->counter, taken);
}

static void train(void *state, uint64_t pc, bool taken, const uint64_t *note)
{
    struct tage *t = state;
    struct tage_match m;
    match(t, pc, note, &m);
    /* A weak provider that was right but overruled needs training, not a longer history. */
    bool learning = m.weak && m.provider_taken == taken;
    if (m.predicted != taken && !learning && m.provider + 1 < (int)t->tables)
        allocate(t, pc, taken, m.provider, note);
    if (m.provider != NONE)
        train_provider(t, &m, taken, pc);
    else
        counter_train(counters_by_pc(t->base, pc), taken);
    if ((++t->trained & ((1u << DECAY_BITS) - 1)) == 0)
        decay(t);
}

const struct direction_predictor direction_tage = {
    .name = "tage",
    .help = "tagged tables by address and global histories of geometric lengths",
    .create = create,
    .destroy = destroy,
    .visit = visit_state,
    .predict = predict,
    .speculate = speculate,
    .recover = recover,
    .train = train,
    .mark = mark,
};
