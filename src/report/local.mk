# SPDX-License-Identifier: Apache-2.0
# A report is one file and one word here: the table of them is generated from this list.
REPORTS = \
	src/report/text.c \
	src/report/json.c \
	src/report/kv.c \
	src/report/neper.c \
	src/report/uperf.c \
	src/report/csv.c \
	src/report/junit.c

noinst_LTLIBRARIES += src/libnm_report.la
src_libnm_report_la_SOURCES = \
	$(REPORTS) \
	src/report/baseline.c \
	src/report/common.c \
	src/report/common.h \
	src/report/compare.c \
	src/report/compare.h \
	src/report/compare_priv.h \
	src/report/confidence.c \
	src/report/confidence.h \
	src/report/costs.c \
	src/report/costs.h \
	src/report/end_totals.c \
	src/report/end_totals.h \
	src/report/figure.c \
	src/report/figure.h \
	src/report/figures.h \
	src/report/figures_costs.c \
	src/report/figures_cpu.c \
	src/report/figures_detail.c \
	src/report/figures_host.c \
	src/report/figures_repeat.c \
	src/report/figures_replay.c \
	src/report/figures_steps.c \
	src/report/figures_run.c \
	src/report/figures_sum.c \
	src/report/figures_usage.c \
	src/report/figures_verdict.c \
	src/report/figures_ways.c \
	src/report/figures_window.c \
	src/report/hdr.c \
	src/report/hdr.h \
	src/report/help.h \
	src/report/keys.c \
	src/report/keys.h \
	src/report/named.c \
	src/report/named.h \
	src/report/named_find.c \
	src/report/named_series.c \
	src/report/probe.c \
	src/report/probe.h \
	src/report/quantity.c \
	src/report/quantity.h \
	src/report/report.c \
	src/report/report.h \
	src/report/requirement.c \
	src/report/requirement.h \
	src/report/schema.c \
	src/report/steps.c \
	src/report/steps.h \
	src/report/stream.c \
	src/report/stream.h \
	src/report/sweep.c \
	src/report/sweep.h \
	src/report/sweep_read.c \
	src/report/sweep_read.h \
	src/report/table.c \
	src/report/table.h \
	src/report/text_costs.c \
	src/report/text_counters.c \
	src/report/text_intervals.c \
	src/report/text_steps.c \
	src/report/text_parts.h \
	src/report/text_tables.c \
	src/report/text_flows.c \
	src/report/text_verbs.c \
	src/report/text_totals.c \
	src/report/text_traffic.c \
	src/report/text_traffic.h \
	src/report/throughput.c \
	src/report/uperf.h \
	src/report/verdict.c \
	src/report/view.h \
	src/report/throughput.h
nodist_src_libnm_report_la_SOURCES = src/report/registry.c
src_libnm_report_la_CFLAGS = $(ROOM_CFLAGS)
src_libnm_report_la_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS) $(ZLIB_CFLAGS)

CLEANFILES += src/report/registry.c
src/report/registry.c: $(top_srcdir)/src/report/local.mk $(top_srcdir)/tools/make-registry
	$(AM_V_at)$(MKDIR_P) $(@D)
	$(AM_V_GEN)$(make_registry) report $(REPORTS) >$@.tmp && mv $@.tmp $@
