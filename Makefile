# tirc: build, test and install. Everything that is built goes below BUILD, so builds of several kinds can live side by side:
#   make                        the compiler build/tirc, the runtime build/libtirc_rt.a and the library of the compiler
#   make deps                   installs what the build and the tests need (./install-deps does so where there is no make yet)
#   make demo                   the 1024x1024 matrix multiplication, checked and timed
#   make check                  all tests; ends with "N passed, N failed"
#   make SAN=1 BUILD=build-san check
# All cores are used; -jN takes N of them. V=1 prints whole commands. Flags (CC, CFLAGS, SAN, ...) that differ from those of the last build make
# what they are about anew.
BUILD ?= build
FLEX ?= flex
BISON ?= bison
SAN ?=
V ?=

ifneq ($(words $(BUILD)),1)
$(error BUILD must be one word without spaces, not '$(BUILD)')
endif
ifeq ($(MAKELEVEL)$(filter -j% --jobserver%,$(MAKEFLAGS)),0)
MAKEFLAGS += -j$(shell nproc 2>/dev/null || echo 1)
endif
MAKEFLAGS += --no-print-directory

.PHONY: all deps demo check check-tvm bench bench-compile fuzz layers wc clean FORCE
.DELETE_ON_ERROR:
.SECONDARY:

# What deps installs is not there yet while this Makefile is read, so goals beside it are for a make of their own.
OTHER_GOALS := $(if $(filter deps,$(MAKECMDGOALS)),$(filter-out deps,$(MAKECMDGOALS)))
ifneq ($(OTHER_GOALS),)
.PHONY: $(OTHER_GOALS) after-deps
$(OTHER_GOALS): after-deps
	@:
after-deps: deps
	+@$(MAKE) $(OTHER_GOALS)
deps:
	./install-deps
else

all: $(BUILD)/tirc $(BUILD)/libtirc_rt.a $(BUILD)/libtirc.a $(BUILD)/libtirc.so.0
deps:
	./install-deps

# --- flags
include support/flags.mk
include codegen/codegen.mk

