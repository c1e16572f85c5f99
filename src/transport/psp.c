/* SPDX-License-Identifier: Apache-2.0 */
/* TCP whose segments the network card encrypts: PSP. A connection begins as plain TCP; over it both
 * ends give each other, protected by TLS, the keys that their kernels give them, and from then on
 * it is a plain socket again, whose segments are PSP's. */
#include <assert.h>
#include <endian.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/crypto.h>
#include <openssl/err.h>

#include "host/syscalls.h"
#include "transport/address.h"
#include "transport/handshake.h"
#include "transport/psp_priv.h"
#include "transport/socket.h"
#include "transport/errqueue.h"
#include "transport/tcp_fields.h"

/* The longest that bytes may remain unacknowledged: segments that a device refuses vanish without a
 * sign. */
#define HANDSHAKE_MS 10000
/* As long as any message of the exchange. */
#define CONFIRM_BYTES 16
#define WIPED_BYTES   65536

static const struct nm_opt psp_opts[] = {
	NM_INET_OPTS,
	NM_OPT(ENUM, struct nm_psp_opts, version, "version", .choices = nm_psp_version_words,
	       .def = "aes-gcm-128",
	       .help = "how segments are protected, at both ends; those with gmac encrypt nothing, "
		       "they only prove who has sent them"),
	NM_OPT_END,
};

enum stage {
	STAGE_TCP,     /* connects, and sends its preamble */
	STAGE_TLS,     /* shakes hands, and gets the own key of the kernel */
	STAGE_KEY_OUT, /* the own key is sent */
	STAGE_KEY_IN,  /* the peer's key is received */
	STAGE_SECURE,  /* the peer's key goes to the kernel: all from now on is PSP's */
	/* a known message, without which the first bytes of a flow could be missing */
	STAGE_CONFIRM_OUT,
	STAGE_CONFIRM_IN,
	STAGE_DONE
};

/* The connecting end speaks first, so that nothing comes in the clear any more when either end sets
 * its key. And both ends speak: one that only listened would drop the last acknowledgement, if it
 * came late and in the clear, and the other end would wait. */
static const enum stage connecting[] = {STAGE_TCP,	  STAGE_TLS,	STAGE_KEY_OUT,
					STAGE_KEY_IN,	  STAGE_SECURE, STAGE_CONFIRM_OUT,
					STAGE_CONFIRM_IN, STAGE_DONE};
static const enum stage accepting[] = {STAGE_TLS,    STAGE_KEY_IN,     STAGE_KEY_OUT,
				       STAGE_SECURE, STAGE_CONFIRM_IN, STAGE_CONFIRM_OUT,
				       STAGE_DONE};

/* A key on the wire: numbers big endian, the key with zeros behind. */
struct wire {
	uint32_t version, spi;
	unsigned char key[NM_PSP_MAX_KEY];
};

static_assert(sizeof(struct wire) == 8 + NM_PSP_MAX_KEY, "no padding");

/* One connection until it is ready: conn->state; after that there is none. */
struct psp_conn {
	SSL *ssl;
	struct nm_psp_started *started;
	struct nm_ssl_io io;
	const enum stage *at;
	struct nm_psp_key own, peers;
	struct wire wire; /* the key that is sent or received */
	unsigned char confirm[CONFIRM_BYTES];
	size_t moved; /* bytes, in this stage */
	bool later;   /* all but TCP is left to a flowop of its own */
	struct nm_handshake_preamble preamble;
	const char *why; /* the cause of a failure; static */
};

static const unsigned char confirms[2][CONFIRM_BYTES] = {"PSP of who conn", "PSP of who acce"};

static int failed(struct psp_conn *conn, const char *why, int r)
{
	conn->why = why;
	return r;
}

/* The -errno of a call of OpenSSL that has not succeeded. */
static int outcome(const struct psp_conn *conn, int returned)
{
	unsigned long error;
	int r = nm_ssl_outcome(conn->ssl, returned, &error);

	return r ? r : -ECONNRESET;
}

/* ---- the stages: each returns 0 when it is over ---- */

