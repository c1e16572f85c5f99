# SPDX-License-Identifier: Apache-2.0
# configure --enable-fuzz CC=clang builds these; `make fuzz FUZZ_SECONDS=600` runs each for so long.
FUZZERS = \
	tests/fuzz/fuzz_control \
	tests/fuzz/fuzz_profile
tests_fuzz_fuzz_control_LDADD = $(CONTROL_LIBS)
tests_fuzz_fuzz_control_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_profile_LDADD = $(PLAN_LIBS)
tests_fuzz_fuzz_profile_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer

if FUZZ
noinst_PROGRAMS += $(FUZZERS)

# What is found is kept in tests/fuzz of the build folder; profiles begin with those that there are.
FUZZ_SECONDS = 60
fuzz: $(FUZZERS)
	$(MKDIR_P) tests/fuzz/control tests/fuzz/profile
	tests/fuzz/fuzz_control -max_total_time=$(FUZZ_SECONDS) tests/fuzz/control
	tests/fuzz/fuzz_profile -max_total_time=$(FUZZ_SECONDS) tests/fuzz/profile \
		$(top_srcdir)/profiles $(top_srcdir)/tests/profiles_bad $(top_srcdir)/tests/profiles_uperf
else
fuzz:
	@echo 'configure --enable-fuzz CC=clang, then make fuzz' >&2; exit 1
endif
