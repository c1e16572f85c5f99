# SPDX-License-Identifier: Apache-2.0
noinst_LTLIBRARIES += src/libnm_search.la
src_libnm_search_la_SOURCES = \
	src/search/range.c \
	src/search/range.h \
	src/search/search.c \
	src/search/search.h
src_libnm_search_la_CFLAGS = $(ROOM_CFLAGS)
