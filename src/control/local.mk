# SPDX-License-Identifier: Apache-2.0
noinst_LTLIBRARIES += src/libnm_control.la
src_libnm_control_la_SOURCES = \
	src/control/able.c \
	src/control/able.h \
	src/control/address.c \
	src/control/address.h \
	src/control/beat.c \
	src/control/beat.h \
	src/control/clock_sync.c \
	src/control/clock_sync.h \
	src/control/codec.c \
	src/control/codec.h \
	src/control/codec_flows.c \
	src/control/codec_report.c \
	src/control/codec_result.c \
	src/control/codec_run.c \
	src/control/codec_setup.c \
	src/control/collect.c \
	src/control/dial.c \
	src/control/digest.c \
	src/control/digest.h \
	src/control/embedded.c \
	src/control/embedded.h \
	src/control/flow_meter.c \
	src/control/flow_meter.h \
	src/control/frame.c \
	src/control/frame.h \
	src/control/grid.c \
	src/control/grid.h \
	src/control/master.h \
	src/control/measure.c \
	src/control/measure.h \
	src/control/message.c \
	src/control/message.h \
	src/control/messages.def \
	src/control/meter.c \
	src/control/meter.h \
	src/control/observe.c \
	src/control/observe.h \
	src/control/peer.c \
	src/control/peer.h \
	src/control/phases.c \
	src/control/places.c \
	src/control/places.h \
	src/control/pump.c \
	src/control/reconcile.c \
	src/control/resolve.c \
	src/control/resolve.h \
	src/control/run.c \
	src/control/run.h \
	src/control/samples.c \
	src/control/session.c \
	src/control/session.h \
	src/control/session_priv.h \
	src/control/session_run.c \
	src/control/session_setup.c \
	src/control/setup.c \
	src/control/slave.c \
	src/control/slave.h \
	src/control/ticker.c
src_libnm_control_la_CFLAGS = $(ROOM_CFLAGS)
src_libnm_control_la_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS) $(CRYPTO_CFLAGS) -DNM_VERSION=\"$(PACKAGE_VERSION)\"
