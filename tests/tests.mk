# Tests: unit tests (tests/unit/test_*.c, cmocka), runtime tests (tests/runtime), and cases (tests/cases, tests/run).
UNIT_TESTS := $(patsubst tests/unit/%.c,$(BUILD)/tests/unit/%,$(sort $(wildcard tests/unit/test_*.c)))
TEST_TOOLS := $(patsubst tests/%.c,$(BUILD)/tests/%,$(sort $(wildcard tests/*.c)))

TEST_LINK = $(CC) $(ALL_CFLAGS) $(LLVM_CFLAGS) -fopenmp $(LLVM_LDFLAGS) -o $@ $< $(BUILD)/libtirc.a -Wl,--whole-archive $(BUILD)/libtirc_rt.a -Wl,--no-whole-archive -lcmocka $(LDLIBS)

$(BUILD)/tests/%: tests/%.c $(BUILD)/libtirc.a $(BUILD)/libtirc_rt.a
	@mkdir -p $(@D)
	$(TEST_LINK)

SCRIPT_TESTS := tests/fuzz-cases tests/docs-check tests/command-line tests/outputs tests/install

check: all $(UNIT_TESTS) $(TEST_TOOLS) $(RUNTIME_TESTS) $(BUILD)/tests/fuzz/fuzz
	@SANITIZE="$(SANITIZE)" tests/run $(BUILD) $(UNIT_TESTS) $(RUNTIME_TESTS) $(BUILD)/tests/roundtrip $(BUILD)/tests/fuzz/fuzz $(SCRIPT_TESTS)

# Random differential testing: make fuzz N=1000 SEED=1; failures are written to BUILD/fuzz. PROGRAMS="a.tir b.tir": random schedules of these.
N ?= 1000
SEED ?= 1
$(BUILD)/tests/fuzz/%.o: tests/fuzz/%.c
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) $(LLVM_CFLAGS) -Itests/fuzz -c -o $@ $<
$(BUILD)/tests/fuzz/fuzz: $(patsubst tests/%.c,$(BUILD)/tests/%.o,$(wildcard tests/fuzz/*.c)) $(BUILD)/libtirc.a $(BUILD)/libtirc_rt.a
	$(CC) $(CFLAGS) $(SANITIZE) -fopenmp $(LLVM_LDFLAGS) -o $@ $(filter %.o,$^) $(BUILD)/libtirc.a -Wl,--whole-archive $(BUILD)/libtirc_rt.a -Wl,--no-whole-archive $(LDLIBS)
fuzz: $(BUILD)/tests/fuzz/fuzz
	@mkdir -p $(BUILD)/fuzz
	OMP_WAIT_POLICY=passive $< -n $(N) -s $(SEED) -o $(BUILD)/fuzz $(if $(PROGRAMS),-i $(PROGRAMS))
