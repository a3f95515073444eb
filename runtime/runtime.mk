# libtirc_rt.a: compiled with its own flags, position independent, one archive member for each source file. The variants of tmm16 ask for their instructions in the source.
RUNTIME_SOURCES := $(sort $(wildcard runtime/*.c))
RUNTIME_OBJECTS := $(RUNTIME_SOURCES:%.c=$(BUILD)/%.o)
RUNTIME_CFLAGS = -std=c11 $(WARNINGS) -pedantic $(CPPFLAGS) $(RUNTIME_OPTIMIZE) $(SANITIZE) -fPIC -ffp-contract=fast -ffunction-sections -fdata-sections \
  '-ffile-prefix-map=$(CURDIR)=.' -MMD -MP
$(BUILD)/runtime/parallel_openmp.o: RUNTIME_CFLAGS += -fopenmp
# In a shared library with a runtime of its own, what holds state is the library's own, also where another library has the same names.
$(BUILD)/runtime/error.o $(BUILD)/runtime/memory.o $(BUILD)/runtime/parallel.o: RUNTIME_CFLAGS += -fvisibility=protected
# An exception that leaves a part of a parallel loop is seen, and ends the program.
$(BUILD)/runtime/parallel.o: RUNTIME_CFLAGS += -fexceptions

# The runtime alone, as for another machine, needs the C compiler and nothing of what the rest does.
$(RUNTIME_OBJECTS): $(BUILD)/%.o: %.c $(BUILD)/compile-flags | $(if $(filter %/libtirc_rt.a,$(MAKECMDGOALS)),,$(BUILD)/tools)
	@mkdir -p $(@D)
	$(call say,CC $<)$(CC) $(RUNTIME_CFLAGS) -c -o $@ $<

$(BUILD)/libtirc_rt.a: $(RUNTIME_OBJECTS)
	$(call say,AR $@)rm -f $@; $(AR) crsD $@ $^

# Each tests/runtime/test_*.c links with the runtime alone; tests/runtime/link does its own linking.
RUNTIME_TEST_PROGRAMS := $(patsubst tests/runtime/%.c,$(BUILD)/tests/runtime/%,$(sort $(wildcard tests/runtime/test_*.c)))
RUNTIME_TESTS := $(RUNTIME_TEST_PROGRAMS) tests/runtime/link
$(RUNTIME_TEST_PROGRAMS): $(BUILD)/tests/runtime/%: tests/runtime/%.c $(BUILD)/libtirc_rt.a $(BUILD)/link-flags
	@mkdir -p $(@D)
	$(call say,CC $<)$(CC) -std=c11 -D_GNU_SOURCE -O1 -g $(WARNINGS) $(SANITIZE) -MMD -MP -Iruntime $(LDFLAGS) -o $@ $< $(BUILD)/libtirc_rt.a -fopenmp -lcmocka -lm
