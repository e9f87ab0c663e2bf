#!/bin/bash
# elf.sh SECONDS: fuzzes the ELF loader under sanitizers, from small real programs as seeds. Fails if anything is found;
# the input that did it is kept in build/fuzz-elf.
set -eu
cd "$(dirname "$0")/../.."
cross=${CROSS:-riscv64-linux-gnu-}
mkdir -p build/fuzz-elf/seeds build/fuzz-elf/corpus
program='void _start(void) { __asm__ volatile("li a7, 93; ecall"); } int data[64] = {1}; int bss[2000];'
for form in "-static" "-static-pie -fPIE" "-fPIE -pie" "-static -Wl,-z,separate-code" "-static -Wl,-N"; do
    # shellcheck disable=SC2086
    "${cross}gcc" -O1 -s -nostdlib $form -x c -o "build/fuzz-elf/seeds/$(echo "$form" | tr -cd a-zA-Z)" - <<<"$program"
done
printf '#!/bin/sh -e\n' >build/fuzz-elf/seeds/script
build/fuzz_elf -max_total_time="$1" -max_len=65536 -timeout=10 -rss_limit_mb=4096 -print_final_stats=1 \
    -artifact_prefix=build/fuzz-elf/ build/fuzz-elf/corpus build/fuzz-elf/seeds
