# SPDX-License-Identifier: Apache-2.0
noinst_LTLIBRARIES += src/libnm_control.la
src_libnm_control_la_SOURCES = \
	src/control/address.c \
	src/control/address.h \
	src/control/clock_sync.c \
	src/control/clock_sync.h \
	src/control/wire/digest.c \
	src/control/wire/digest.h \
	src/control/flows.c \
	src/control/flows.h \
	src/control/heartbeat.c \
	src/control/heartbeat.h \
	src/control/interval.c \
	src/control/interval.h \
	src/control/options.c \
	src/control/options.h \
	src/control/peer.c \
	src/control/peer.h \
	src/control/preflight.c \
	src/control/preflight.h \
	src/control/resolve.c \
	src/control/resolve.h \
	src/control/snapshot.c \
	src/control/snapshot.h \
	src/control/usage.c \
	src/control/usage.h \
	src/control/windows.c \
	src/control/windows.h \
	src/control/master/assemble.c \
	src/control/master/connect.c \
	src/control/master/embedded.c \
	src/control/master/embedded.h \
	src/control/master/event_loop.c \
	src/control/master/master.h \
	src/control/master/phases.c \
	src/control/master/progress.c \
	src/control/master/reconcile.c \
	src/control/master/relay.c \
	src/control/master/run.c \
	src/control/master/run.h \
	src/control/master/setup.c \
	src/control/slave/daemon.c \
	src/control/slave/daemon.h \
	src/control/slave/session.c \
	src/control/slave/session.h \
	src/control/slave/session_priv.h \
	src/control/slave/session_run.c \
	src/control/slave/session_setup.c \
	src/control/slave/slots.c \
	src/control/slave/slots.h \
	src/control/wire/codec.c \
	src/control/wire/codec.h \
	src/control/wire/codec_flows.c \
	src/control/wire/codec_report.c \
	src/control/wire/codec_result.c \
	src/control/wire/codec_run.c \
	src/control/wire/codec_setup.c \
	src/control/wire/frame.c \
	src/control/wire/frame.h \
	src/control/wire/message.c \
	src/control/wire/message.h \
	src/control/wire/messages.def \
	src/control/wire/rows.h
src_libnm_control_la_CFLAGS = $(ROOM_CFLAGS)
src_libnm_control_la_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS) $(CRYPTO_CFLAGS) -DNM_VERSION=\"$(PACKAGE_VERSION)\"
