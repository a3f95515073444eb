# The library of the compiler, as archive and as shared library, and what make install puts where. Names of folders may hold spaces.
PREFIX ?= /usr/local
BINDIR ?= $(PREFIX)/bin
LIBDIR ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
DATADIR ?= $(PREFIX)/share
OBJCOPY ?= objcopy
STRIP ?= strip
NM ?= nm
VERSION := $(shell sed -n 's/^.define TIRC_VERSION "\(.*\)"/\1/p' driver/tirc.h)
SONAME := libtirc.so.0
open := (
API := $(sort $(shell sed -n 's/.*\(tirc_[a-z_]*\)$(open).*/\1/p' driver/tirc.h))
API_ROOTS := -Wl,--gc-sections $(API:%=-Wl,-u,%)
# What tirc_jit_compile runs code with.
KEPT_RUNTIME := $(BUILD)/libtirc_rt.a
KEPT_LIBS := -fopenmp

# libtirc.a has one member: what the functions of tirc.h need of the compiler, with all other names made local, so that they meet no names of the
# programs and shared libraries that it becomes part of. Names that only dropped code refers to are dropped too. Of the linkers, GNU ld can drop code
# from a relocatable output.
$(BUILD)/libtirc.a: $(PARTS) $(KEPT_RUNTIME) $(BUILD)/link-flags
	@$(CC) -fuse-ld=bfd -r -nostdlib -o $@.all.o $(API_ROOTS) $(PARTS) $(KEPT_RUNTIME)
	@$(OBJCOPY) --strip-unneeded $@.all.o $@.needed.o
	@$(NM) -u $@.needed.o | sed 's/.* //' >$@.needed; $(NM) -u $@.all.o | sed 's/.* //' | grep -vxF -f $@.needed >$@.dropped || :
	@$(OBJCOPY) $(API:%=--keep-global-symbol=%) $$(test ! -s $@.dropped || echo --strip-symbols=$@.dropped) $@.all.o $(BUILD)/tirc.o
	$(call say,AR $@)rm -f $@ $@.*; $(AR) crsD $@ $(BUILD)/tirc.o; rm $(BUILD)/tirc.o

# nodelete: LLVM keeps state of the process that would outlive it.
$(BUILD)/$(SONAME): $(PARTS) $(KEPT_RUNTIME) $(BUILD)/link-flags
	@printf '{ global: $(API:%=%;) local: *; };\n' >$(BUILD)/exports
	$(call say,LD $@)$(CC) $(CFLAGS) $(SANITIZE) -shared -Wl,-soname,$(SONAME) -Wl,--version-script=$(BUILD)/exports -Wl,-z,nodelete \
	  $(LLVM_LDFLAGS) $(API_ROOTS) $(LDFLAGS) -o $@ $(PARTS) $(KEPT_RUNTIME) $(LDLIBS) $(KEPT_LIBS)

# What a client of libtirc.a links with beside it; as shared libraries, for in Debian's archives some code is not position independent.
ARCHIVE_LIBS = $(strip $(patsubst -l:lib%.a,-l%,$(LDLIBS)) $(SANITIZE) $(KEPT_LIBS))

# $(call fill,FILE): FILE of the project with @NAME@ replaced. Where PREFIX is part of another folder, pkg-config may move both.
escape = $(subst |,\|,$(subst &,\&,$(subst \,\\,$(1))))
below_prefix = $(if $(findstring ^$(PREFIX)/,^$(1)),$$$${prefix}$(subst ^$(PREFIX),,^$(1)),$(1))
relative = $$(realpath -ms --relative-to=$(call quote,$(LIBDIR)/cmake/tirc) $(call quote,$(1)))
fill = sed -e $(call quote,s|@PREFIX@|$(call escape,$(PREFIX))|) -e $(call quote,s|@LIBDIR@|$(call escape,$(LIBDIR_IN_PC))|) \
  -e $(call quote,s|@INCLUDEDIR@|$(call escape,$(INCLUDEDIR_IN_PC))|) -e $(call quote,s|@LIBS@|$(call escape,$(ARCHIVE_LIBS))|) \
  -e 's|@VERSION@|$(VERSION)|' -e 's|@SONAME@|$(SONAME)|' -e "s|@TO_INCLUDE@|$(call relative,$(INCLUDEDIR))|" -e "s|@TO_BIN@|$(call relative,$(BINDIR))|" $(1)
LIBDIR_IN_PC = $(subst $$$$,$$,$(call below_prefix,$(LIBDIR)))
INCLUDEDIR_IN_PC = $(subst $$$$,$$,$(call below_prefix,$(INCLUDEDIR)))

# What is installed: the folder, then the files that go there.
INSTALLED_LIBS := libtirc.a $(SONAME) libtirc.so libtirc_rt.a
PC_FILES := tirc tirc-shared tirc_rt
CMAKE_PACKAGES := tirc tirc_rt

.PHONY: install install-strip uninstall
# umask: folders that others can read, whatever the umask of the one who installs.
install: all
	@umask 022; bin=$(call quote,$(DESTDIR)$(BINDIR)) lib=$(call quote,$(DESTDIR)$(LIBDIR)) include=$(call quote,$(DESTDIR)$(INCLUDEDIR)) \
	  data=$(call quote,$(DESTDIR)$(DATADIR)); set -e; \
	install -d -m 755 "$$bin" "$$lib/pkgconfig" "$$include" "$$data/man/man1" "$$data/man/man7" "$$data/bash-completion/completions" "$$data/tirc/topi" $(CMAKE_PACKAGES:%="$$lib/cmake/%"); \
	install -m 755 $(BUILD)/tirc "$$bin/"; \
	install -m 644 $(BUILD)/libtirc.a $(BUILD)/libtirc_rt.a "$$lib/"; \
	install -m 755 $(BUILD)/$(SONAME) "$$lib/libtirc.so.$(VERSION)"; \
	ln -sf libtirc.so.$(VERSION) "$$lib/$(SONAME)"; ln -sf $(SONAME) "$$lib/libtirc.so"; \
	install -m 644 driver/tirc.h runtime/tirc_rt.h "$$include/"; \
	install -m 644 docs/tirc.1 "$$data/man/man1/"; \
	PATH=$(call quote,$(abspath $(BUILD))):$$PATH docs/gen-reference man-schedule >"$$data/man/man7/tirc-schedule.7"; chmod 644 "$$data/man/man7/tirc-schedule.7"; \
	install -m 644 $(TOPI) "$$data/tirc/topi/"; \
	install -m 644 docs/tirc.bash "$$data/bash-completion/completions/tirc"; \
	for name in $(PC_FILES); do $(call fill,driver/package/"$$name".pc.in) >"$$lib/pkgconfig/$$name.pc"; chmod 644 "$$lib/pkgconfig/$$name.pc"; done; \
	for name in $(CMAKE_PACKAGES); do for part in config config-version; do \
	  $(call fill,driver/package/"$$name-$$part".cmake.in) >"$$lib/cmake/$$name/$$name-$$part.cmake"; chmod 644 "$$lib/cmake/$$name/$$name-$$part.cmake"; done; done
	@echo $(call quote,installed below $(DESTDIR)$(PREFIX))

install-strip: install
	@lib=$(call quote,$(DESTDIR)$(LIBDIR)); set -e; $(STRIP) $(call quote,$(DESTDIR)$(BINDIR)/tirc); $(STRIP) --strip-unneeded "$$lib/libtirc.so.$(VERSION)"; \
	$(STRIP) --strip-debug "$$lib/libtirc.a" "$$lib/libtirc_rt.a"

# Leaves folders that others may use.
uninstall:
	@lib=$(call quote,$(DESTDIR)$(LIBDIR)) include=$(call quote,$(DESTDIR)$(INCLUDEDIR)) data=$(call quote,$(DESTDIR)$(DATADIR)); \
	rm -f $(call quote,$(DESTDIR)$(BINDIR)/tirc) "$$lib/libtirc.so.$(VERSION)" $(INSTALLED_LIBS:%="$$lib/%") $(PC_FILES:%="$$lib/pkgconfig/%.pc") \
	  "$$include/tirc.h" "$$include/tirc_rt.h" "$$data/man/man1/tirc.1" "$$data/man/man7/tirc-schedule.7" "$$data/bash-completion/completions/tirc" $(TOPI:topi/%="$$data/tirc/topi/%"); \
	for name in $(CMAKE_PACKAGES); do rm -f "$$lib/cmake/$$name/$$name-config.cmake" "$$lib/cmake/$$name/$$name-config-version.cmake"; \
	  rmdir "$$lib/cmake/$$name" 2>/dev/null || :; done; rmdir "$$data/tirc/topi" "$$data/tirc" 2>/dev/null || :
