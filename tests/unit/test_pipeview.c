/* The pipeline view, from hand-made events of a core to the text of the log. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "trace/pipeview.h"

enum { NOP = 0x13, ECALL = 0x73 };

/* A view with the text that it wrote. */
struct view {
    struct pipeview *p;
    const struct core_observer *o;
    FILE *to;
    char *text;
    size_t length;
};

static void open_view(struct view *v, uint64_t from, uint64_t insns)
{
    v->to = open_memstream(&v->text, &v->length);
    assert_non_null(v->to);
    v->p = pipeview_new(v->to, from, insns);
    assert_non_null(v->p);
    v->o = pipeview_observer(v->p);
}

static void close_view(struct view *v)
{
    pipeview_free(v->p);
    fclose(v->to);
    free(v->text);
}

static void expect(struct view *v, const char *text)
{
    pipeview_finish(v->p);
    fflush(v->to);
    assert_string_equal(v->text, text);
    close_view(v);
}

/* The instruction with this id, at an address of its own, in the slot of that number. */
static struct insn_view insn(uint64_t id)
{
    return (struct insn_view){.id = id, .pc = 0x1000 + 4 * id, .bits = NOP, .slot = (uint16_t)id};
}

static void fetch(struct view *v, uint64_t id, uint64_t cycle, bool wrong_path)
{
    struct insn_view i = insn(id);
    i.wrong_path = wrong_path;
    v->o->fetched(v->o->context, &i, cycle);
}

static void commit(struct view *v, uint64_t id, uint64_t cycle)
{
    struct insn_view i = insn(id);
    v->o->committed(v->o->context, &i, cycle);
}

static void an_instruction_goes_through_its_stages(void **state)
{
    (void)state;
    struct view v;
    struct insn_view i = insn(7);
    i.bits = 0x00853583; /* ld a1,8(a0) */
    i.addr = 0x8000;
    open_view(&v, 0, 10);
    v.o->fetched(v.o->context, &i, 100);
    v.o->dispatched(v.o->context, &i, 105);
    v.o->issued(v.o->context, &i, 105);
    i.events = EVENT_REJECT;
    v.o->issued(v.o->context, &i, 110);
    i.events |= EVENT_L1D | EVENT_L2D;
    v.o->completed(v.o->context, &i, 112);
    v.o->committed(v.o->context, &i, 113);
    expect(&v,
           "Kanata\t0004\nC=\t100\nI\t0\t7\t0\nL\t0\t0\t101c: ld a1,8(a0)\nS\t0\t0\tF\nC\t5\nS\t0\t0\tDp\nS\t0\t0\tIs\n"
           "C\t5\nS\t0\t0\tIs\nC\t2\nS\t0\t0\tCp\nC\t1\n"
           "L\t0\t1\tslot 7\\naddress 8000\\nL1D miss\\nL2D miss\\nrejected\nR\t0\t0\t0\n");
}

static void the_wrong_path_is_flushed(void **state)
{
    (void)state;
    struct view v;
    struct insn_view branch = insn(0), wrong = insn(1);
    branch.bits = 0x00000463; /* beqz zero,.+8 */
    branch.control = branch.conditional = branch.taken = branch.mispredicted = true;
    branch.addr = 0x1008;
    wrong.wrong_path = true;
    open_view(&v, 0, 1);
    v.o->fetched(v.o->context, &branch, 1);
    v.o->fetched(v.o->context, &wrong, 2);
    v.o->squashed(v.o->context, &wrong, 4);
    v.o->committed(v.o->context, &branch, 5);
    expect(&v, "Kanata\t0004\nC=\t1\nI\t0\t0\t0\nL\t0\t0\t1000: beq zero,zero,.+8\nS\t0\t0\tF\nC\t1\n"
               "I\t1\t1\t0\nL\t1\t0\t1004: addi zero,zero,0\nS\t1\t0\tF\nC\t2\n"
               "L\t1\t1\tslot 1\\non the wrong path\nR\t1\t0\t1\nC\t1\n"
               "L\t0\t1\tslot 0\\ntaken to 1008\\nmispredicted\nR\t0\t0\t0\n");
}

