# How commands are shown, and what makes things anew when flags change.

# $(call say,CC FILE) at the head of a recipe: the short line, and then the command in silence; with V=1 nothing, so that make prints the command.
say = $(if $(filter-out 0,$(V)),,@echo '$(1)'; )
quote = '$(subst ','\'',$(1))'

# One word that make chose by itself is no choice of the user, who sets CC on the command line or in the environment.
ifeq ($(origin CC),default)
CC := gcc
endif
export PWD := $(CURDIR)

# compile-flags and link-flags below BUILD hold what the last build was made with, as assignments; their time changes when a value does. A make that
# only installs takes its values from there, so that what was built is what is installed; values on the command line still win.
COMPILE_SETTINGS := CC CPPFLAGS CFLAGS RUNTIME_OPTIMIZE SAN FLEX BISON
LINK_SETTINGS := LDFLAGS LLVM_CONFIG LLVM_SHARED TARGETS
ifneq ($(filter install%,$(MAKECMDGOALS)),)
ifeq ($(filter-out install% uninstall,$(MAKECMDGOALS)),)
-include $(BUILD)/compile-flags $(BUILD)/link-flags
endif
endif

$(BUILD)/compile-flags: SETTINGS := $(COMPILE_SETTINGS)
$(BUILD)/link-flags: SETTINGS := $(LINK_SETTINGS)
hash := \#
assignment = $(1) := $(subst $(hash),\$(hash),$(subst $$,$$$$,$($(1))))
$(BUILD)/compile-flags $(BUILD)/link-flags: FORCE
	@mkdir -p $(@D); printf '%s\n' $(foreach name,$(SETTINGS),$(call quote,$(call assignment,$(name)))) >$@.new; \
	if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi
