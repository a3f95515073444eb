# How to compile and link against LLVM: static by default (the process starts in 2 ms instead of 12), LLVM_SHARED=1 for the shared library.
LLVM_CONFIG ?= llvm-config-19
LLVM_SHARED ?=
# The back ends of LLVM that tirc has. --check and --time need that of the machine they run on.
TARGETS ?= x86 aarch64 riscv
ifneq ($(filter-out x86 aarch64 riscv,$(TARGETS))$(if $(TARGETS),,none),)
$(error TARGETS names some of x86, aarch64 and riscv, not '$(TARGETS)')
endif
LLVM_COMPONENTS := $(foreach target,$(TARGETS),$(target)codegen $(target)asmparser) passes irreader bitwriter linker orcjit

LLVM_CFLAGS := $(shell $(LLVM_CONFIG) --cppflags 2>/dev/null)
ifneq ($(filter-out 0,$(LLVM_SHARED)),)
LLVM_LIBS := $(shell $(LLVM_CONFIG) --link-shared --ldflags --libs 2>/dev/null) -lz
LLVM_LDFLAGS := -Wl,--gc-sections
PROGRAM_LDFLAGS :=
else
# libz and libzstd are what LLVM's support library refers to. -no-pie: without relocations of the 60 MB of LLVM the process starts faster.
LLVM_LIBS := $(shell $(LLVM_CONFIG) --link-static --ldflags --libs $(LLVM_COMPONENTS) 2>/dev/null) -l:libz.a -l:libzstd.a -l:libstdc++.a -lrt
LLVM_LDFLAGS := -static-libgcc -Wl,--gc-sections
PROGRAM_LDFLAGS := -no-pie
endif
# Shared objects that --load opens may call the runtime, and compiled code finds it in the process.
PROGRAM_LDFLAGS += -Wl,--export-dynamic-symbol=tmm16 -Wl,--export-dynamic-symbol='tirc_*'

$(BUILD)/codegen/llvm/llvm_target.o: OWN_CFLAGS = $(TARGETS:%=-DTIRC_TARGET_%)
$(BUILD)/codegen/llvm/llvm_target.o: $(BUILD)/link-flags