/* Numbers are those of the right path: 0 1 (wrong) 2 (wrong) 3 (wrong) 4, of which 2 and 3 are wanted. */
static void the_window_counts_the_right_path(void **state)
{
    (void)state;
    static const bool wrong[] = {false, false, true, false, true, false, true, false, true};
    struct view v;
    open_view(&v, 2, 2);
    for (uint64_t id = 0; id < 9; id++)
        fetch(&v, id, 10 + id, wrong[id]);
    pipeview_finish(v.p);
    fflush(v.to);
    char begun[64] = "";
    for (const char *at = v.text; (at = strstr(at, "\nI\t")) != NULL; at++) {
        unsigned id, number;
        assert_int_equal(sscanf(at, "\nI\t%u\t%u\t0", &id, &number), 2);
        snprintf(begun + strlen(begun), sizeof begun - strlen(begun), "%u:%u ", id, number);
    }
    assert_string_equal(begun, "0:3 1:4 2:5 3:6 ");
    close_view(&v);
}

static void what_is_in_flight_at_the_end_is_flushed(void **state)
{
    (void)state;
    struct view v;
    open_view(&v, 0, 100);
    fetch(&v, 0, 1, false);
    fetch(&v, 1, 1, false);
    commit(&v, 0, 9);
    expect(&v,
           "Kanata\t0004\nC=\t1\nI\t0\t0\t0\nL\t0\t0\t1000: addi zero,zero,0\nS\t0\t0\tF\n"
           "I\t1\t1\t0\nL\t1\t0\t1004: addi zero,zero,0\nS\t1\t0\tF\nC\t8\nL\t0\t1\tslot 0\nR\t0\t0\t0\nR\t1\t1\t1\n");
}

static void a_slot_outside_the_window_is_not_taken_for_one_inside(void **state)
{
    (void)state;
    struct view v;
    open_view(&v, 0, 1);
    fetch(&v, 0, 1, false);
    fetch(&v, 1, 1, false);
    commit(&v, 0, 2);
    struct insn_view reused = insn(2);
    reused.slot = 0;
    v.o->fetched(v.o->context, &reused, 3);
    v.o->dispatched(v.o->context, &reused, 4);
    v.o->committed(v.o->context, &reused, 5);
    expect(&v, "Kanata\t0004\nC=\t1\nI\t0\t0\t0\nL\t0\t0\t1000: addi zero,zero,0\nS\t0\t0\tF\nC\t1\n"
               "L\t0\t1\tslot 0\nR\t0\t0\t0\n");
}

/* After a system call this may be a process that the guest forked. */
static void a_forked_process_writes_nothing(void **state)
{
    (void)state;
    struct view v;
    struct insn_view call = insn(0);
    call.bits = ECALL;
    open_view(&v, 0, 100);
    v.o->fetched(v.o->context, &call, 1);
    v.o->committed(v.o->context, &call, 2);
    fflush(v.to);
    size_t before = v.length;
    pid_t child = fork();
    fetch(&v, 1, 3, false);
    commit(&v, 1, 4);
    fflush(v.to);
    if (child == 0)
        _exit(v.length == before ? 0 : 1);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_true(v.length > before);
    close_view(&v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_instruction_goes_through_its_stages),
        cmocka_unit_test(the_wrong_path_is_flushed),
        cmocka_unit_test(the_window_counts_the_right_path),
        cmocka_unit_test(what_is_in_flight_at_the_end_is_flushed),
        cmocka_unit_test(a_slot_outside_the_window_is_not_taken_for_one_inside),
        cmocka_unit_test(a_forked_process_writes_nothing),
    };
    return cmocka_run_group_tests_name("pipeview", tests, NULL, NULL);
}
