# SPDX-License-Identifier: Apache-2.0
noinst_LTLIBRARIES += src/libnm_stats.la
src_libnm_stats_la_SOURCES = \
	src/stats/answers.c \
	src/stats/answers.h \
	src/stats/counters.c \
	src/stats/counters.h \
	src/stats/hist.c \
	src/stats/hist.h \
	src/stats/idle_path.c \
	src/stats/idle_path.h \
	src/stats/summary.c \
	src/stats/summary.h \
	src/stats/tally.c \
	src/stats/tally.h
src_libnm_stats_la_CFLAGS = $(ROOM_CFLAGS)
