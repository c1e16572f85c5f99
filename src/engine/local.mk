# SPDX-License-Identifier: Apache-2.0
noinst_LTLIBRARIES += src/libnm_engine.la
src_libnm_engine_la_SOURCES = \
	src/engine/closing.c \
	src/engine/detail.c \
	src/engine/detail.h \
	src/engine/detail_priv.h \
	src/engine/door.c \
	src/engine/door.h \
	src/engine/phase/drain.c \
	src/engine/engine.c \
	src/engine/engine.h \
	src/engine/commands.h \
	src/engine/engine_priv.h \
	src/engine/loop/process.h \
	src/engine/phase/phase.h \
	src/engine/events.c \
	src/engine/events.h \
	src/engine/memory.c \
	src/engine/memory.h \
	src/engine/loop/fault.c \
	src/engine/fleeting.c \
	src/engine/hubs.c \
	src/engine/level.c \
	src/engine/limit.c \
	src/engine/listen.c \
	src/engine/loop/interp.c \
	src/engine/loop/interp.h \
	src/engine/loop/loop.c \
	src/engine/loop/pacer.c \
	src/engine/loop/pacer.h \
	src/engine/loop/runq.h \
	src/engine/lone.c \
	src/engine/phase/rcvlowat.c \
	src/engine/phase/rcvlowat.h \
	src/engine/mail.c \
	src/engine/phase/phase.c \
	src/engine/polled.c \
	src/engine/ports.c \
	src/engine/loop/process.c \
	src/engine/phase/reconnect.c \
	src/engine/phase/reconnect.h \
	src/engine/ring.c \
	src/engine/sample.c \
	src/engine/phase/flush.c \
	src/engine/phase/flush.h \
	src/engine/spare.c \
	src/engine/tcp_info.c \
	src/engine/tcp_info.h \
	src/engine/thread.c \
	src/engine/thread.h \
	src/engine/loop/timer.c \
	src/engine/loop/timer.h \
	src/engine/wait/epoll.c \
	src/engine/waits.h \
	src/engine/worker.c
src_libnm_engine_la_CFLAGS = $(ROOM_CFLAGS)
