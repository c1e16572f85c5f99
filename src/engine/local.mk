# SPDX-License-Identifier: Apache-2.0
noinst_LTLIBRARIES += src/libnm_engine.la
src_libnm_engine_la_SOURCES = \
	src/engine/closing.c \
	src/engine/detail.c \
	src/engine/detail.h \
	src/engine/detail_priv.h \
	src/engine/door.c \
	src/engine/door.h \
	src/engine/drain.c \
	src/engine/engine.c \
	src/engine/engine.h \
	src/engine/engine_priv.h \
	src/engine/fail.c \
	src/engine/fleeting.c \
	src/engine/hubs.c \
	src/engine/level.c \
	src/engine/limit.c \
	src/engine/listen.c \
	src/engine/lone.c \
	src/engine/lowat.c \
	src/engine/lowat.h \
	src/engine/mail.c \
	src/engine/phase.c \
	src/engine/polled.c \
	src/engine/ports.c \
	src/engine/process.c \
	src/engine/renew.c \
	src/engine/renew.h \
	src/engine/ring.c \
	src/engine/run.c \
	src/engine/sample.c \
	src/engine/settle.c \
	src/engine/settle.h \
	src/engine/spare.c \
	src/engine/tcp_info.c \
	src/engine/tcp_info.h \
	src/engine/thread.c \
	src/engine/thread.h \
	src/engine/timers.c \
	src/engine/timers.h \
	src/engine/waits.h \
	src/engine/worker.c
src_libnm_engine_la_CFLAGS = $(ROOM_CFLAGS)
