# SPDX-License-Identifier: Apache-2.0
noinst_LTLIBRARIES += src/libnm_result.la
src_libnm_result_la_SOURCES = \
	src/result/messages.c \
	src/result/messages.h \
	src/result/percentiles.c \
	src/result/result.c \
	src/result/result.h \
	src/result/series.c \
	src/result/series.h \
	src/result/statistics.h
src_libnm_result_la_CFLAGS = $(ROOM_CFLAGS)
