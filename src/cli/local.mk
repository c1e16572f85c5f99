# SPDX-License-Identifier: Apache-2.0
bin_PROGRAMS = src/netmodel
src_netmodel_SOURCES = \
	src/cli/arg_accept.c \
	src/cli/arg_accept.h \
	src/cli/arg_table.c \
	src/cli/args.c \
	src/cli/args.h \
	src/cli/cli.h \
	src/cli/describe.c \
	src/cli/flow_log.c \
	src/cli/flow_log.h \
	src/cli/generate.c \
	src/cli/hdr_log.c \
	src/cli/hdr_log.h \
	src/cli/help.c \
	src/cli/live.c \
	src/cli/live.h \
	src/cli/log_file.c \
	src/cli/log_file.h \
	src/cli/look.c \
	src/cli/main.c \
	src/cli/neper.c \
	src/cli/neper.h \
	src/cli/neper_echo.c \
	src/cli/neper_echo.h \
	src/cli/neper_host.c \
	src/cli/neper_spec.c \
	src/cli/neper_table.c \
	src/cli/neper_tell.c \
	src/cli/neper_value.c \
	src/cli/output.c \
	src/cli/output.h \
	src/cli/places.c \
	src/cli/places.h \
	src/cli/raw.c \
	src/cli/raw.h \
	src/cli/responses.c \
	src/cli/responses.h \
	src/cli/rtt_log.c \
	src/cli/rtt_log.h \
	src/cli/run.c \
	src/cli/schema.c \
	src/cli/signals.c \
	src/cli/signals.h \
	src/cli/slave.c \
	src/cli/statistics.c \
	src/cli/stock.c \
	src/cli/stock.h
src_netmodel_CPPFLAGS = $(AM_CPPFLAGS) -DNM_PKGDATADIR=\"$(pkgdatadir)\" -DNM_TOP_SRCDIR=\"$(abs_top_srcdir)\"
src_netmodel_LDADD = $(LIB_LIBS)

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
