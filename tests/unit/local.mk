# SPDX-License-Identifier: Apache-2.0
# A sanitizer on a busy machine takes its time: what hangs is ended all the same.
AM_TESTS_ENVIRONMENT = CK_DEFAULT_TIMEOUT=60; export CK_DEFAULT_TIMEOUT;
EXTRA_DIST += tests/unit/sanitized.h tests/unit/suite.h

# The unit tests of a room: each is a program of one source, linked with the rooms that its room may use
# (LDADD of its list), so that a call to any other room does not link. Programs of the check are linked without
# libtool, which takes twice as long as the linker: archives LIBS has each room as the archive that libtool has made of it.
archives = $(patsubst src/%.la,src/.libs/%.a,$(1))
link = $(CCLD) $(AM_CFLAGS) $(CFLAGS) $(AM_LDFLAGS) $(LDFLAGS) -o $@

BASE_TESTS = \
	tests/unit/base/test_diag \
	tests/unit/base/test_rng \
	tests/unit/base/test_field \
	tests/unit/base/test_host_port \
	tests/unit/base/test_law \
	tests/unit/base/test_law_draws \
	tests/unit/base/test_law_file \
	tests/unit/base/test_opt \
	tests/unit/base/test_subjects \
	tests/unit/base/test_units
$(BASE_TESTS): LDADD = $(CHECK_LIBS) $(call archives,$(BASE_LIBS))
$(BASE_TESTS): $(filter %.la,$(BASE_LIBS))

HOST_TESTS = \
	tests/unit/host/test_signals \
	tests/unit/host/test_cpu_loads \
	tests/unit/host/test_cpus \
	tests/unit/host/test_facts \
	tests/unit/host/test_file \
	tests/unit/host/test_pass_fd \
	tests/unit/host/test_perf \
	tests/unit/host/test_sandbox \
	tests/unit/host/test_unhalted \
	tests/unit/host/test_usage \
	tests/unit/host/test_vectors
$(HOST_TESTS): LDADD = $(CHECK_LIBS) $(call archives,$(HOST_LIBS))
$(HOST_TESTS): $(filter %.la,$(HOST_LIBS))

STATS_TESTS = \
	tests/unit/stats/test_counters \
	tests/unit/stats/test_hist \
	tests/unit/stats/test_idle_path \
	tests/unit/stats/test_summary \
	tests/unit/stats/test_tally
$(STATS_TESTS): LDADD = $(CHECK_LIBS) $(call archives,$(STATS_LIBS))
$(STATS_TESTS): $(filter %.la,$(STATS_LIBS))

SEARCH_TESTS = \
	tests/unit/search/test_range \
	tests/unit/search/test_search
$(SEARCH_TESTS): LDADD = $(CHECK_LIBS) $(call archives,$(SEARCH_LIBS))
$(SEARCH_TESTS): $(filter %.la,$(SEARCH_LIBS))

APP_TESTS = \
	tests/unit/app/test_apps \
	tests/unit/app/test_command \
	tests/unit/app/test_http \
	tests/unit/app/test_identity \
	tests/unit/app/test_dns \
	tests/unit/app/test_keyspace \
	tests/unit/app/test_batch \
	tests/unit/app/test_rope \
	tests/unit/app/test_store \
	tests/unit/app/test_line \
	tests/unit/app/test_memcache \
	tests/unit/app/test_torture \
	tests/unit/app/test_weights
$(APP_TESTS): LDADD = $(CHECK_LIBS) $(call archives,$(APP_LIBS))
$(APP_TESTS): $(filter %.la,$(APP_LIBS))

PROFILE_TESTS = \
	tests/unit/profile/test_limits \
	tests/unit/profile/test_normalise \
	tests/unit/profile/test_tree
$(PROFILE_TESTS): LDADD = $(CHECK_LIBS) $(call archives,$(PROFILE_LIBS))
$(PROFILE_TESTS): $(filter %.la,$(PROFILE_LIBS))

