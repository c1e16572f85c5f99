# SPDX-License-Identifier: Apache-2.0
# configure --enable-fuzz CC=clang builds these; `make fuzz FUZZ_SECONDS=60` runs each over its seeds and then for so
# long; with FUZZ_RUNS=N for so many runs instead, and with FUZZ_SEED=N, too, the same ones each time. FUZZ_TARGETS: which.
FUZZ_NAMES = $(patsubst src/app/%.c,apps-%,$(APPS)) \
	datagrams frames judge master options params preamble profile results slave
FUZZERS = \
	tests/fuzz/fuzz_apps \
	tests/fuzz/fuzz_datagrams \
	tests/fuzz/fuzz_frames \
	tests/fuzz/fuzz_judge \
	tests/fuzz/fuzz_master \
	tests/fuzz/fuzz_options \
	tests/fuzz/fuzz_params \
	tests/fuzz/fuzz_preamble \
	tests/fuzz/fuzz_profile \
	tests/fuzz/fuzz_results \
	tests/fuzz/fuzz_slave
$(FUZZERS): AM_LDFLAGS += -fsanitize=fuzzer

# Messages that are changed and remain messages.
FUZZ_MESSAGES = tests/fuzz/messages.c tests/fuzz/splice.c tests/fuzz/fuzz.h
# Profiles that are read, printed and read again.
FUZZ_PROFILE = tests/fuzz/reread.c tests/fuzz/splice.c tests/fuzz/fuzz.h
# Sessions: with a peer, a network and a clock that are the target's, and an engine without workers.
FUZZ_TALK = $(FUZZ_MESSAGES) tests/fuzz/talk.c tests/fuzz/talk.h \
	tests/unit/control/fake_engine.c tests/unit/control/fake_engine.h
FUZZ_TALK_WRAPS = -Wl,--wrap=clock_gettime,--wrap=ppoll,--wrap=poll \
	-Wl,--wrap=getsockname,--wrap=getpeername,--wrap=setsockopt

tests_fuzz_fuzz_apps_SOURCES = tests/fuzz/fuzz_apps.c tests/fuzz/splice.c tests/fuzz/fuzz.h
tests_fuzz_fuzz_apps_LDADD = $(APP_LIBS)
tests_fuzz_fuzz_datagrams_SOURCES = tests/fuzz/fuzz_datagrams.c tests/fuzz/fuzz.h
tests_fuzz_fuzz_datagrams_LDADD = $(FLOWOP_LIBS)
tests_fuzz_fuzz_datagrams_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=recvmmsg,--wrap=sendmmsg,--wrap=sendto
tests_fuzz_fuzz_frames_SOURCES = tests/fuzz/fuzz_frames.c $(FUZZ_MESSAGES)
tests_fuzz_fuzz_frames_LDADD = $(CONTROL_LIBS)
tests_fuzz_fuzz_judge_SOURCES = tests/fuzz/fuzz_judge.c tests/fuzz/splice.c tests/fuzz/fuzz.h
tests_fuzz_fuzz_judge_LDADD = $(REPORT_LIBS)
tests_fuzz_fuzz_master_SOURCES = tests/fuzz/fuzz_master.c $(FUZZ_TALK)
tests_fuzz_fuzz_master_LDADD = src/libnm_report.la $(FAKED_LIBS) $(ZLIB_LIBS)
tests_fuzz_fuzz_master_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_TALK_WRAPS),--wrap=nm_master_connect
tests_fuzz_fuzz_options_SOURCES = tests/fuzz/fuzz_options.c tests/fuzz/splice.c tests/fuzz/fuzz.h
tests_fuzz_fuzz_options_LDADD = $(RESULT_LIBS)
tests_fuzz_fuzz_params_SOURCES = tests/fuzz/fuzz_params.c $(FUZZ_PROFILE)
tests_fuzz_fuzz_params_LDADD = $(PLAN_LIBS)
tests_fuzz_fuzz_preamble_SOURCES = tests/fuzz/fuzz_preamble.c tests/fuzz/fuzz.h
tests_fuzz_fuzz_preamble_LDADD = $(TRANSPORT_LIBS)
tests_fuzz_fuzz_profile_SOURCES = tests/fuzz/fuzz_profile.c $(FUZZ_PROFILE)
tests_fuzz_fuzz_profile_LDADD = $(PLAN_LIBS)
tests_fuzz_fuzz_results_SOURCES = tests/fuzz/fuzz_results.c $(FUZZ_MESSAGES)
tests_fuzz_fuzz_results_LDADD = $(CONTROL_LIBS)
tests_fuzz_fuzz_slave_SOURCES = tests/fuzz/fuzz_slave.c $(FUZZ_TALK)
tests_fuzz_fuzz_slave_LDADD = $(FAKED_LIBS)
tests_fuzz_fuzz_slave_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_TALK_WRAPS)
EXTRA_DIST += tests/fuzz/run tests/fuzz/seeds tests/fuzz/test_seed.py

FUZZ_SECONDS = 60
FUZZ_RUNS =
FUZZ_SEED =
FUZZ_TARGETS = $(FUZZ_NAMES)
if FUZZ
noinst_PROGRAMS += $(FUZZERS)

# What is found is kept in tests/fuzz/NAME of the build folder, and what ends a target in tests/fuzz/found/NAME.
fuzz: $(FUZZERS)
	@for name in $(FUZZ_TARGETS); do \
		$(top_srcdir)/tests/fuzz/run $(top_srcdir) tests/fuzz $$name "$(FUZZ_SECONDS)" "$(FUZZ_RUNS)" "$(FUZZ_SEED)" || \
			exit 1; \
	done
fuzz-names:
	@echo $(FUZZ_NAMES)
else
fuzz:
	@echo 'configure --enable-fuzz CC=clang, then make fuzz' >&2; exit 1
endif
