/* Recovery: after it the branch unit predicts as one that has never seen the wrong path. */
#include "base/random.h"
#include "branch_fixture.h"

/* A random program against two units. One goes down a wrong path at random places, whether the prediction was right or
 * not, and recovers. The other recovers at once, and only where it has to. Both retire with the same delay. */
enum { IN_FLIGHT = 24, WRONG_PATH = 12 };

struct traveller {
    struct branch_unit *unit;
    struct branch_record flying[IN_FLIGHT];
};

struct outcome {
    bool taken;
    uint64_t target;
};

/* Few addresses, so that tables are shared; each address has one kind. */
static struct branch_record random_branch(struct random *random)
{
    static const enum branch_kind kinds[16] = {
        BRANCH_CONDITIONAL,   BRANCH_CONDITIONAL, BRANCH_CONDITIONAL, BRANCH_CONDITIONAL,
        BRANCH_CONDITIONAL,   BRANCH_CONDITIONAL, BRANCH_CONDITIONAL, BRANCH_JUMP,
        BRANCH_CALL,          BRANCH_CALL,        BRANCH_INDIRECT,    BRANCH_INDIRECT,
        BRANCH_INDIRECT_CALL, BRANCH_RETURN,      BRANCH_RETURN,      BRANCH_CORETURN,
    };
    uint64_t number = random_u64(random) % 64;
    return at(kinds[number % 16], 0x10000 + number * 6, number % 3 ? 0x10000 + number * 40 : 0x8000 + number);
}

static struct outcome random_outcome(struct random *random, const struct branch_record *r)
{
    uint64_t draw = random_u64(random);
    switch (r->kind) {
    case BRANCH_CONDITIONAL: return (struct outcome){draw % 3 != 0, r->direct};
    case BRANCH_JUMP:
    case BRANCH_CALL: return (struct outcome){true, r->direct};
    case BRANCH_INDIRECT:
    case BRANCH_INDIRECT_CALL: return (struct outcome){true, 0x20000 + draw % 3 * 64};
    default: return (struct outcome){true, draw % 4 ? r->next : 0x30000};
    }
}

static bool pops(enum branch_kind kind)
{
    return kind == BRANCH_RETURN || kind == BRANCH_CORETURN;
}

static bool pushes(enum branch_kind kind)
{
    return kind == BRANCH_CALL || kind == BRANCH_INDIRECT_CALL || kind == BRANCH_CORETURN;
}

/* Wrong-path branches behind one that will recover. The return stack held `depth` addresses before that one and has
 * come to `height` by it; no branch here pushes below the top of then or beyond the room, so that the repair covers
 * them. Some recover in their turn. */
static void go_astray(struct branch_unit *b, struct random *random, int depth, int height, int size)
{
    struct branch_record way[WRONG_PATH];
    int heights[WRONG_PATH];
    unsigned length = random_u64(random) % (WRONG_PATH + 1);
    for (unsigned i = 0; i < length; i++) {
        way[i] = random_branch(random);
        enum branch_kind kind = way[i].kind;
        int popped = height - (pops(kind) && depth + height > 0);
        if (pushes(kind) && (popped < -1 || depth + popped >= size))
            way[i] = at(BRANCH_CONDITIONAL, way[i].pc, way[i].direct);
        if (way[i].kind == BRANCH_CONDITIONAL)
            popped = height;
        heights[i] = popped + pushes(way[i].kind);
        height = heights[i];
        branch_predict(b, &way[i]);
        if (random_u64(random) % 8 == 0) {
            i = random_u64(random) % (i + 1);
            struct outcome o = random_outcome(random, &way[i]);
            branch_recover(b, &way[i], o.taken, o.target);
            height = heights[i];
        }
    }
}

static void compare(const char *name, unsigned step, const struct branch_record *x, const struct branch_record *y)
{
    if (x->taken != y->taken || x->next != y->next || x->misfetch != y->misfetch || x->has_target != y->has_target)
        fail_msg("%s: branch %u is predicted differently after a wrong path", name, step);
}

static void travel(const struct branch_config *c, unsigned steps)
{
    struct traveller astray = {.unit = unit_of(c)}, straight = {.unit = unit_of(c)};
    struct outcome outcomes[IN_FLIGHT];
    struct random program, wrong;
    random_seed(&program, c->direction);
    random_seed(&wrong, 99);
    int depth = 0, size = (int)c->ras_entries;
    for (unsigned step = 0; step < steps; step++) {
        unsigned slot = step % IN_FLIGHT;
        struct branch_record *x = &astray.flying[slot], *y = &straight.flying[slot];
        if (step >= IN_FLIGHT) {
            branch_retire(astray.unit, x, outcomes[slot].taken, outcomes[slot].target);
            branch_retire(straight.unit, y, outcomes[slot].taken, outcomes[slot].target);
        }
        *x = *y = random_branch(&program);
        branch_predict(astray.unit, x);
        branch_predict(straight.unit, y);
        compare(branch_direction_name(c->direction), step, x, y);
        struct outcome o = outcomes[slot] = random_outcome(&program, y);
        int popped = pops(y->kind) && depth > 0, before = depth;
        depth -= popped;
        before -= pushes(y->kind) && depth == size; /* the oldest one is lost to both */
        depth += pushes(y->kind) && depth < size;
        bool wrongly = y->taken != o.taken || y->next != (o.taken ? o.target : y->fallthrough);
        if (wrongly)
            branch_recover(straight.unit, y, o.taken, o.target);
        bool stray = random_u64(&wrong) % 4 == 0;
        if (stray)
            go_astray(astray.unit, &wrong, before, depth - before, size);
        if (wrongly || stray)
            branch_recover(astray.unit, x, o.taken, o.target);
    }
    branch_free(astray.unit);
    branch_free(straight.unit);
}

static void recovery_leaves_no_trace_of_the_wrong_path(void **state)
{
    (void)state;
    for (unsigned row = 0; branch_direction_name(row); row++) {
        struct branch_config c = config_of(branch_direction_name(row));
        c.indirect_bits = 5;
        c.btb_entries = 32;
        travel(&c, 50000);
        c.btb_entries = c.ras_entries = c.indirect_bits = 0;
        travel(&c, 5000);
        c.ras_entries = 3;
        c.tage_tables = 15;
        c.tage_max_history = 1000;
        travel(&c, 20000);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(recovery_leaves_no_trace_of_the_wrong_path),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