TRANSPORT_TESTS = \
	tests/unit/transport/test_conformance \
	tests/unit/transport/test_udp_batch \
	tests/unit/transport/test_udp_mux \
	tests/unit/transport/test_peers \
	tests/unit/transport/test_preamble \
	tests/unit/transport/test_socket \
	tests/unit/transport/test_ssl \
	tests/unit/transport/test_zc_pool
$(TRANSPORT_TESTS): LDADD = $(CHECK_LIBS) $(call archives,$(TRANSPORT_LIBS))
$(TRANSPORT_TESTS): $(filter %.la,$(TRANSPORT_LIBS))
tests_unit_transport_test_conformance_SOURCES = \
	tests/unit/transport/test_conformance.c \
	tests/unit/transport/ends.h \
	tests/unit/transport/fake_sockets.c
# Protocols that this kernel may lack are made of others.
tests_unit_transport_test_conformance_LDFLAGS = $(AM_LDFLAGS) \
	-Wl,--wrap=socket,--wrap=bind,--wrap=connect,--wrap=accept4,--wrap=getsockname \
	-Wl,--wrap=setsockopt,--wrap=getsockopt

PLAN_TESTS = \
	tests/unit/plan/test_apart \
	tests/unit/plan/test_check \
	tests/unit/plan/test_compile \
	tests/unit/plan/test_dump \
	tests/unit/plan/test_memory \
	tests/unit/plan/test_mirror \
	tests/unit/plan/test_mixes \
	tests/unit/plan/test_params \
	tests/unit/plan/test_plateau \
	tests/unit/plan/test_plan \
	tests/unit/plan/test_recorder \
	tests/unit/plan/test_shape \
	tests/unit/plan/test_shorthand \
	tests/unit/plan/test_tables \
	tests/unit/plan/test_probes \
	tests/unit/plan/test_warmup
$(PLAN_TESTS): LDADD = $(CHECK_LIBS) $(call archives,$(PLAN_LIBS))
$(PLAN_TESTS): $(filter %.la,$(PLAN_LIBS))
tests_unit_plan_test_memory_LDFLAGS = $(AM_LDFLAGS) \
	-Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=strdup,--wrap=strndup
tests_unit_plan_test_apart_SOURCES = \
	tests/unit/plan/test_apart.c \
	tests/unit/plan/compiled.c \
	tests/unit/plan/compiled.h
tests_unit_plan_test_probes_SOURCES = \
	tests/unit/plan/test_probes.c \
	tests/unit/plan/compiled.c \
	tests/unit/plan/compiled.h
tests_unit_plan_test_warmup_SOURCES = \
	tests/unit/plan/test_warmup.c \
	tests/unit/plan/compiled.c \
	tests/unit/plan/compiled.h
tests_unit_plan_test_check_SOURCES = \
	tests/unit/plan/test_check.c \
	tests/unit/plan/compiled.c \
	tests/unit/plan/compiled.h
tests_unit_plan_test_compile_SOURCES = \
	tests/unit/plan/test_compile.c \
	tests/unit/plan/compiled.c \
	tests/unit/plan/compiled.h
tests_unit_plan_test_dump_SOURCES = \
	tests/unit/plan/test_dump.c \
	tests/unit/plan/compiled.c \
	tests/unit/plan/compiled.h
tests_unit_plan_test_mirror_SOURCES = \
	tests/unit/plan/test_mirror.c \
	tests/unit/plan/compiled.c \
	tests/unit/plan/compiled.h
tests_unit_plan_test_mixes_SOURCES = \
	tests/unit/plan/test_mixes.c \
	tests/unit/plan/compiled.c \
	tests/unit/plan/compiled.h
tests_unit_plan_test_plan_SOURCES = \
	tests/unit/plan/test_plan.c \
	tests/unit/plan/compiled.c \
	tests/unit/plan/compiled.h
tests_unit_plan_test_shorthand_SOURCES = \
	tests/unit/plan/test_shorthand.c \
	tests/unit/plan/compiled.c \
	tests/unit/plan/compiled.h
tests_unit_plan_test_params_SOURCES = \
	tests/unit/plan/test_params.c \
	tests/unit/plan/compiled.c \
	tests/unit/plan/compiled.h
tests_unit_plan_test_shape_SOURCES = \
	tests/unit/plan/test_shape.c \
	tests/unit/plan/compiled.c \
	tests/unit/plan/compiled.h

