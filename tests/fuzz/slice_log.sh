#!/bin/bash
# slice_log.sh SECONDS: fuzzes the reader of slice logs under sanitizers. Seeds are a small file, its records and its
# frame, which follow the descriptions (base/block_file.h, block_records.h and slice_log_format.h in src/monitor) and nothing
# else. Fails if anything is found; the input that did it is kept in build/fuzz-slice-log.
set -eu
cd "$(dirname "$0")/../.."
build=${BUILD:-build}
mkdir -p "$build/fuzz-slice-log/seeds" "$build/fuzz-slice-log/corpus"
PYTHONPATH=tests/fuzz PYTHONDONTWRITEBYTECODE=1 python3 - "$build/fuzz-slice-log/seeds" <<'END'
import sys

from block_seeds import write_seeds

blocks = [b"\0\3\7version\0\0011\0"                       # information: version, 1
          b"\1\x1d\5\xc0\x9a\x0c\1\1"                     # a plan of 5 slots of 200000 cycles, seed 1, in fixed order
          b"\2\7\3\2\2" + b"\2\7\1\1\3"                   # groups, of two events and of one
          b"\3\7\5loads\0\6\1"                            # events: the first of the first group
          b"\3\x1f\6stores\0\7\1\1\1"
          b"\3\x17\5calls\0\x20\2\2"
          b"\3\x0b\11committed\0\2\1"                     # counted always
          b"\4\1\2/a\0" + b"\4\1\2/b\0",                  # programs
          b"\5\x7a\1\x80\xb5\x18\x80\x89\x0f\x10\2"       # a slice of the first group
          b"\5\x18\x80\xb5\x18\x80\x89\x0f"               # an idle one
          b"\5\x2f\1\1\2\x10\x10",                        # of the first group, of program 1, of round 1
          b"\6\6\1\x80\x08" + b"\7\x0e\2\xc0\x9a\x0c\5" + b"\x08\0"]  # a total, an exit, the end
write_seeds(sys.argv[1], b"\x89SLICES\n", blocks)
END
"$build/fuzz_slice_log" -max_total_time="$1" -max_len=16384 -timeout=10 -rss_limit_mb=1024 -print_final_stats=1 \
    -artifact_prefix="$build/fuzz-slice-log/" "$build/fuzz-slice-log/corpus" "$build/fuzz-slice-log/seeds"
