# SPDX-License-Identifier: Apache-2.0
# make check: the unit tests, then the checks of style, then the tests of the program. CHECKS= leaves the last two out.
CHECKS = style net

# Where ./quickstart check puts the tools of requirements.txt; they may as well be on the PATH.
VENV = $(abs_top_srcdir)/build/venv

check-local: check-TESTS
	@failed=; for check in $(CHECKS); do $(MAKE) check-$$check || failed="$$failed check-$$check"; done; \
	test -z "$$failed" || { echo "failed:$$failed" >&2; exit 1; }

check-style:
	@PATH="$(VENV)/bin:$$PATH" CC="$(CC)" PKG_CONFIG="$(PKG_CONFIG)" \
		$(top_srcdir)/tools/check-style $(top_srcdir) $(abs_builddir)

check-net: all-am
	@PATH="$(VENV)/bin:$$PATH" NETMODEL="$(abs_builddir)/src/netmodel$(EXEEXT)" \
		$(top_srcdir)/tools/check-net $(top_srcdir) $(PYTEST_FLAGS)

check-vm: all-am
	@PATH="$(VENV)/bin:$$PATH" NETMODEL="$(abs_builddir)/src/netmodel$(EXEEXT)" \
		$(top_srcdir)/tests/vm/run $(PYTEST_FLAGS)

# What make check would build, for a compiler of which only the opinion is asked.
check-programs: all-am $(check_PROGRAMS)

.PHONY: check-net check-vm check-programs check-style fuzz fuzz-names