FLOWOP_TESTS = \
	tests/unit/flowop/test_files \
	tests/unit/flowop/test_messages \
	tests/unit/flowop/test_mix \
	tests/unit/flowop/test_arrivals \
	tests/unit/flowop/test_ideal \
	tests/unit/flowop/test_life \
	tests/unit/flowop/test_pacer \
	tests/unit/flowop/test_queue \
	tests/unit/flowop/test_replay \
	tests/unit/flowop/test_rounds \
	tests/unit/flowop/test_stamp \
	tests/unit/flowop/test_think
$(FLOWOP_TESTS): LDADD = $(CHECK_LIBS) $(call archives,$(FLOWOP_LIBS))
$(FLOWOP_TESTS): $(filter %.la,$(FLOWOP_LIBS))

ENGINE_TESTS = \
	tests/unit/engine/test_accept \
	tests/unit/engine/test_observe \
	tests/unit/engine/test_rendezvous \
	tests/unit/engine/test_latency \
	tests/unit/engine/test_machine \
	tests/unit/engine/test_pair \
	tests/unit/engine/test_open \
	tests/unit/engine/test_open_pipeline \
	tests/unit/engine/test_open_window \
	tests/unit/engine/test_phase \
	tests/unit/engine/test_reconnect \
	tests/unit/engine/test_rcvlowat \
	tests/unit/engine/test_retry \
	tests/unit/engine/test_timer \
	tests/unit/engine/test_waiter
$(ENGINE_TESTS): LDADD = $(CHECK_LIBS) $(call archives,$(ENGINE_LIBS))
$(ENGINE_TESTS): $(filter %.la,$(ENGINE_LIBS))

tests_unit_engine_test_accept_SOURCES = \
	tests/unit/engine/test_accept.c \
	tests/unit/engine/accepting.h
tests_unit_engine_test_rendezvous_SOURCES = \
	tests/unit/engine/test_rendezvous.c \
	tests/unit/engine/accepting.h
OPEN_PHASE = \
	tests/unit/engine/open_phase.c \
	tests/unit/engine/open_phase.h \
	tests/unit/engine/one_worker.c \
	tests/unit/engine/one_worker.h
tests_unit_engine_test_open_SOURCES = \
	tests/unit/engine/test_open.c \
	$(OPEN_PHASE)
tests_unit_engine_test_open_pipeline_SOURCES = \
	tests/unit/engine/test_open_pipeline.c \
	$(OPEN_PHASE)
tests_unit_engine_test_open_window_SOURCES = \
	tests/unit/engine/test_open_window.c \
	$(OPEN_PHASE)
tests_unit_engine_test_phase_SOURCES = \
	tests/unit/engine/test_phase.c \
	tests/unit/engine/one_worker.c \
	tests/unit/engine/one_worker.h
tests_unit_engine_test_reconnect_SOURCES = \
	tests/unit/engine/test_reconnect.c \
	tests/unit/engine/one_worker.c \
	tests/unit/engine/one_worker.h
tests_unit_engine_test_retry_SOURCES = \
	tests/unit/engine/test_retry.c \
	tests/unit/engine/one_worker.c \
	tests/unit/engine/one_worker.h
tests_unit_engine_test_pair_SOURCES = \
	tests/unit/engine/test_pair.c \
	tests/unit/engine/pair.c \
	tests/unit/engine/pair.h \
	tests/unit/plan/compiled.c \
	tests/unit/plan/compiled.h

RESULT_TESTS = \
	tests/unit/result/test_load \
	tests/unit/result/test_result
$(RESULT_TESTS): LDADD = $(CHECK_LIBS) $(call archives,$(RESULT_LIBS))
$(RESULT_TESTS): $(filter %.la,$(RESULT_LIBS))

