#!/bin/bash
# profile.sh SECONDS: fuzzes the reader of profiles under sanitizers. Seeds are a small file, its records and its frame,
# which follow the descriptions (base/block_file.h, block_records.h and profile_format.h in src/monitor) and nothing else.
# Fails if anything is found; the input that did it is kept in build/fuzz-profile.
set -eu
cd "$(dirname "$0")/../.."
build=${BUILD:-build}
mkdir -p "$build/fuzz-profile/seeds" "$build/fuzz-profile/corpus"
PYTHONPATH=tests/fuzz PYTHONDONTWRITEBYTECODE=1 python3 - "$build/fuzz-profile/seeds" <<'END'
import sys

from block_seeds import write_seeds

blocks = [b"\0\3\7version\0\0011\0"                     # information: version, 1
          b"\1\7\6cycles\0\xa0\x8d\6\1"                 # an event, of period 100000, of cycles
          b"\1\1\5loads\0"                              # another
          b"\2\x0d\x80\x80\4\x80\x20\2/a\0",            # a mapping
          b"\3\6\x80\x81\x08\x90\x92\x08"               # a call chain
          b"\4\x1e\x82\x81\x08\xa0\x8d\x0c\2\xc0\x9a\x0c"
          b"\4\xfe\x1f\2\4\1\1\x90\xa0\4\3\x08\5\1\2\3"  # samples
          b"\5\x87\x60\1\4\2\2\5"                       # the second of a pair
          b"\6\3\1\x80\x08" + b"\7\0"]                  # a total, the end
write_seeds(sys.argv[1], b"\x89CYCLES\n", blocks)
END
"$build/fuzz_profile" -max_total_time="$1" -max_len=16384 -timeout=10 -rss_limit_mb=1024 -print_final_stats=1 \
    -artifact_prefix="$build/fuzz-profile/" "$build/fuzz-profile/corpus" "$build/fuzz-profile/seeds"
