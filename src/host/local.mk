# SPDX-License-Identifier: Apache-2.0
noinst_LTLIBRARIES += src/libnm_host.la
src_libnm_host_la_SOURCES = \
	src/host/cpu_latency.c \
	src/host/cpu_loads.c \
	src/host/cpu_loads.h \
	src/host/cpufreq.c \
	src/host/irq_accounting.c \
	src/host/cpu_latency.h \
	src/host/busy_poll.c \
	src/host/busy_poll.h \
	src/host/sandbox.c \
	src/host/sandbox.h \
	src/host/signals.c \
	src/host/signals.h \
	src/host/clock.c \
	src/host/clock.h \
	src/host/cpus.c \
	src/host/cpus.h \
	src/host/facts.c \
	src/host/facts.h \
	src/host/facts_priv.h \
	src/host/file.c \
	src/host/file.h \
	src/host/fork.h \
	src/host/limits.c \
	src/host/links.c \
	src/host/notify.c \
	src/host/notify.h \
	src/host/pass_fd.c \
	src/host/pass_fd.h \
	src/host/perf.c \
	src/host/perf.h \
	src/host/priority.c \
	src/host/privileges.c \
	src/host/privileges.h \
	src/host/priority.h \
	src/host/probe.c \
	src/host/probe.h \
	src/host/proc_parse.c \
	src/host/procfile.c \
	src/host/procfile.h \
	src/host/psp.c \
	src/host/psp.h \
	src/host/residency.c \
	src/host/residency.h \
	src/host/syscalls.h \
	src/host/throttling.c \
	src/host/unhalted.c \
	src/host/unhalted.h \
	src/host/unhalted_priv.h \
	src/host/usage.c \
	src/host/usage.h \
	src/host/usage_fields.c \
	src/host/usage_priv.h \
	src/host/vectors.c \
	src/host/vectors.h \
	src/host/wake.h
src_libnm_host_la_CFLAGS = $(ROOM_CFLAGS)
src_libnm_host_la_CPPFLAGS = $(AM_CPPFLAGS) $(NL_CFLAGS) $(SECCOMP_CFLAGS) $(ZLIB_CFLAGS)