CONTROL_TESTS = \
	tests/unit/control/test_admission \
	tests/unit/control/test_address \
	tests/unit/control/test_blocked \
	tests/unit/control/test_channel \
	tests/unit/control/test_heartbeat \
	tests/unit/control/test_claims \
	tests/unit/control/test_engines \
	tests/unit/control/test_frame \
	tests/unit/control/test_golden \
	tests/unit/control/test_limits \
	tests/unit/control/test_losses \
	tests/unit/control/test_machine \
	tests/unit/control/test_message \
	tests/unit/control/test_outcome \
	tests/unit/control/test_patience \
	tests/unit/control/test_phases \
	tests/unit/control/test_protocol \
	tests/unit/control/test_reconcile \
	tests/unit/control/test_sampler \
	tests/unit/control/test_slave_runs \
	tests/unit/control/test_slots \
	tests/unit/control/test_resolve \
	tests/unit/control/test_results \
	tests/unit/control/test_unkept
$(CONTROL_TESTS): LDADD = $(CHECK_LIBS) $(call archives,$(CONTROL_LIBS))
$(CONTROL_TESTS): $(filter %.la,$(CONTROL_LIBS))

tests_unit_control_test_unkept_SOURCES = \
	tests/unit/control/test_unkept.c \
	tests/unit/plan/compiled.c \
	tests/unit/plan/compiled.h

# These have an engine of their own, without workers, in the place of the room's.
FAKED_LIBS = src/libnm_control.la src/libnm_result.la $(PLAN_LIBS) $(JANSSON_LIBS) $(SSL_LIBS) $(CRYPTO_LIBS)
FAKED_TESTS = \
	tests/unit/control/test_late_flows \
	tests/unit/control/test_run \
	tests/unit/control/test_ends \
	tests/unit/control/test_flows \
	tests/unit/control/test_progress \
	tests/unit/control/test_responses \
	tests/unit/control/test_slave \
	tests/unit/control/test_snapshot \
	tests/unit/control/test_usage \
	tests/unit/control/test_windows
$(FAKED_TESTS): LDADD = $(CHECK_LIBS) $(call archives,$(FAKED_LIBS))
$(FAKED_TESTS): $(filter %.la,$(FAKED_LIBS))
FAKE_ENGINE = tests/unit/control/fake_engine.c tests/unit/control/fake_engine.h
tests_unit_control_test_late_flows_SOURCES = tests/unit/control/test_late_flows.c $(FAKE_ENGINE)
tests_unit_control_test_run_SOURCES = tests/unit/control/test_run.c $(FAKE_ENGINE)
tests_unit_control_test_slave_SOURCES = tests/unit/control/test_slave.c $(FAKE_ENGINE)
tests_unit_control_test_snapshot_SOURCES = tests/unit/control/test_snapshot.c $(FAKE_ENGINE)
SAMPLED = tests/unit/control/sampled.h $(FAKE_ENGINE)
tests_unit_control_test_ends_SOURCES = tests/unit/control/test_ends.c $(SAMPLED)
tests_unit_control_test_flows_SOURCES = tests/unit/control/test_flows.c $(SAMPLED)
tests_unit_control_test_progress_SOURCES = tests/unit/control/test_progress.c $(SAMPLED)
tests_unit_control_test_responses_SOURCES = tests/unit/control/test_responses.c $(SAMPLED)
tests_unit_control_test_usage_SOURCES = tests/unit/control/test_usage.c $(SAMPLED)
tests_unit_control_test_windows_SOURCES = tests/unit/control/test_windows.c $(SAMPLED)

tests_unit_control_test_golden_SOURCES = \
	tests/unit/control/test_golden.c \
	tests/unit/control/golden.h
tests_unit_control_test_message_SOURCES = \
	tests/unit/control/test_message.c \
	tests/unit/control/json_text.h
tests_unit_control_test_results_SOURCES = \
	tests/unit/control/test_results.c \
	tests/unit/control/json_text.h

REPORT_TESTS = \
	tests/unit/report/test_compare \
	tests/unit/report/test_confidence \
	tests/unit/report/test_costs \
	tests/unit/report/test_figures \
	tests/unit/report/test_flows \
	tests/unit/report/test_report \
	tests/unit/report/test_report_json \
	tests/unit/report/test_report_kv \
	tests/unit/report/test_report_neper \
	tests/unit/report/test_requirement \
	tests/unit/report/test_text \
	tests/unit/report/test_uperf