static int be_tcp(struct nm_conn *c, struct psp_conn *conn)
{
	int r = nm_socket_established(c);

	if (r < 0)
		return r;
	/* Each message is answered before the next is sent, but for the last of TLS. */
	(void)nm_socket_set(c->fd, IPPROTO_TCP, TCP_NODELAY, 1);
	(void)nm_socket_set(c->fd, IPPROTO_TCP, TCP_USER_TIMEOUT, HANDSHAKE_MS);
	return nm_handshake_send_preamble(c->fd, &conn->preamble);
}

static const char *receive_why(int r)
{
	switch (r) {
	case -EINVAL:
		return "its route does not leave through a PSP device";
	case -EOPNOTSUPP:
		return "the device by which its route leaves does not have the version";
	default:
		return "the kernel gives no key to receive with";
	}
}

/* Gets the key with which the peer is to send. From then on the socket receives both in the clear
 * and by PSP. */
static int get_own_key(struct nm_conn *c, struct psp_conn *conn)
{
	struct nm_psp_started *s = conn->started;
	struct nm_psp *psp = nm_psp_borrow(s);
	uint32_t rotations[NM_PSP_MAX_DEVICES];
	uint32_t device;

	/* A rotation that is reported meanwhile may concern the key. */
	for (size_t i = 0; i < s->n_devices; i++)
		rotations[i] = atomic_load_explicit(&s->rotations[i], memory_order_relaxed);
	if (!psp)
		return failed(conn, "no netlink socket", -EMFILE);
	int r = nm_psp_receive(psp, c->fd, s->version, &conn->own, &device);

	nm_psp_give_back(s, psp);
	if (r < 0)
		return failed(conn, receive_why(r), r);
	for (size_t i = 0; i < s->n_devices; i++) {
		if (s->devices[i].id != device)
			continue;
		c->device = (uint8_t)(1 + i);
		c->stream.rotations = (uint16_t)rotations[i];
		return 0;
	}
	/* The kernel gives keys even so, and the device then drops all that is sent with them. */
	return failed(
		conn,
		"the device by which its route leaves does not take the version, or was made anew",
		-EOPNOTSUPP);
}

static int be_tls(struct nm_conn *c, struct psp_conn *conn)
{
	int r = SSL_do_handshake(conn->ssl);

	if (r != 1) {
		r = outcome(conn, r);
		if (r == -EAGAIN || r == -EINPROGRESS)
			return r;
		/* Nobody else knows the secret. */
		return failed(conn, "the other end is not of this run",
			      conn->started->accepting ? -ECONNABORTED : r);
	}
	return get_own_key(c, conn);
}

static int send_key(struct nm_conn *c, struct psp_conn *conn)
{
	size_t n;

	(void)c;
	conn->wire = (struct wire){.version = htobe32(conn->started->version),
				   .spi = htobe32(conn->own.spi)};
	memcpy(conn->wire.key, conn->own.key, conn->own.size);
	/* One record, whole or not at all. */
	int r = SSL_write_ex(conn->ssl, &conn->wire, sizeof conn->wire, &n);

	return r == 1 ? 0 : outcome(conn, r);
}

static int receive_key(struct nm_conn *c, struct psp_conn *conn)
{
	char *to = (char *)&conn->wire;
	size_t n;

	(void)c;
	while (conn->moved < sizeof conn->wire) {
		int r = SSL_read_ex(conn->ssl, to + conn->moved, sizeof conn->wire - conn->moved,
				    &n);

		if (r != 1)
			return outcome(conn, r);
		conn->moved += n;
	}
	if (be32toh(conn->wire.version) != conn->started->version)
		return failed(conn, "the other end means another version", -EPROTO);
	conn->peers.spi = be32toh(conn->wire.spi);
	conn->peers.size = conn->own.size;
	memcpy(conn->peers.key, conn->wire.key, conn->peers.size);
	return 0;
}

