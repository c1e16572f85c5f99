# SPDX-License-Identifier: Apache-2.0
noinst_LTLIBRARIES += src/libnm_result.la
src_libnm_result_la_SOURCES = \
	src/result/datagram_stats.c \
	src/result/datagram_stats.h \
	src/result/difference.c \
	src/result/difference.h \
	src/result/load.c \
	src/result/load.h \
	src/result/percentiles.c \
	src/result/phase.h \
	src/result/pool.c \
	src/result/pool.h \
	src/result/replayed.c \
	src/result/replayed.h \
	src/result/result.c \
	src/result/result.h \
	src/result/runs.c \
	src/result/runs.h \
	src/result/statistics.c \
	src/result/statistics.h \
	src/result/window.c \
	src/result/window.h
src_libnm_result_la_CFLAGS = $(ROOM_CFLAGS)