$(REPORT_TESTS): LDADD = $(CHECK_LIBS) $(call archives,$(REPORT_LIBS))
$(REPORT_TESTS): $(filter %.la,$(REPORT_LIBS))
tests_unit_report_test_compare_SOURCES = \
	tests/unit/report/test_compare.c \
	tests/unit/report/sample.c \
	tests/unit/report/sample.h
tests_unit_report_test_figures_SOURCES = \
	tests/unit/report/test_figures.c \
	tests/unit/report/sample.c \
	tests/unit/report/sample.h
tests_unit_report_test_flows_SOURCES = \
	tests/unit/report/test_flows.c \
	tests/unit/report/rendered.c \
	tests/unit/report/rendered.h \
	tests/unit/report/sample.c \
	tests/unit/report/sample.h
tests_unit_report_test_report_SOURCES = \
	tests/unit/report/test_report.c \
	tests/unit/report/rendered.c \
	tests/unit/report/rendered.h \
	tests/unit/report/sample.c \
	tests/unit/report/sample.h
tests_unit_report_test_report_kv_SOURCES = \
	tests/unit/report/test_report_kv.c \
	tests/unit/report/rendered.c \
	tests/unit/report/rendered.h \
	tests/unit/report/sample.c \
	tests/unit/report/sample.h
tests_unit_report_test_report_neper_SOURCES = \
	tests/unit/report/test_report_neper.c \
	tests/unit/report/sample.c \
	tests/unit/report/sample.h
tests_unit_report_test_requirement_SOURCES = \
	tests/unit/report/test_requirement.c \
	tests/unit/report/sample.c \
	tests/unit/report/sample.h
tests_unit_report_test_text_SOURCES = \
	tests/unit/report/test_text.c \
	tests/unit/report/rendered.c \
	tests/unit/report/rendered.h \
	tests/unit/report/sample.c \
	tests/unit/report/sample.h
tests_unit_report_test_uperf_SOURCES = \
	tests/unit/report/test_uperf.c \
	tests/unit/report/rendered.c \
	tests/unit/report/rendered.h \
	tests/unit/report/sample.c \
	tests/unit/report/sample.h
tests_unit_report_test_report_json_SOURCES = \
	tests/unit/report/test_report_json.c \
	tests/unit/report/sample.c \
	tests/unit/report/sample.h

LIB_TESTS = \
	tests/unit/lib/test_netmodel
$(LIB_TESTS): LDADD = $(CHECK_LIBS) $(call archives,$(LIB_LIBS))
$(LIB_TESTS): $(filter %.la,$(LIB_LIBS))

CLI_TESTS = \
	tests/unit/cli/test_args \
	tests/unit/cli/test_argv \
	tests/unit/cli/test_claim \
	tests/unit/cli/test_foreign \
	tests/unit/cli/test_logs \
	tests/unit/cli/test_neper \
	tests/unit/cli/test_noise \
	tests/unit/cli/test_sink \
	tests/unit/cli/test_texts \
	tests/unit/cli/test_trial
$(CLI_TESTS): LDADD = $(CHECK_LIBS) $(call archives,$(CLI_LIBS))
$(CLI_TESTS): $(filter %.la,$(CLI_LIBS)) | tests/unit/share/netmodel/profiles
EXTRA_DIST += tests/unit/cli/said.h

UNIT_TESTS = \
	$(BASE_TESTS) \
	$(HOST_TESTS) \
	$(STATS_TESTS) \
	$(SEARCH_TESTS) \
	$(APP_TESTS) \
	$(PROFILE_TESTS) \
	$(TRANSPORT_TESTS) \
	$(PLAN_TESTS) \
	$(FLOWOP_TESTS) \
	$(ENGINE_TESTS) \
	$(RESULT_TESTS) \
	$(CONTROL_TESTS) \
	$(FAKED_TESTS) \
	$(REPORT_TESTS) \
	$(LIB_TESTS) \
	$(CLI_TESTS)
$(UNIT_TESTS): LINK = $(link)

if HAVE_CHECK
check_PROGRAMS += $(UNIT_TESTS)
TESTS += $(UNIT_TESTS)
endif
