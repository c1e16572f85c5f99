# SPDX-License-Identifier: Apache-2.0
noinst_LTLIBRARIES += src/libnm_profile.la
src_libnm_profile_la_SOURCES = \
	src/profile/encoding.c \
	src/profile/encoding.h \
	src/profile/file.c \
	src/profile/legacy/nesting.c \
	src/profile/legacy/normalise.c \
	src/profile/legacy/normalise.h \
	src/profile/legacy/normalise_priv.h \
	src/profile/legacy/rewriting.c \
	src/profile/legacy/tags.c \
	src/profile/tree.c \
	src/profile/tree.h
src_libnm_profile_la_CFLAGS = $(ROOM_CFLAGS)
src_libnm_profile_la_CPPFLAGS = $(AM_CPPFLAGS) $(XML_CFLAGS)
