# SPDX-License-Identifier: Apache-2.0
noinst_LTLIBRARIES += src/libnm_engine.la
src_libnm_engine_la_SOURCES = \
	src/engine/accept/accept.h \
	src/engine/accept/handoff.c \
	src/engine/accept/listener.c \
	src/engine/accept/mux.c \
	src/engine/accept/ports.c \
	src/engine/accept/rendezvous.c \
	src/engine/accept/rendezvous.h \
	src/engine/closing.c \
	src/engine/commands.h \
	src/engine/engine.c \
	src/engine/engine.h \
	src/engine/engine_priv.h \
	src/engine/events.c \
	src/engine/events.h \
	src/engine/fleeting.c \
	src/engine/flowop_stats.h \
	src/engine/level.c \
	src/engine/limit.c \
	src/engine/lone.c \
	src/engine/loop/fault.c \
	src/engine/loop/interp.c \
	src/engine/loop/interp.h \
	src/engine/loop/loop.c \
	src/engine/loop/pacer.c \
	src/engine/loop/pacer.h \
	src/engine/loop/process.c \
	src/engine/loop/process.h \
	src/engine/loop/runq.h \
	src/engine/loop/timer.c \
	src/engine/loop/timer.h \
	src/engine/memory.c \
	src/engine/memory.h \
	src/engine/observe/flowop_stats.c \
	src/engine/observe/observe.h \
	src/engine/observe/tcp_sampler.c \
	src/engine/phase/drain.c \
	src/engine/phase/flush.c \
	src/engine/phase/flush.h \
	src/engine/phase/phase.c \
	src/engine/phase/phase.h \
	src/engine/phase/rcvlowat.c \
	src/engine/phase/rcvlowat.h \
	src/engine/phase/reconnect.c \
	src/engine/phase/reconnect.h \
	src/engine/polled.c \
	src/engine/query.c \
	src/engine/ring.c \
	src/engine/spare.c \
	src/engine/tcp_sampler.h \
	src/engine/thread.c \
	src/engine/thread.h \
	src/engine/wait/epoll.c \
	src/engine/waits.h \
	src/engine/worker.c
src_libnm_engine_la_CFLAGS = $(ROOM_CFLAGS)
