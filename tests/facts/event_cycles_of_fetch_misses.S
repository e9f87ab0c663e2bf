#: counter stalls fetch_stalls
#: counter stalls_itlb fetch_stalls:itlb
#: counter stalls_l2i fetch_stalls:l2i
#: counter stalls_l1i fetch_stalls:l1i
#: counter stalls_serial fetch_stalls:serial
#: counter stops fetch_stops
#: counter stops_itlb fetch_stops:itlb
#: counter stops_l2i fetch_stops:l2i
#: counter stops_l1i fetch_stops:l1i
#: counter stops_serial fetch_stops:serial
#: counter stops_width fetch_stops:width
#: counter fetches fetch_cycles
#: counter starved rob_starved
#: counter starved_itlb rob_starved:itlb
#: counter starved_l2i rob_starved:l2i
#: counter starved_l1i rob_starved:l1i
#: counter wstarved window_starved
#: counter wstarved_itlb window_starved:itlb
#: counter wstarved_l2i window_starved:l2i
#: counter wstarved_l1i window_starved:l1i
#: counter empty empty_window
#: counter empty_itlb empty_window:itlb
#: counter empty_l2i empty_window:l2i
#: counter empty_l1i empty_window:l1i
#: counter completes completion_cycles
#: counter entries window_entries
#: counter moves moving_cycles
#: counter dispatches dispatch_cycles
#: counter dispatch_stalls dispatch_stalls
#: counter dispatch_empty dispatch_stalls:empty
#: counter front front_end_stalls
#: counter dispatch_stops dispatch_stops
#: counter dispatch_width dispatch_stops:width
#: counter dispatch_ends dispatch_stops:empty
#: counter issues issue_cycles
#: counter issue_stalls issue_stalls
#: counter issue_stalls_operands issue_stalls:operands
#: counter issue_stalls_empty issue_stalls:empty
#: counter issue_stops issue_stops
#: counter issue_operands issue_stops:operands
#: counter issue_empty issue_stops:empty
#: counter commit_stops commit_stops
#: counter commit_width commit_stops:width
#: counter commit_head commit_stops:head
#: counter commit_empty commit_stops:empty
#: counter commit_stalls commit_stalls
#: counter commit_stalls_head commit_stalls:head
#: counter commit_stalls_empty commit_stalls:empty
#: counter head head_stalls
#: counter head_issue head_stalls:issue
#: counter head_alu head_stalls:alu
#: counter turn turn_stalls
#: counter integer integer_stalls
#: counter integer_alu integer_stalls:alu
#: counter rob_empty rob_empty_cycles
#: counter rob rob_occupancy
#: counter open window_open
#: counter open_nothing window_open:nothing
#: counter open_issue window_open:issue
#: counter open_alu window_open:alu
#: expect fetch(_start) == 290
#: expect fetch(exit) == 840
#: expect cycles == 851
#: expect counter.stalls == 30 + 3 * 259 + 3 * 9 + 11
#: expect counter.stalls_itlb == 30
#: expect counter.stalls_l2i == 3 * 259
#: expect counter.stalls_l1i == 3 * 9
#: expect counter.stalls_serial == 11
#: expect counter.stops == 851
#: expect counter.stops_itlb == 30
#: expect counter.stops_l2i == 3 * 259
#: expect counter.stops_l1i == 3 * 9
#: expect counter.stops_serial == 12
#: expect counter.stops_width == 5
#: expect counter.fetches == 6
#: expect counter.starved == 30 + 259 + 2 * 258 + 3 * 8
#: expect counter.starved_itlb == 30
#: expect counter.starved_l2i == 259 + 2 * 258
#: expect counter.starved_l1i == 3 * 8
#: expect counter.wstarved == 30 + 259 + 2 * 258 + 3 * 8
#: expect counter.wstarved_itlb == 30
#: expect counter.wstarved_l2i == 259 + 2 * 258
#: expect counter.wstarved_l1i == 3 * 8
#: expect counter.empty == 295 + 6 + 256 + 6 + 256 + 6
#: expect counter.empty_itlb == 30
#: expect counter.empty_l2i == 260 + 2 * 4 + 2 * 252
#: expect counter.empty_l1i == 3 * 4 + 2 * 2 + 1
#: expect counter.completes == 6 * 2 + 1
#: expect counter.entries == 6
#: expect counter.moves == 13 + 6
#: expect counter.dispatches == 6 * 2
#: expect counter.dispatch_stalls == 851 - 12
#: expect counter.dispatch_empty == 851 - 12
#: expect counter.front == 851 - 12
#: expect counter.dispatch_stops == 851
#: expect counter.dispatch_width == 12
#: expect counter.dispatch_ends == 851 - 12
#: expect counter.issues == 6 * 2 + 1
#: expect counter.issue_stalls == 851 - 13
#: expect counter.issue_stalls_operands == 1
#: expect counter.issue_stalls_empty == 851 - 13 - 1
#: expect counter.issue_stops == 851
#: expect counter.issue_operands == 2
#: expect counter.issue_empty == 851 - 2
#: expect counter.commit_stops == 851
#: expect counter.commit_width == 11
#: expect counter.commit_head == 6 * 2 + 2
#: expect counter.commit_empty == 825 + 1
#: expect counter.commit_stalls == 825 + 13
#: expect counter.commit_stalls_head == 6 * 2 + 1
#: expect counter.commit_stalls_empty == 825
#: expect counter.head == 6 * 2 + 1
#: expect counter.head_issue == 6
#: expect counter.head_alu == 6 + 1
#: expect counter.turn == 6
#: expect counter.integer == 6 + 1
#: expect counter.integer_alu == 6 + 1
#: expect counter.rob_empty == 294 + 6 + 256 + 6 + 256 + 6 + 1
#: expect counter.rob == 5 * 24 + 26
#: expect counter.open == 851
#: expect counter.open_nothing == 851 - 13
#: expect counter.open_issue == 6
#: expect counter.open_alu == 6 + 1
#
# Six lines of eight instructions, two in each line of the second cache. The translation takes cycles 1 to 30. Line 0 is
# asked for in 31 and fetched 259 later, in 290; line 1, in the second cache by then, is asked for in 291 and fetched in
# 300, and so on: lines are fetched in 290, 300, 560, 570, 830 and 840. Eight instructions fetched in f enter the window
# in f + 5 and f + 6, four each, issue in f + 6 and f + 7, and retire in f + 8 and f + 9, but for the exit, which issues
# as the oldest in 849 and retires in 851. The last line ends with it, so fetch is serial from 840 on.
# Nothing enters the front end's stages while fetch waits, except in the first cycle of all waits but the first, when
# four instructions are left in the fetch buffer.
# The window is empty at the beginning of cycles 1 to 295, 300 to 305, 310 to 565, 570 to 575, 580 to 835 and 840 to
# 845. The front end was last held up by the translation in 2 to 31, by memory from the cycle after the one that asks
# for lines 0, 2 and 4 (31, 301, 571) to the one that asks for lines 1, 3 and 5 (291, 561, 831), and by the second cache
# from the cycle after that to the one that asks for the next: memory has 260 cycles up to 291, then 302 to 305 and 310
# to 561, 572 to 575 and 580 to 831; the second cache 292 to 295, 300 and 301, 562 to 565, 570 and 571, 832 to 835 and
# 840.
# In f + 6 the oldest instruction waits for its turn, in f + 7 for its ALU, as does the exit in 850. The exit waits in
# the issue queue when the three before it issue in 847, and alone in 848. After the cycles f + 5 to f + 9 the ROB has
# 4, 8, 8, 4 and 0 instructions; with the exit, 1 in 849 and 850. The cycles in which it retires four are those of full
# width: eleven.
    .include "fact.inc"
    .text
    .balign 64
    begin
    nops 45
    li a0, 0
    li a7, 93
exit: ecall
