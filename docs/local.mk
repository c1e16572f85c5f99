# SPDX-License-Identifier: Apache-2.0
# Manual pages: what the option tables say is put in by the program itself.
nodist_man_MANS += docs/netmodel.1 docs/netmodel-profile.5 docs/libnetmodel.3
CLEANFILES += docs/netmodel.1 docs/netmodel-profile.5 docs/libnetmodel.3

docs/netmodel.1: $(top_srcdir)/docs/netmodel.1.in src/netmodel$(EXEEXT)
	$(AM_V_GEN)$(MKDIR_P) docs && src/netmodel$(EXEEXT) --generate man-options >$@.part && \
	$(SED) -e '/^@GENERATED_OPTIONS@$$/r $@.part' -e '/^@GENERATED_OPTIONS@$$/d' \
		$(top_srcdir)/docs/netmodel.1.in >$@.tmp && rm -f $@.part && mv $@.tmp $@

docs/netmodel-profile.5: $(top_srcdir)/docs/netmodel-profile.5.in src/netmodel$(EXEEXT)
	$(AM_V_GEN)$(MKDIR_P) docs && src/netmodel$(EXEEXT) --generate man-language >$@.part && \
	$(SED) -e '/^@GENERATED_OPTIONS@$$/r $@.part' -e '/^@GENERATED_OPTIONS@$$/d' \
		$(top_srcdir)/docs/netmodel-profile.5.in >$@.tmp && rm -f $@.part && mv $@.tmp $@

docs/libnetmodel.3: $(top_srcdir)/docs/libnetmodel.3.in src/netmodel$(EXEEXT)
	$(AM_V_GEN)$(MKDIR_P) docs && src/netmodel$(EXEEXT) --generate man-library >$@.part && \
	$(SED) -e '/^@GENERATED_OPTIONS@$$/r $@.part' -e '/^@GENERATED_OPTIONS@$$/d' \
		$(top_srcdir)/docs/libnetmodel.3.in >$@.tmp && rm -f $@.part && mv $@.tmp $@

docdatadir = $(pkgdatadir)
dist_docdata_DATA = docs/netmodel-result.schema.json

EXTRA_DIST += docs/netmodel.1.in docs/netmodel-profile.5.in docs/libnetmodel.3.in docs/architecture.md docs/tutorial.md \
	docs/embedding.md docs/adding-a-figure.md docs/adding-a-report.md \
	docs/adding-a-flowop.md docs/adding-a-transport.md docs/adding-a-streaming-output.md docs/adding-an-arrival-law.md \
	docs/adding-an-app.md docs/applications.md \
	docs/control-protocol.md docs/kubernetes.md docs/lab.md docs/memcached.md docs/metrics.md docs/neper.md docs/packaging.md docs/profiles.md docs/reliability.md \
	docs/scaling-study.md docs/systemd.md docs/testing.md docs/uperf.md docs/words.md docs/decisions docs/examples docs/images
