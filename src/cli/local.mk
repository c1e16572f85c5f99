# SPDX-License-Identifier: Apache-2.0
# A log is one file and one word here, in the order of --help: the table of them is generated from this list.
LOGS = \
	src/cli/log/response.c \
	src/cli/log/hdr.c \
	src/cli/log/samples.c \
	src/cli/log/tcp.c \
	src/cli/log/rtt.c \
	src/cli/log/stream.c

# Everything but main(), so that tests can call it.
noinst_LTLIBRARIES += src/libnm_cli.la
src_libnm_cli_la_SOURCES = \
	$(LOGS) \
	src/cli/arg_parse.c \
	src/cli/arg_rows.def \
	src/cli/arg_table.c \
	src/cli/arg_validate.c \
	src/cli/arg_validate.h \
	src/cli/args.c \
	src/cli/args.h \
	src/cli/argv.c \
	src/cli/argv.h \
	src/cli/claim.c \
	src/cli/claim.h \
	src/cli/cli.h \
	src/cli/command.c \
	src/cli/describe.c \
	src/cli/dialect.h \
	src/cli/foreign.c \
	src/cli/foreign.def \
	src/cli/foreign.h \
	src/cli/generate.c \
	src/cli/guard.c \
	src/cli/guard.h \
	src/cli/help.c \
	src/cli/inspect.c \
	src/cli/judge.c \
	src/cli/judge.h \
	src/cli/key.c \
	src/cli/key.h \
	src/cli/live.c \
	src/cli/live.h \
	src/cli/log/log.c \
	src/cli/log/log.h \
	src/cli/output.c \
	src/cli/output.h \
	src/cli/output_paths.c \
	src/cli/output_paths.h \
	src/cli/probe.c \
	src/cli/run.c \
	src/cli/resume.c \
	src/cli/resume.h \
	src/cli/runner.c \
	src/cli/runner.h \
	src/cli/schema.c \
	src/cli/signals.c \
	src/cli/signals.h \
	src/cli/sink.c \
	src/cli/sink.h \
	src/cli/slave.c \
	src/cli/statistics.c \
	src/cli/stock.c \
	src/cli/stock.h \
	src/cli/sweep.c \
	src/cli/trial.c \
	src/cli/trial.h \
	src/cli/tell.c
nodist_src_libnm_cli_la_SOURCES = src/cli/log/registry.c
src_libnm_cli_la_CFLAGS = $(ROOM_CFLAGS)
src_libnm_cli_la_CPPFLAGS = $(AM_CPPFLAGS) -DNM_PKGDATADIR=\"$(pkgdatadir)\"
CLI_LIBS = src/libnm_cli.la src/libnm_search.la $(LIB_LIBS)

CLEANFILES += src/cli/log/registry.c
src/cli/log/registry.c: $(top_srcdir)/src/cli/local.mk $(top_srcdir)/tools/make-registry
	$(AM_V_at)$(MKDIR_P) $(@D)
	$(AM_V_GEN)$(make_registry) cli/log $(LOGS) >$@.tmp && mv $@.tmp $@

bin_PROGRAMS = src/netmodel
src_netmodel_SOURCES = src/cli/main.c
src_netmodel_CFLAGS = $(AM_CFLAGS) $(NM_HARDEN_PIE_CFLAGS)
src_netmodel_LDFLAGS = $(AM_LDFLAGS) $(NM_HARDEN_PIE_LDFLAGS)
src_netmodel_LDADD = $(CLI_LIBS)

# A program in its build tree finds the stock profiles where an installed one does, beside itself: no path of this
# machine is in it.
all-local: share/netmodel/profiles
share/netmodel/profiles tests/unit/share/netmodel/profiles:
	$(AM_V_GEN)$(MKDIR_P) $(@D) && $(LN_S) $(abs_top_srcdir)/profiles $@
clean-local:
	-rm -rf share tests/unit/share

# What the program writes about itself.
generate = $(AM_V_GEN)$(MKDIR_P) $(@D) && src/netmodel$(EXEEXT) --generate

schemadir = $(pkgdatadir)
nodist_schema_DATA = docs/netmodel-profile.rng
docs/netmodel-profile.rng: src/netmodel$(EXEEXT)
	$(generate) schema >$@.tmp && mv $@.tmp $@

completiondir = $(datadir)/bash-completion/completions
nodist_completion_DATA = contrib/completion/netmodel
contrib/completion/netmodel: src/netmodel$(EXEEXT)
	$(generate) completion >$@.tmp && mv $@.tmp $@

CLEANFILES += docs/netmodel-profile.rng contrib/completion/netmodel
