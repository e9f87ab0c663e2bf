#!/bin/bash
# config.sh SECONDS: fuzzes core files and settings under sanitizers, from the cores that come along as seeds and with the
# names of parameters as words. Fails if anything is found; the input that did it is kept in build/fuzz-config.
set -eu
cd "$(dirname "$0")/../.."
mkdir -p build/fuzz-config/seeds build/fuzz-config/corpus
for core in cores/*.ini; do
    cp "$core" build/fuzz-config/seeds/
    { grep -v '^;' "$core" && printf '\0l1d.size=32K\nissue.order=in_order\nrob.size=64\n'; } \
        >"build/fuzz-config/seeds/$(basename "$core" .ini).set"
done
{
    sed -n 's/^[A-Z]*(\([a-z0-9_]*\), \([a-z0-9_]*\),.*/"\1" "\2" "[\1]\\x0a" "\1.\2="/p' src/core/param.def | tr ' ' '\n'
    printf '"%s"\n' 0 1 64 4K 1M yes no lru in_order_serial tage stride 'base = modern' ' = '
} | sort -u >build/fuzz-config/words
build/fuzz_config -max_total_time="$1" -max_len=8192 -timeout=10 -print_final_stats=1 -dict=build/fuzz-config/words \
    -artifact_prefix=build/fuzz-config/ build/fuzz-config/corpus build/fuzz-config/seeds
