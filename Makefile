# tirc: build, test and install. Everything that is built goes below BUILD, so builds of several kinds can live side by side:
#   make                        the compiler build/tirc and the runtime build/libtirc_rt.a
#   make deps                   installs what the build needs (Debian packages)
#   make demo                   the 1024x1024 matrix multiplication, checked and timed
#   make check                  all tests; ends with "N passed, N failed"
#   make SAN=1 BUILD=build-san check
BUILD ?= build
PREFIX ?= /usr/local
CC := gcc
FLEX ?= flex
BISON ?= bison
SAN ?=

PACKAGES := gcc libc6-dev make flex bison llvm-19-dev libisl-dev libcmocka-dev libzstd-dev zlib1g-dev libstdc++-12-dev

OPTIMIZE := -O2
comma := ,
SANITIZE := $(if $(filter-out 0,$(SAN)),-fsanitize=address$(comma)undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
CFLAGS ?= $(OPTIMIZE) -g
WARNINGS := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes
ALL_CFLAGS = -std=c11 -D_GNU_SOURCE $(CFLAGS) $(WARNINGS) $(SANITIZE) -I. -I$(BUILD) -MMD -MP

SRC_DIRS := support lexer parser ir passes/arith passes/analysis passes/schedule passes/lower codegen script driver
SOURCES := $(foreach dir,$(SRC_DIRS),$(sort $(wildcard $(dir)/*.c)))
GENERATED := $(BUILD)/parser/tir.tab.c $(BUILD)/lexer/lexer.c
MAIN_OBJECT := $(BUILD)/driver/main.o
LIB_OBJECTS := $(filter-out $(MAIN_OBJECT),$(SOURCES:%.c=$(BUILD)/%.o)) $(GENERATED:.c=.o)

.PHONY: all deps demo check bench fuzz install layers wc clean
.DELETE_ON_ERROR:
.SECONDARY:
all: $(BUILD)/tirc $(BUILD)/libtirc_rt.a

include codegen/codegen.mk
include runtime/runtime.mk

LDLIBS := -lisl $(LLVM_LIBS) -lm -ldl -lpthread

$(BUILD)/tirc: $(MAIN_OBJECT) $(BUILD)/libtirc.a $(BUILD)/libtirc_rt.a
	$(CC) $(CFLAGS) $(SANITIZE) -fopenmp $(LLVM_LDFLAGS) -o $@ $(MAIN_OBJECT) $(BUILD)/libtirc.a -Wl,--whole-archive $(BUILD)/libtirc_rt.a -Wl,--no-whole-archive $(LDLIBS)

$(BUILD)/libtirc.a: $(LIB_OBJECTS)
	rm -f $@
	@ar crs $@ $^

$(SOURCES:%.c=$(BUILD)/%.o): $(BUILD)/%.o: %.c | check-tools
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) $(if $(filter codegen/% driver/%,$<),$(LLVM_CFLAGS)) -c -o $@ $<

$(BUILD)/parser/tir.tab.c: parser/tir.y | check-tools
	@mkdir -p $(@D)
	$(BISON) -Wall -Wno-yacc -Werror --defines=$(BUILD)/parser/tir.tab.h -o $@ $<
$(BUILD)/parser/tir.tab.h: $(BUILD)/parser/tir.tab.c

$(BUILD)/lexer/lexer.c: lexer/lexer.l | check-tools
	@mkdir -p $(@D)
	$(FLEX) --header-file=$(BUILD)/lexer/lexer.h -o $@ $<
$(BUILD)/lexer/lexer.h: $(BUILD)/lexer/lexer.c

# Generated code is compiled without the warnings that its generators do not keep.
$(GENERATED:.c=.o): $(BUILD)/%.o: $(BUILD)/%.c $(BUILD)/parser/tir.tab.h $(BUILD)/lexer/lexer.h
	$(CC) -std=c11 -D_GNU_SOURCE $(CFLAGS) -Wall -Wno-unused-function $(SANITIZE) -I. -I$(BUILD) -MMD -MP -c -o $@ $<

$(filter $(BUILD)/parser/%.o $(BUILD)/lexer/%.o,$(LIB_OBJECTS)): | $(BUILD)/parser/tir.tab.h $(BUILD)/lexer/lexer.h

# --- tools the build needs, named before anything fails for the want of them
.PHONY: check-tools
check-tools:
	@missing=; \
	command -v $(CC) >/dev/null || missing="$$missing gcc"; \
	command -v $(FLEX) >/dev/null || missing="$$missing flex"; \
	command -v $(BISON) >/dev/null || missing="$$missing bison"; \
	command -v $(LLVM_CONFIG) >/dev/null || missing="$$missing llvm-19-dev"; \
	[ -e /usr/include/isl/ctx.h ] || missing="$$missing libisl-dev"; \
	for library in libstdc++.a:libstdc++-12-dev libzstd.a:libzstd-dev libz.a:zlib1g-dev; do \
	  case $$($(CC) -print-file-name=$${library%:*} 2>/dev/null) in */*) ;; *) missing="$$missing $${library#*:}" ;; esac; done; \
	if [ -n "$$missing" ]; then echo "missing packages:$$missing (install them with: make deps)" >&2; exit 1; fi

deps:
	@missing=; for p in $(PACKAGES); do dpkg-query -W -f='$${Status}' $$p 2>/dev/null | grep -q 'ok installed' || missing="$$missing $$p"; done; \
	if [ -n "$$missing" ]; then sudo=; [ "$$(id -u)" = 0 ] || sudo=sudo; \
	  $$sudo apt-get update && DEBIAN_FRONTEND=noninteractive $$sudo apt-get install -y --no-install-recommends $$missing; fi

# --- tests
include tests/tests.mk

demo: all
	$(MAKE) -C examples/matmul BUILD=$(abspath $(BUILD))/examples TIRC=$(abspath $(BUILD))/tirc RUNTIME=$(abspath $(BUILD))/libtirc_rt.a INCLUDE=$(abspath runtime) run

bench: all
	bench/run $(BUILD)

# What a client of libtirc.a links with beside it, for tirc.pc.
CLIENT_LIBS = -ltirc -ltirc_rt $(strip $(LDLIBS)) -fopenmp

install: all
	install -d $(addprefix $(DESTDIR)$(PREFIX)/,bin lib/pkgconfig include share/man/man1 share/bash-completion/completions)
	install $(BUILD)/tirc $(DESTDIR)$(PREFIX)/bin/
	install -m 644 $(BUILD)/libtirc.a $(BUILD)/libtirc_rt.a $(DESTDIR)$(PREFIX)/lib/
	install -m 644 driver/tirc.h runtime/tirc_rt.h $(DESTDIR)$(PREFIX)/include/
	install -m 644 docs/tirc.1 $(DESTDIR)$(PREFIX)/share/man/man1/
	install -m 644 docs/tirc.bash $(DESTDIR)$(PREFIX)/share/bash-completion/completions/tirc
	printf 'prefix=%s\n\nName: tirc\nDescription: compiler for tensor programs with schedules\nVersion: %s\nCflags: -I$${prefix}/include\nLibs: -L$${prefix}/lib %s\n' \
	  '$(PREFIX)' "$$(sed -n 's/^.define TIRC_VERSION "\(.*\)"/\1/p' driver/tirc.h)" '$(CLIENT_LIBS)' >$(DESTDIR)$(PREFIX)/lib/pkgconfig/tirc.pc

# --- house rules
layers:
	tests/layers

wc:
	@git ls-files '*.c' '*.h' '*.l' '*.y' '*.def' | xargs wc -l | sort -n | tail -30

clean:
	rm -rf $(BUILD)

-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
