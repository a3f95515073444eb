# Tests: unit tests (tests/unit/test_*.c, cmocka), runtime tests (tests/runtime), and cases (tests/cases, tests/run).
UNIT_TESTS := $(patsubst tests/unit/%.c,$(BUILD)/tests/unit/%,$(sort $(wildcard tests/unit/test_*.c)))
TEST_TOOLS := $(patsubst tests/%.c,$(BUILD)/tests/%,$(sort $(wildcard tests/*.c)))

$(BUILD)/tests/%: tests/%.c $(PARTS) $(BUILD)/libtirc_rt.a $(BUILD)/link-flags
	@mkdir -p $(@D)
	$(call say,CC $<)$(CC) $(ALL_CFLAGS) $(LLVM_CFLAGS) -fopenmp $(ALL_LDFLAGS) -o $@ $< $(LINK_PARTS) -lcmocka $(LDLIBS)

SCRIPT_TESTS := \
  tests/fuzz-cases \
  tests/docs-check \
  tests/case-names \
  tests/refusals \
  tests/hacking-commands \
  tests/command-line \
  tests/outputs \
  tests/remarks \
  tests/install \
  tests/valgrind \
  tests/shell-scripts \
  tests/build-rules \
  tests/interface \
  tests/linking \
  tests/vector-math \
  tests/vector-widths \
  tests/portfolio \
  tests/layers \
  tests/benchmark \
  tests/running \
  tests/import-c \
  tests/cross-targets

# Tests of the build, of the project's texts and of the values of generated code tell nothing more of a compiler with sanitizers.
ifneq ($(SANITIZE),)
UNIT_TESTS := $(filter-out %/test_codegen_cast %/test_codegen_ops %/test_codegen_random %/test_codegen_math %/test_codegen_small_float %/test_codegen_vector, $(UNIT_TESTS))
SCRIPT_TESTS := $(filter-out tests/build-rules tests/install tests/case-names tests/docs-check tests/layers tests/shell-scripts tests/benchmark \
  tests/hacking-commands tests/vector-math tests/vector-widths, $(SCRIPT_TESTS))
endif

check: all $(UNIT_TESTS) $(TEST_TOOLS) $(RUNTIME_TESTS) $(BUILD)/tests/fuzz/fuzz
	@CC='$(CC)' SANITIZE='$(SANITIZE)' tests/run $(BUILD) $(UNIT_TESTS) $(RUNTIME_TESTS) $(BUILD)/tests/roundtrip $(BUILD)/tests/readback $(BUILD)/tests/traces $(BUILD)/tests/verdicts $(BUILD)/tests/mutations $(BUILD)/tests/fuzz/fuzz $(SCRIPT_TESTS)

# Not part of check: TVM's wheel comes from PyPI, or TVM_PYTHON=... names a Python that has TVM.
check-tvm: $(BUILD)/tirc $(BUILD)/libtirc_rt.a
	@tests/check-tvm $(BUILD)

# Random differential testing: make fuzz N=1000 SEED=1; failures are written to BUILD/fuzz. PROGRAMS="a.tir b.tir": random schedules of these.
N ?= 1000
SEED ?= 1
$(BUILD)/tests/fuzz/%.o: tests/fuzz/%.c $(BUILD)/compile-flags | $(BUILD)/tools
	@mkdir -p $(@D)
	$(call say,CC $<)$(CC) $(ALL_CFLAGS) $(LLVM_CFLAGS) -Itests/fuzz -c -o $@ $<
$(BUILD)/tests/fuzz/fuzz: $(patsubst tests/%.c,$(BUILD)/tests/%.o,$(wildcard tests/fuzz/*.c)) $(PARTS) $(BUILD)/libtirc_rt.a $(BUILD)/link-flags
	$(call say,LD $@)$(CC) $(CFLAGS) $(SANITIZE) -fopenmp $(ALL_LDFLAGS) -o $@ $(filter %.o,$^) $(LINK_PARTS) $(LDLIBS)
fuzz: $(BUILD)/tests/fuzz/fuzz
	@mkdir -p $(BUILD)/fuzz
	OMP_WAIT_POLICY=passive $< -n $(N) -s $(SEED) -o $(BUILD)/fuzz $(if $(PROGRAMS),-i $(PROGRAMS))
