# Cyclescope's build. `make` leaves the program at build/cyclescope; `make demo` and `make check` start from nothing.
#
#   make deps            install the Debian packages that are missing (sudo when not root)
#   make demo            build, cross-compile a sample workload and run the main job on it
#   make check           build and run the tests, in minutes; tests/run.py GROUP runs one group again
#   make check-all       all tests, in their long form (half an hour)
#   make coverage        line coverage of src by the tests
#   make bench           speed of the emulator, side by side with qemu-riscv64, and of the simulated core
#   make reproduce       CPI stacks, profiles, multiplexed counters and phases of the suite, with errors, to docs/RESULTS.md (three hours)
#   make fuzz            long fuzz runs (FUZZ_SECONDS, FUZZ_SEQUENCES)
#   make suite           assemble the suite of real programs
#   make install         to PREFIX, below DESTDIR
#   make deb             Debian packages, to build/deb
#   make format          clang-format over all C
#
# V=1 shows the commands.

BUILD   ?= build
PREFIX  ?= /usr/local
LIBDIR  ?= $(PREFIX)/lib
OPT     ?= -O2 -g
CROSS   ?= riscv64-linux-gnu-
OBJCOPY ?= objcopy
Q       := $(if $(V),,@)
comma   := ,

WARN     := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes $(if $(WERROR),-Werror)
CPPFLAGS += -D_GNU_SOURCE -Isrc -Iinclude
cores    := $(sort $(patsubst cores/%.ini,%,$(wildcard cores/*.ini)))
CPPFLAGS += -DCORE_FILES='$(foreach c,$(cores),CORE("$c"))'
CPPFLAGS += -DSAMPLER_FILE='"$(BUILD)/firmware/sampler.elf"'
CFLAGS   += -std=gnu11 $(OPT) $(WARN)
LDLIBS   += -ljansson -linih -ldw -lelf -liberty -lzstd -lz -lkissfft-float -lm

# The guest's floating point runs on the host's: the compiler must neither move it across mode changes nor do it twice.
is_clang := $(findstring clang,$(shell $(CC) --version 2>/dev/null))
STRICT_FP := $(if $(is_clang),-ffp-model=strict,-frounding-math -ftrapping-math -fsignaling-nans -ffp-contract=off)
# Ops end in calls that must become jumps (src/emulate/interpreter/interp_priv.h), whatever OPT says: -Og would not make them.
THREADED := -O2 $(if $(is_clang),,-fno-partial-inlining) -foptimize-sibling-calls -fomit-frame-pointer -fcf-protection=none -fno-stack-protector

sources := $(sort $(shell find src -name '*.c'))
objects := $(sources:src/%.c=$(BUILD)/obj/%.o)
modules := $(filter-out $(BUILD)/obj/cmd/%,$(objects))

all: $(BUILD)/cyclescope libraries $(BUILD)/completion/cyclescope

$(BUILD)/cyclescope: $(filter-out $(BUILD)/obj/lib/%,$(objects))
	$(if $(V),,@echo '  CC    $@')
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LDLIBS)

# Bash completion, from the help of the program.
$(BUILD)/completion/cyclescope: $(BUILD)/cyclescope tools/completion.sh
	@mkdir -p $(@D)
	$(if $(V),,@echo '  GEN   $@')
	$(Q)tools/completion.sh $< > $@

# All modules below the commands, for tests.
$(BUILD)/modules.a: $(modules)
	$(Q)rm -f $@
	$(if $(V),,@echo '  AR    $@')
	$(Q)$(AR) rcs $@ $^

$(BUILD)/obj/emulate/%.o $(BUILD)/pic/emulate/%.o: CFLAGS += $(STRICT_FP) $(THREADED)
$(BUILD)/obj/riscv/%.o $(BUILD)/pic/riscv/%.o: CFLAGS += $(STRICT_FP)
# The simulator's inner loops: worth 5 % (make bench).
inner_loops := $(foreach m,core sim memsys branch stacks graph,$(BUILD)/obj/$m/%.o $(BUILD)/pic/$m/%.o)
$(inner_loops): CFLAGS += $(if $(filter -O2,$(OPT)),-O3)
$(BUILD)/obj/core/exec.o $(BUILD)/pic/core/exec.o: CFLAGS += $(STRICT_FP)
# The core files are part of the program.
$(BUILD)/obj/core/cores.o $(BUILD)/pic/core/cores.o: cores $(wildcard cores/*.ini)
# So is the firmware of the sampler, which runs in the simulated core's machine mode.
$(BUILD)/obj/sampler/core_sampler.o $(BUILD)/pic/sampler/core_sampler.o: $(BUILD)/firmware/sampler.elf
$(BUILD)/obj/%.o: src/%.c Makefile
	@mkdir -p $(@D)
	$(if $(V),,@echo '  CC    $@')
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<
$(BUILD)/pic/%.o: src/%.c Makefile
	@mkdir -p $(@D)
	$(if $(V),,@echo '  CC    $@')
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -fPIC -fvisibility=hidden -MMD -MP -c -o $@ $<

$(BUILD)/firmware/sampler.elf: $(wildcard firmware/*) $(wildcard src/sampler/sampler_*.h) Makefile
	@mkdir -p $(@D)
	$(if $(V),,@echo '  CROSS $@')
	$(Q)$(CROSS)gcc -std=gnu11 -O2 $(WARN) -Isrc -I. -march=rv64imac_zicsr -mabi=lp64 -mcmodel=medany -ffreestanding \
	    -fno-pie -no-pie -static -nostdlib -mno-relax -Wl,--no-relax,-Ttext-segment=0x4000000000,--build-id=none,--no-warn-rwx-segments -o $@ $(filter %.S %.c,$^)

# ---- libcyclescope: src/lib and what it needs of the other modules. It exports only the names of the public header.

version  := $(shell sed -n 's/.*VERSION "\(.*\)"/\1/p' src/base/version.h)
soname   := libcyclescope.so.0
public_names := $(shell sed -n 's/^CYCLESCOPE_API .*[ *]\(cyclescope_[a-z_]*\)\x28.*/\1/p' include/cyclescope/cyclescope.h)
needless := $(addprefix $(BUILD)/obj/,report/% profile/% trace/% symbols/% stacks/% graph/%)
pic      := $(patsubst $(BUILD)/obj/%,$(BUILD)/pic/%,$(filter-out $(needless),$(modules)))
LIBRARY_LIBS := -linih -lm
# Sanitized libraries get the sanitizer's functions from the program that loads them.
no_undefined := $(if $(findstring -fsanitize,$(OPT)),,$(comma)--no-undefined)

libraries: $(BUILD)/libcyclescope.a $(BUILD)/libcyclescope.so

# One object, so that its inner names can be made local.
$(BUILD)/libcyclescope.a: $(BUILD)/modules.a
	$(Q)rm -f $@
	$(if $(V),,@echo '  AR    $@')
	$(Q)$(LD) -r -o $(BUILD)/libcyclescope.o $(filter $(BUILD)/obj/lib/%,$(modules)) $<
	$(Q)$(OBJCOPY) $(public_names:%=--keep-global-symbol=%) $(BUILD)/libcyclescope.o
	$(Q)$(AR) rcs $@ $(BUILD)/libcyclescope.o
	$(Q)rm -f $(BUILD)/libcyclescope.o

$(BUILD)/pic.a: $(pic)
	$(Q)rm -f $@
	$(Q)$(AR) rcs $@ $^

$(BUILD)/libcyclescope.so.$(version): $(BUILD)/pic.a src/lib/cyclescope.map
	$(if $(V),,@echo '  CC    $@')
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -shared -Wl,-soname,$(soname),--version-script=src/lib/cyclescope.map$(no_undefined) -o $@ \
	    $(filter $(BUILD)/pic/lib/%,$(pic)) $< $(LIBRARY_LIBS)

$(BUILD)/libcyclescope.so: $(BUILD)/libcyclescope.so.$(version)
	$(Q)ln -sf $(<F) $(BUILD)/$(soname) && ln -sf $(soname) $@

# ---- tests

unit_tests := $(patsubst tests/unit/%.c,$(BUILD)/tests/%,$(wildcard tests/unit/test_*.c))
guest_tests := $(patsubst tests/guest/%.c,build/guest/%,$(wildcard tests/guest/*.c))
fuzz_objects := $(patsubst tests/fuzz/%.c,$(BUILD)/fuzz/%.o,$(filter-out tests/fuzz/fuzz_%.c tests/fuzz/memory_guest.c,$(wildcard tests/fuzz/*.c)))

tests: $(unit_tests) $(BUILD)/fuzz/generate $(BUILD)/roundtrip $(BUILD)/stacks/compare $(BUILD)/graph/compare
guest-tests: $(guest_tests) $(patsubst workloads/%.c,build/workloads/%,$(wildcard workloads/*.c))

$(BUILD)/tests/%: tests/unit/%.c $(BUILD)/modules.a
	@mkdir -p $(@D)
	$(if $(V),,@echo '  CC    $@')
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -o $@ $< $(BUILD)/modules.a -lcmocka $(LDLIBS)

$(BUILD)/fuzz/%.o: tests/fuzz/%.c Makefile
	@mkdir -p $(@D)
	$(if $(V),,@echo '  CC    $@')
	$(Q)$(CC) $(CPPFLAGS) -Itests $(CFLAGS) -MMD -MP -c -o $@ $<

$(BUILD)/fuzz/generate: $(fuzz_objects) $(BUILD)/modules.a
	$(if $(V),,@echo '  CC    $@')
	$(Q)$(CC) $(CFLAGS) -o $@ $^ $(LDLIBS)

# The methods of src/stacks beside the literal tables.
compare_cmd := $(addprefix $(BUILD)/obj/cmd/,core_options.o guest_options.o guest_run.o parallel.o status_line.o terminal.o)

$(BUILD)/stacks/%.o: tests/stacks/%.c Makefile
	@mkdir -p $(@D)
	$(if $(V),,@echo '  CC    $@')
	$(Q)$(CC) $(CPPFLAGS) -Itests $(CFLAGS) -MMD -MP -c -o $@ $<

$(BUILD)/stacks/compare: $(BUILD)/stacks/compare.o $(BUILD)/stacks/literal.o $(compare_cmd) $(BUILD)/modules.a
	$(if $(V),,@echo '  CC    $@')
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LDLIBS)

# The dependence graph beside its literal evaluation and simulations.
$(BUILD)/graph/%.o: tests/graph/%.c Makefile
	@mkdir -p $(@D)
	$(if $(V),,@echo '  CC    $@')
	$(Q)$(CC) $(CPPFLAGS) -Itests $(CFLAGS) -MMD -MP -c -o $@ $<

$(BUILD)/graph/compare: $(BUILD)/graph/compare.o $(BUILD)/graph/literal.o $(BUILD)/graph/literal_fetch.o $(BUILD)/graph/times.o $(compare_cmd) $(BUILD)/modules.a
	$(if $(V),,@echo '  CC    $@')
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LDLIBS)

$(BUILD)/roundtrip: tests/roundtrip/roundtrip.c $(BUILD)/modules.a
	$(if $(V),,@echo '  CC    $@')
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -o $@ $< $(BUILD)/modules.a $(LDLIBS)

build/guest/%: tests/guest/%.c tests/guest/check.h
	@mkdir -p $(@D)
	$(if $(V),,@echo '  CROSS $@')
	$(Q)$(CROSS)gcc -std=gnu11 -O2 -Wall -Wextra -D_GNU_SOURCE -static -pthread -o $@ $< -lm

build/workloads/%: workloads/%.c
	@mkdir -p $(@D)
	$(if $(V),,@echo '  CROSS $@')
	$(Q)$(CROSS)gcc -std=gnu11 -O2 -g -Wall -Wextra -static -o $@ $< -lm

SANITIZE := -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all -DCYCLESCOPE_SANITIZE
# What clang may compile otherwise than gcc in a way that matters: ops that must end in jumps (tests/threaded).
threaded_objects := $(filter $(BUILD)/obj/emulate/interpreter/%,$(objects)) $(filter $(BUILD)/pic/emulate/interpreter/%,$(pic))

threaded: $(threaded_objects)

# What tests need: the program as it is, and with sanitizers.
test-builds: deps
	@$(MAKE) --no-print-directory -j2 all tests guest-tests WERROR=1
	@$(MAKE) --no-print-directory -j2 all tests WERROR=1 BUILD=build/sanitize CC=clang OPT='$(SANITIZE)'
	@$(MAKE) --no-print-directory -j2 threaded WERROR=1 BUILD=build/clang CC=clang

check: test-builds
	@tests/run.py

check-all: test-builds
	@tests/run.py --all

coverage: deps
	@tools/deps.sh llvm-14
	@tests/coverage.sh

demo: demo-deps
	@$(MAKE) --no-print-directory -j2 all build/workloads/mix
	@echo; echo '$$ build/cyclescope run --summary build/workloads/mix'
	@build/cyclescope run --summary build/workloads/mix
	@echo; echo '$$ build/cyclescope stack --skip 20M --max-insns 5M build/workloads/mix'
	@build/cyclescope stack --skip 20M --max-insns 5M build/workloads/mix

bench: deps
	@$(MAKE) --no-print-directory -j2 all
	@bench/emulate.py
	@bench/phases.py
	@bench/core.py
	@bench/record.py

reproduce: deps
	@$(MAKE) --no-print-directory -j2 all
	@suite/reproduce.py

FUZZ_SECONDS ?= 600
FUZZ_SEQUENCES ?= 200000
FUZZ_SEED ?= 1

$(BUILD)/fuzz_elf $(BUILD)/fuzz_config $(BUILD)/fuzz_profile $(BUILD)/fuzz_slice_log $(BUILD)/fuzz_checkpoint: $(BUILD)/fuzz_%: tests/fuzz/fuzz_%.c $(filter-out src/cmd/%,$(sources)) \
    | $(BUILD)/firmware/sampler.elf
	@mkdir -p $(@D)
	$(if $(V),,@echo '  CLANG $@')
	$(Q)clang $(CPPFLAGS) -std=gnu11 -O1 -g -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all \
	    -DCYCLESCOPE_SANITIZE $(WARN) -o $@ $^ $(LDLIBS)

fuzz: deps
	@$(MAKE) --no-print-directory -j2 all tests $(BUILD)/fuzz_elf $(BUILD)/fuzz_config $(BUILD)/fuzz_profile \
	    $(BUILD)/fuzz_slice_log $(BUILD)/fuzz_checkpoint
	tests/fuzz/differential.py --sequences $(FUZZ_SEQUENCES) --seed $(FUZZ_SEED)
	tests/fuzz/elf.sh $(FUZZ_SECONDS)
	tests/fuzz/config.sh $(FUZZ_SECONDS)
	tests/fuzz/profile.sh $(FUZZ_SECONDS)
	tests/fuzz/slice_log.sh $(FUZZ_SECONDS)
	tests/fuzz/checkpoint.sh $(FUZZ_SECONDS)
	@$(MAKE) --no-print-directory test-builds
	tests/fuzz/syscalls.py --seconds $(FUZZ_SECONDS) --seed $(FUZZ_SEED)
	tests/fuzz/memory.py --seed $(FUZZ_SEED) --seconds $(FUZZ_SECONDS)
	tests/fuzz/memory.py --seed $(FUZZ_SEED) --seconds $(FUZZ_SECONDS) --command stat

suite: deps
	@suite/run.py prepare

# ---- installation

install: all
	install -D -m 755 $(BUILD)/cyclescope $(DESTDIR)$(PREFIX)/bin/cyclescope
	install -D -m 644 -t $(DESTDIR)$(PREFIX)/share/bash-completion/completions $(BUILD)/completion/cyclescope
	install -D -m 644 -t $(DESTDIR)$(PREFIX)/share/man/man1 docs/cyclescope.1 docs/cyclescope-*.1
	install -D -m 644 -t $(DESTDIR)$(PREFIX)/share/man/man3 docs/libcyclescope.3
	install -D -m 644 -t $(DESTDIR)$(PREFIX)/include/cyclescope include/cyclescope/*.h
	install -D -m 644 -t $(DESTDIR)$(LIBDIR) $(BUILD)/libcyclescope.a
	install -D -m 755 -t $(DESTDIR)$(LIBDIR) $(BUILD)/libcyclescope.so.$(version)
	ln -sf libcyclescope.so.$(version) $(DESTDIR)$(LIBDIR)/$(soname)
	ln -sf $(soname) $(DESTDIR)$(LIBDIR)/libcyclescope.so
	mkdir -p $(DESTDIR)$(LIBDIR)/pkgconfig
	sed -e 's|@PREFIX@|$(PREFIX)|; s|@LIBDIR@|$(LIBDIR)|; s|@VERSION@|$(version)|; s|@LIBS@|$(LIBRARY_LIBS)|' \
	    src/lib/cyclescope.pc.in > $(DESTDIR)$(LIBDIR)/pkgconfig/cyclescope.pc
	install -D -m 644 -t $(DESTDIR)$(PREFIX)/share/doc/cyclescope README.md
	install -D -m 644 -t $(DESTDIR)$(PREFIX)/share/doc/cyclescope/examples $(wildcard examples/*)
	for f in $$(find docs -type f ! -name '*.[13]'); do install -D -m 644 $$f $(DESTDIR)$(PREFIX)/share/doc/cyclescope/$$f; done

deb:
	@tools/deps.sh $(demo_packages) debhelper dpkg-dev fakeroot
	@tools/deb.sh build/deb

demo_packages := gcc libc6-dev libjansson-dev libinih-dev libdw-dev libelf-dev libiberty-dev libzstd-dev zlib1g-dev libkissfft-dev \
    gcc-riscv64-linux-gnu libc6-dev-riscv64-cross
packages := $(demo_packages) g++ pkg-config valgrind clang libclang-rt-14-dev libcmocka-dev qemu-user qemu-user-static python3 python3-pytest \
    python3-pyflakes cppcheck clang-format debian-archive-keyring

deps:
	@tools/deps.sh $(packages)
demo-deps:
	@tools/deps.sh $(demo_packages)

format:
	clang-format -i $$(git ls-files '*.c' '*.h')

clean:
	rm -rf build

.PHONY: all libraries tests guest-tests threaded test-builds check check-all coverage demo bench reproduce fuzz suite install deb deps demo-deps format clean
.DELETE_ON_ERROR:
.SECONDARY:

-include $(objects:.o=.d) $(pic:.o=.d) $(wildcard $(BUILD)/tests/*.d $(BUILD)/fuzz/*.d $(BUILD)/stacks/*.d $(BUILD)/graph/*.d $(BUILD)/*.d)