OPTIMIZE ?= -O2
# CFLAGS are those of the whole build where they are given; else the runtime has its own.
ifeq ($(origin CFLAGS),undefined)
RUNTIME_OPTIMIZE ?= -O3 -g
else
RUNTIME_OPTIMIZE ?= $(CFLAGS)
endif
CFLAGS ?= $(OPTIMIZE) -g
comma := ,
SANITIZE := $(if $(filter-out 0,$(SAN)),-fsanitize=address$(comma)undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
WARNINGS := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes
# No object names a folder of the machine that made it, and every part of the compiler may become part of a shared library that exports what
# driver/tirc.h declares.
PART_CFLAGS := -fPIC -fvisibility=hidden -ffunction-sections -fdata-sections
PLACE_FLAGS := '-ffile-prefix-map=$(CURDIR)=.' $(if $(filter /%,$(BUILD)),-ffile-prefix-map=$(BUILD)=build)
# The interpreter rounds each operation: the compiler makes no fused ones.
COMMON_CFLAGS = -std=c11 -D_GNU_SOURCE -ffp-contract=off $(CPPFLAGS) $(CFLAGS) $(SANITIZE) $(PLACE_FLAGS) -I. -I$(BUILD) -MMD -MP
ALL_CFLAGS = $(WARNINGS) $(COMMON_CFLAGS)
ALL_LDFLAGS = $(PROGRAM_LDFLAGS) $(LLVM_LDFLAGS) $(LDFLAGS)
LDLIBS := -lisl $(LLVM_LIBS) -lm -ldl -lpthread

# --- the compiler
SRC_DIRS := support lexer parser ir print verify interp $(patsubst %/,%,$(sort $(wildcard passes/*/ passes/*/*/))) codegen codegen/llvm script driver
SOURCES := $(foreach dir,$(SRC_DIRS),$(sort $(wildcard $(dir)/*.c)))
GENERATED := $(BUILD)/parser/tir.tab.c $(BUILD)/lexer/lexer.c
MAIN_OBJECT := $(BUILD)/driver/main.o
TOPI := $(sort $(wildcard topi/*.te))
LIB_OBJECTS := $(filter-out $(MAIN_OBJECT),$(SOURCES:%.c=$(BUILD)/%.o)) $(GENERATED:.c=.o) $(BUILD)/script/topi_texts.o

include runtime/runtime.mk

# What the command and the tests link with: all of the compiler, and all of the runtime for the code that runs in the process.
PARTS := $(BUILD)/parts.a
LINK_PARTS = $(PARTS) -Wl,--whole-archive $(BUILD)/libtirc_rt.a -Wl,--no-whole-archive

$(BUILD)/tirc: $(MAIN_OBJECT) $(PARTS) $(BUILD)/libtirc_rt.a $(BUILD)/link-flags
	$(call say,LD $@)$(CC) $(CFLAGS) $(SANITIZE) -fopenmp $(ALL_LDFLAGS) -o $@ $(MAIN_OBJECT) $(LINK_PARTS) $(LDLIBS)

$(PARTS): $(LIB_OBJECTS)
	$(call say,AR $@)rm -f $@; $(AR) crsD $@ $^

$(SOURCES:%.c=$(BUILD)/%.o): $(BUILD)/%.o: %.c $(BUILD)/compile-flags | $(BUILD)/tools
	@mkdir -p $(@D)
	$(call say,CC $<)$(CC) $(ALL_CFLAGS) $(PART_CFLAGS) $(if $(filter codegen/% driver/%,$<),$(LLVM_CFLAGS)) $(OWN_CFLAGS) -c -o $@ $<

# The loop that --time measures the peak with must run in registers whatever the rest is compiled with.
$(BUILD)/driver/time.o: OWN_CFLAGS = -O2

$(BUILD)/parser/tir.tab.c: parser/tir.y $(BUILD)/compile-flags | $(BUILD)/tools
	@mkdir -p $(@D)
	$(call say,BISON $<)$(BISON) -Wall -Wno-yacc -Werror --defines=$(BUILD)/parser/tir.tab.h -o $@ $<
$(BUILD)/parser/tir.tab.h: $(BUILD)/parser/tir.tab.c

$(BUILD)/lexer/lexer.c: lexer/lexer.l $(BUILD)/compile-flags | $(BUILD)/tools
	@mkdir -p $(@D)
	$(call say,FLEX $<)$(FLEX) --header-file=$(BUILD)/lexer/lexer.h -o $@ $<
$(BUILD)/lexer/lexer.h: $(BUILD)/lexer/lexer.c

# The texts of the packages of operators are part of the compiler: topi/nn-conv.te is of topi.nn, topi/topi-math.te of topi.
$(BUILD)/script/topi_texts.c: $(TOPI) script/topi-texts
	@mkdir -p $(@D)
	$(call say,GEN $@)script/topi-texts $(TOPI) >$@
$(BUILD)/script/topi_texts.o: $(BUILD)/script/topi_texts.c $(BUILD)/compile-flags | $(BUILD)/tools
	$(call say,CC $<)$(CC) $(ALL_CFLAGS) $(PART_CFLAGS) -c -o $@ $<

# Generated code is compiled without the warnings that its generators do not keep.
$(GENERATED:.c=.o): $(BUILD)/%.o: $(BUILD)/%.c $(BUILD)/parser/tir.tab.h $(BUILD)/lexer/lexer.h
	$(call say,CC $<)$(CC) -Wall -Wno-unused-function -Wno-unused-but-set-variable $(COMMON_CFLAGS) $(PART_CFLAGS) -c -o $@ $<

$(filter $(BUILD)/parser/%.o $(BUILD)/lexer/%.o,$(LIB_OBJECTS)): | $(BUILD)/parser/tir.tab.h $(BUILD)/lexer/lexer.h

# The tools that the build needs are looked for once for each set of flags, so that a missing one is named before anything fails for the want of it.
$(BUILD)/tools: $(BUILD)/compile-flags $(BUILD)/link-flags install-deps
	@CC='$(CC)' FLEX='$(FLEX)' BISON='$(BISON)' LLVM_CONFIG='$(LLVM_CONFIG)' LLVM_SHARED='$(LLVM_SHARED)' SANITIZE='$(SANITIZE)' ./install-deps --check
	@touch $@

include driver/install.mk

# --- tests
include tests/tests.mk

# The example has its own Makefile, as the projects of users have; names of files are given as they are seen from its folder.
from_example = $(if $(filter /%,$(1)),$(1),../../$(1))
demo: all
	@$(MAKE) -s -C examples/matmul CC='$(CC) $(SANITIZE)' BUILD=$(call from_example,$(BUILD)/examples) TIRC=$(call from_example,$(BUILD)/tirc) \
	  RUNTIME=$(call from_example,$(BUILD)/libtirc_rt.a) INCLUDE=../../runtime run

# The examples beside the libraries that are installed: BENCH="--rounds=51 --only=product". Times of the compiler: make bench-compile
PYTHON ?= python3
bench: all
	CC='$(CC)' PYTHON='$(PYTHON)' bench/run $(BUILD) $(BENCH)
bench-compile: all
	CC='$(CC)' bench/compile-time $(BUILD)

# --- house rules
layers:
	tests/layers

wc:
	@git ls-files '*.c' '*.h' '*.l' '*.y' '*.def' | xargs wc -l | sort -n | tail -30

clean:
	rm -rf $(BUILD)

-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
endif
