/* Compiles the evaluation of lanes a second time, for rows of one lane: one_lane.h says for what. */
#define ONE_LANE
#define lanes                   one_lane
#define lanes_new               one_lane_new
#define lanes_free              one_lane_free
#define lanes_evaluate          one_lane_evaluate
#define lanes_cycles            one_lane_cycles
#define lanes_load              one_lane_load
#define lanes_store             one_lane_store
#define lanes_drain             one_lane_drain
#define lanes_await_translation one_lane_await_translation
#define lanes_move_bases        one_lane_move_bases
#define lanes_latest_time       one_lane_latest_time
#define lanes_flush             one_lane_flush
#define lanes_serialize         one_lane_serialize
#define lanes_known             one_lane_known
#define lanes_fetch             one_lane_fetch
#define lanes_execute           one_lane_execute
#define lanes_read_lines        one_lane_read_lines
#define lanes_end_wrong_path    one_lane_end_wrong_path
#define lanes_await_wrong_path  one_lane_await_wrong_path
#define bundles_new             one_lane_bundles_new
#define bundles_free            one_lane_bundles_free
#define bundles_evaluate        one_lane_bundles_evaluate
#define bundles_flush           one_lane_bundles_flush
#define bundles_known           one_lane_bundles_known
#define bundles_share           one_lane_bundles_share
#define bundles_rows            one_lane_bundles_rows
#define bundles_row             one_lane_bundles_row
#define judges_enter_late       one_judge_enter_late
#define judges_issue_late       one_judge_issue_late
#define judges_issue_again      one_judge_issue_again
#define judges_occupy_unit      one_judge_occupy_unit
#define judges_find_mshr        one_judge_find_mshr
#define judges_await_mshr       one_judge_await_mshr
#define judges_add_miss         one_judge_add_miss

/* Functions that lanes.c has for each host would not be called directly. One lane is no vector. */
#define FOR_EACH_HOST

#include "graph/bundles.c"
#include "graph/judges.c"
#include "graph/lanes_fetch.c"
#include "graph/lanes_memory.c"
#include "graph/lanes.c"
#include "graph/lanes_state.c"
