# SPDX-License-Identifier: Apache-2.0
noinst_LTLIBRARIES += src/libnm_base.la
src_libnm_base_la_SOURCES = \
	src/base/diag.c \
	src/base/buffers.h \
	src/base/diag.h \
	src/base/fixed.c \
	src/base/fixed.h \
	src/base/law.c \
	src/base/law.h \
	src/base/law_draw.c \
	src/base/law_file.c \
	src/base/law_file.h \
	src/base/law_mean.c \
	src/base/law_priv.h \
	src/base/law_table.c \
	src/base/law_text.c \
	src/base/hash.h \
	src/base/rng.c \
	src/base/rng.h \
	src/base/field.c \
	src/base/field.h \
	src/base/host_port.c \
	src/base/host_port.h \
	src/base/opt.c \
	src/base/opt.h \
	src/base/units.c \
	src/base/units.h \
	src/base/ascii.c \
	src/base/ascii.h \
	src/base/verb_name.h
src_libnm_base_la_CFLAGS = $(ROOM_CFLAGS)