static int be_secure(struct nm_conn *c, struct psp_conn *conn)
{
	struct nm_psp *psp = nm_psp_borrow(conn->started);

	if (!psp)
		return failed(conn, "no netlink socket", -EMFILE);
	int r = nm_psp_send(psp, c->fd, conn->started->version, &conn->peers);

	nm_psp_give_back(conn->started, psp);
	if (r == -EBUSY)
		return failed(conn, "clear bytes have come that are no part of the exchange", r);
	return r < 0 ? failed(conn, "the kernel does not take the key to send with", r) : 0;
}

static int send_confirm(struct nm_conn *c, struct psp_conn *conn)
{
	ssize_t n =
		nm_sys_send(c->fd, confirms[conn->started->accepting], CONFIRM_BYTES, MSG_NOSIGNAL);

	if (n == CONFIRM_BYTES)
		return 0;
	return n == -EAGAIN ? -EINPROGRESS : n < 0 ? (int)n : -EMSGSIZE;
}

static int receive_confirm(struct nm_conn *c, struct psp_conn *conn)
{
	while (conn->moved < CONFIRM_BYTES) {
		ssize_t n = nm_sys_recv(c->fd, conn->confirm + conn->moved,
					CONFIRM_BYTES - conn->moved, 0);

		if (n == -EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? (int)n : -ECONNRESET;
		conn->moved += (size_t)n;
	}
	if (memcmp(conn->confirm, confirms[!conn->started->accepting], CONFIRM_BYTES) == 0)
		return 0;
	return failed(conn, "what has come first is not what the other end sends first", -EPROTO);
}

static int (*const stages[])(struct nm_conn *, struct psp_conn *) = {
	[STAGE_TCP] = be_tcp,
	[STAGE_TLS] = be_tls,
	[STAGE_KEY_OUT] = send_key,
	[STAGE_KEY_IN] = receive_key,
	[STAGE_SECURE] = be_secure,
	[STAGE_CONFIRM_OUT] = send_confirm,
	[STAGE_CONFIRM_IN] = receive_confirm,
};

/* ---- life ---- */

/* Registers that have held a key may have been saved below this frame: by the dynamic linker at the
 * first call of a function, for one. The deepest call is the one that asks the kernel, with its
 * answer on the stack. */
static __attribute__((noinline)) void wipe_stack(void)
{
	unsigned char below[WIPED_BYTES];

	OPENSSL_cleanse(below, sizeof below);
}

static void forget(struct nm_conn *c)
{
	struct psp_conn *conn = c->state;

	wipe_stack();
	SSL_free(conn->ssl);
	ERR_clear_error();
	OPENSSL_cleanse(conn, sizeof *conn);
	free(conn);
	c->state = NULL;
}

/* From now on the socket is like any other. */
static void settle_down(struct nm_conn *c)
{
	const struct psp_conn *conn = c->state;

	if (!conn->started->nodelay)
		(void)nm_socket_set(c->fd, IPPROTO_TCP, TCP_NODELAY, 0);
	(void)nm_socket_set(c->fd, IPPROTO_TCP, TCP_USER_TIMEOUT, conn->started->user_timeout_ms);
	forget(c);
	/* Bytes that have come behind the last message have no event of their own. */
	c->flags |= NM_CONN_IN | NM_CONN_OUT;
}

static int psp_established(struct nm_conn *c)
{
	struct psp_conn *conn = c->state;

	conn->io.dry = false;
	while (*conn->at != STAGE_DONE) {
		int r = stages[*conn->at](c, conn);

		if (r < 0)
			return r;
		conn->moved = 0;
		conn->at++;
		if (conn->later && *conn->at == STAGE_TLS) {
			conn->later = false;
			return 0;
		}
	}
	settle_down(c);
	return 0;
}

/* The exchange of keys will go over the socket of c: 0 or -errno. */
static int attach(struct nm_conn *c)
{
	struct nm_psp_started *started = c->state;
	struct psp_conn *conn = calloc(1, sizeof *conn);

	if (!conn)
		return -ENOMEM;
	c->device = 0;
	conn->started = started;
	conn->io.fd = c->fd;
	conn->at = started->accepting ? accepting : connecting;
	conn->ssl = nm_psp_tls_new(started, &conn->io);
	if (!conn->ssl) {
		free(conn);
		return -ENOMEM;
	}
	if (started->accepting) {
		(void)nm_socket_set(c->fd, IPPROTO_TCP, TCP_NODELAY, 1);
		(void)nm_socket_set(c->fd, IPPROTO_TCP, TCP_USER_TIMEOUT, HANDSHAKE_MS);
	}
	c->state = conn;
	return 0;
}

static int psp_connect(struct nm_conn *c, const void *opts, const struct nm_addr *to)
{
	bool later = c->wishes & NM_CONN_DEFER_HANDSHAKE;
	int r = nm_handshake_connect(c, opts, to, attach);

	if (r == -EINPROGRESS)
		((struct psp_conn *)c->state)->later = later;
	return r;
}

static void psp_queue(struct nm_conn *c, const void *bytes, size_t size)
{
	struct psp_conn *conn = c->state;

	nm_handshake_leave_preamble(&conn->preamble, bytes, size);
}

static int psp_accept(struct nm_conn *c, int listen_fd, const void *opts,
		      const struct nm_peers *peers)
{
	bool later = c->wishes & NM_CONN_DEFER_HANDSHAKE;
	int r = nm_handshake_accept(c, listen_fd, opts, peers, attach);

	return later && r == -EINPROGRESS ? 0 : r;
}

static int psp_attach(struct nm_conn *c, int fd, const void *opts)
{
	bool later = c->wishes & NM_CONN_DEFER_HANDSHAKE;
	int r = nm_handshake_attach(c, fd, opts, attach);

	return later && r == -EINPROGRESS ? 0 : r;
}

static void psp_close(struct nm_conn *c, bool reset)
{
	nm_mapped_end(c);
	if (c->state)
		forget(c);
	nm_socket_close(c, reset);
}

static bool psp_why(const struct nm_conn *c, char *buf, size_t size)
{
	static const char *const during[] = {
		[STAGE_TCP] = NULL,
		[STAGE_TLS] = "the exchange of keys begins",
		[STAGE_KEY_OUT] = "its key is sent",
		[STAGE_KEY_IN] = "the other end's key is waited for",
		[STAGE_SECURE] = "the key is set",
		[STAGE_CONFIRM_OUT] = "the first bytes over PSP are sent",
		[STAGE_CONFIRM_IN] = "the first bytes over PSP are waited for: a device that "
				     "refuses segments drops them without a sign",
		[STAGE_DONE] = NULL,
	};
	const struct psp_conn *conn = c->state;

	if (!conn || (!conn->why && !during[*conn->at]))
		return false;
	if (conn->why)
		snprintf(buf, size, "PSP: %s", conn->why);
	else
		snprintf(buf, size, "PSP: while %s", during[*conn->at]);
	return true;
}

const struct nm_transport nm_transport_psp = {
	.name = "psp",
	.help = "TCP whose segments the network card encrypts (PSP), over IPv4 or IPv6",
	.caps = NM_TRANSPORT_RELIABLE | NM_TRANSPORT_WAITS | NM_TRANSPORT_TCP |
		NM_TRANSPORT_PREAMBLE | NM_TRANSPORT_DEFERS_HANDSHAKE | NM_TRANSPORT_RECONNECTS,
	.opts = psp_opts,
	.opts_size = sizeof(struct nm_psp_opts),
	.listen = nm_inet_listen,
	.endpoint = nm_addr_endpoint,
	.connect = psp_connect,
	.established = psp_established,
	.accept = psp_accept,
	.close = psp_close,
	.finish = nm_socket_finish,
	.why = psp_why,
	.tcp_fields = nm_tcp_fields_read,
	.info = nm_inet_info,
	.checks = &(const struct nm_transport_checks){.prepare = nm_inet_prepare,
						      .group = nm_inet_check_group,
						      .available = nm_psp_available},
	.shared = &(const struct nm_transport_shared){.start = nm_psp_start, .stop = nm_psp_stop},
	.socket = &nm_handshake_socket,
	.preamble = &(const struct nm_transport_preamble){.attach = psp_attach, .queue = psp_queue},
	.events = &(const struct nm_transport_events){.fd = nm_psp_event_fd,
						      .next = nm_psp_event,
						      .expired = nm_psp_expired},
};
