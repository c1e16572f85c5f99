# SPDX-License-Identifier: Apache-2.0
# A flowop is one file and one word here: the table of them is generated from this list.
FLOWOPS = \
	src/flowop/connect.c \
	src/flowop/accept.c \
	src/flowop/read.c \
	src/flowop/write.c \
	src/flowop/send.c \
	src/flowop/recv.c \
	src/flowop/exchange.c \
	src/flowop/sendfile.c \
	src/flowop/sendfilev.c \
	src/flowop/think.c \
	src/flowop/sockopt.c \
	src/flowop/ping.c \
	src/flowop/echo.c \
	src/flowop/get.c \
	src/flowop/set.c \
	src/flowop/delete.c \
	src/flowop/add.c \
	src/flowop/replace.c \
	src/flowop/append.c \
	src/flowop/prepend.c \
	src/flowop/incr.c \
	src/flowop/decr.c \
	src/flowop/touch.c \
	src/flowop/gat.c \
	src/flowop/cas.c \
	src/flowop/http.c \
	src/flowop/query.c \
	src/flowop/command.c \
	src/flowop/serve.c \
	src/flowop/disconnect.c \
	src/flowop/handshake.c \
	src/flowop/nop.c

# An arrival law, too.
ARRIVAL_LAWS = \
	src/flowop/arrival_law/const.c \
	src/flowop/arrival_law/poisson.c \
	src/flowop/arrival_law/uniform.c \
	src/flowop/arrival_law/ramp.c \
	src/flowop/arrival_law/steps.c \
	src/flowop/arrival_law/burst.c \
	src/flowop/arrival_law/load.c \
	src/flowop/arrival_law/trace.c

noinst_LTLIBRARIES += src/libnm_flowop.la
src_libnm_flowop_la_SOURCES = \
	$(FLOWOPS) \
	$(ARRIVAL_LAWS) \
	src/flowop/arrival_law/arrival_law.h \
	src/flowop/arrival_law/schedule.c \
	src/flowop/arrival_law/schedule.h \
	src/flowop/multipath.c \
	src/flowop/multipath.h \
	src/flowop/common.c \
	src/flowop/common.h \
	src/flowop/datagram.c \
	src/flowop/datagram.h \
	src/flowop/abandoned.c \
	src/flowop/ask.c \
	src/flowop/ask_message.c \
	src/flowop/asking.h \
	src/flowop/tcp_fallback.c \
	src/flowop/tcp_fallback.h \
	src/flowop/window.c \
	src/flowop/window.h \
	src/flowop/ask.h \
	src/flowop/key_opts.h \
	src/flowop/greet.c \
	src/flowop/greet.h \
	src/flowop/life.c \
	src/flowop/life.h \
	src/flowop/listening.h \
	src/flowop/living.c \
	src/flowop/living.h \
	src/flowop/serve_all.c \
	src/flowop/serve_messages.c \
	src/flowop/abandoned.h \
	src/flowop/disconnect.h \
	src/flowop/files.c \
	src/flowop/files.h \
	src/flowop/due.c \
	src/flowop/due.h \
	src/flowop/flow.h \
	src/flowop/flowop.c \
	src/flowop/flowop.h \
	src/flowop/pseudo_ops.c \
	src/flowop/pseudo_ops.h \
	src/flowop/ideal.c \
	src/flowop/ideal.h \
	src/flowop/request.h \
	src/flowop/rounds.c \
	src/flowop/rounds.h \
	src/flowop/message.c \
	src/flowop/message.h \
	src/flowop/mix.c \
	src/flowop/mix.h \
	src/flowop/replay.c \
	src/flowop/replay.h \
	src/flowop/open_opts.c \
	src/flowop/open_opts.h \
	src/flowop/pacer.h \
	src/flowop/pipeline.c \
	src/flowop/pipeline.h \
	src/flowop/queue.c \
	src/flowop/queue.h \
	src/flowop/queued.c \
	src/flowop/queued.h \
	src/flowop/recvfile.c \
	src/flowop/solitary.c \
	src/flowop/solitary.h \
	src/flowop/stamp.c \
	src/flowop/stamp.h \
	src/flowop/copy_modes.c \
	src/flowop/copy_modes.h
nodist_src_libnm_flowop_la_SOURCES = src/flowop/registry.c src/flowop/arrival_law/registry.c
src_libnm_flowop_la_CFLAGS = $(ROOM_CFLAGS)

CLEANFILES += src/flowop/registry.c src/flowop/arrival_law/registry.c
src/flowop/registry.c: $(top_srcdir)/src/flowop/local.mk $(top_srcdir)/tools/make-registry
	$(AM_V_at)$(MKDIR_P) $(@D)
	$(AM_V_GEN)$(make_registry) flowop $(FLOWOPS) >$@.tmp && mv $@.tmp $@
src/flowop/arrival_law/registry.c: $(top_srcdir)/src/flowop/local.mk $(top_srcdir)/tools/make-registry
	$(AM_V_at)$(MKDIR_P) $(@D)
	$(AM_V_GEN)$(make_registry) flowop/arrival_law $(ARRIVAL_LAWS) >$@.tmp && mv $@.tmp $@
