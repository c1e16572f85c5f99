# SPDX-License-Identifier: Apache-2.0
# A transport is one file and one word here: the table of them is generated from this list.
TRANSPORTS = \
	src/transport/tcp.c \
	src/transport/mptcp.c \
	src/transport/psp.c \
	src/transport/ssl.c \
	src/transport/sctp.c \
	src/transport/unix.c \
	src/transport/udp.c \
	src/transport/vsock.c \
	src/transport/null.c

noinst_LTLIBRARIES += src/libnm_transport.la
src_libnm_transport_la_SOURCES = \
	$(TRANSPORTS) \
	src/transport/address.c \
	src/transport/address.h \
	src/transport/conn.h \
	src/transport/conn_cache.c \
	src/transport/conn_cache.h \
	src/transport/handshake.c \
	src/transport/handshake.h \
	src/transport/udp_mux.c \
	src/transport/udp_mux.h \
	src/transport/inet.c \
	src/transport/inet.h \
	src/transport/io.c \
	src/transport/io.h \
	src/transport/io_apps.h \
	src/transport/optional.h \
	src/transport/udp_batch.c \
	src/transport/udp_batch.h \
	src/transport/udp_sender.c \
	src/transport/udp_sender.h \
	src/transport/peers.c \
	src/transport/peers.h \
	src/transport/preamble.c \
	src/transport/preamble.h \
	src/transport/prover.c \
	src/transport/prover.h \
	src/transport/psp_priv.h \
	src/transport/psp_start.c \
	src/transport/psp_tls.c \
	src/transport/ring.c \
	src/transport/ring.h \
	src/transport/socket.c \
	src/transport/socket.h \
	src/transport/sockopt.c \
	src/transport/sockopt.h \
	src/transport/ssl_bio.c \
	src/transport/ssl_ctx.c \
	src/transport/ssl_priv.h \
	src/transport/ssl_params.c \
	src/transport/ssl_refusal.c \
	src/transport/strangers.c \
	src/transport/strangers.h \
	src/transport/tcp_fields.h \
	src/transport/transport.c \
	src/transport/transport.h \
	src/transport/zc_pool.c \
	src/transport/zc_pool.h \
	src/transport/errqueue.c \
	src/transport/errqueue.h
nodist_src_libnm_transport_la_SOURCES = src/transport/registry.c
src_libnm_transport_la_CFLAGS = $(ROOM_CFLAGS) $(SSL_CFLAGS) $(CRYPTO_CFLAGS) $(URING_CFLAGS)

CLEANFILES += src/transport/registry.c
src/transport/registry.c: $(top_srcdir)/src/transport/local.mk $(top_srcdir)/tools/make-registry
	$(AM_V_at)$(MKDIR_P) $(@D)
	$(AM_V_GEN)$(make_registry) transport $(TRANSPORTS) >$@.tmp && mv $@.tmp $@
