/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that the transports over stream sockets share. */
#include "transport/socket.h"

#include <errno.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "transport/address.h"
#include "transport/peers.h"

int nm_socket_close_on_error(int fd, int r)
{
	if (r == 0)
		return fd;
	(void)close(fd);
	return r;
}

int nm_socket_listen(const void *opts, const struct nm_addr *local, enum nm_listen how, int backlog,
		     char text[NM_ENDPOINT_TEXT], int *ret_fd,
		     int (*open)(const void *opts, int family, bool fixed))
{
	struct nm_addr at = *local;
	uint16_t port = 0;

	if (how != NM_LISTEN_FIRST && nm_addr_parse_port(text, &port) < 0)
		return -EINVAL;
	int fd = open(opts, at.sa.ss_family, how == NM_LISTEN_FIXED);

	if (fd < 0)
		return fd;
	nm_addr_set_port(&at, port);
	if (bind(fd, (const struct sockaddr *)&at.sa, at.len) < 0 || listen(fd, backlog) < 0 ||
	    getsockname(fd, (struct sockaddr *)&at.sa, &at.len) < 0)
		return nm_socket_close_on_error(fd, -errno);
	snprintf(text, NM_ENDPOINT_TEXT, "%u", nm_addr_port(&at));
	*ret_fd = fd;
	return 0;
}

int nm_socket_connect(int fd, const struct nm_addr *to)
{
	int r = connect(fd, (const struct sockaddr *)&to->sa, to->len) < 0 ? -errno : 0;

	if (r < 0 && r != -EINPROGRESS)
		(void)close(fd);
	return r;
}

int nm_socket_accept(int listen_fd, const struct nm_peers *peers)
{
	struct nm_addr peer = {.len = sizeof peer.sa};
	int fd = accept4(listen_fd, (struct sockaddr *)&peer.sa, &peer.len,
			 SOCK_NONBLOCK | SOCK_CLOEXEC);

	if (fd < 0)
		return -errno;
	return nm_socket_close_on_error(fd, nm_peers_admit(peers, &peer) ? 0 : -ECONNABORTED);
}

static void forget(struct nm_conn *conn)
{
	conn->fd = -1;
	conn->flags = 0;
	conn->traits &= NM_CONN_HEARD;
	conn->waiter = 0;
	conn->resets = false;
	conn->ahead = 0;
	conn->abandoned_in = conn->abandoned_out = 0;
}

static void set_resets(struct nm_conn *conn, bool resets)
{
	const struct linger abort_it = {.l_onoff = resets, .l_linger = 0};

	(void)setsockopt(conn->fd, SOL_SOCKET, SO_LINGER, &abort_it, sizeof abort_it);
	conn->resets = resets;
}

void nm_conn_resets(struct nm_conn *conn)
{
	set_resets(conn, true);
}

void nm_conn_move(struct nm_conn *conn, struct nm_conn *to)
{
	*to = *conn;
	forget(conn);
}

void nm_socket_close(struct nm_conn *conn, bool reset)
{
	if (conn->fd >= 0) {
		if (conn->resets != reset)
			set_resets(conn, reset);
		(void)close(conn->fd);
	}
	forget(conn);
}

void nm_socket_finish(struct nm_conn *conn)
{
	conn->traits |= NM_CONN_FINISHED;
	(void)shutdown(conn->fd, SHUT_WR);
}

void nm_conn_hold(struct nm_conn *conn)
{
	(void)nm_socket_set(conn->fd, IPPROTO_TCP, TCP_CORK, 1);
}

void nm_conn_linger(struct nm_conn *conn, uint64_t ns)
{
	const struct linger wait = {.l_onoff = 1, .l_linger = (int)((ns + 999999999) / 1000000000)};

	(void)setsockopt(conn->fd, SOL_SOCKET, SO_LINGER, &wait, sizeof wait);
	conn->resets = false;
}

bool nm_conn_is_acknowledged(const struct nm_conn *conn)
{
	int left = 0;

	return ioctl(conn->fd, SIOCOUTQ, &left) < 0 || left == 0;
}

/* The least silence of a peer that may only be busy: jiffies count it. */
#define EAGER_MS 10u

/* How long nothing has come when the connection may be asked. */
static uint32_t patience_ms(const struct tcp_info *info, bool eager)
{
	uint32_t wait_ms = info->tcpi_rto / 1000, two_ms = info->tcpi_rtt / 500;

	if (two_ms < EAGER_MS)
		two_ms = EAGER_MS;
	return eager && two_ms < wait_ms ? two_ms : wait_ms;
}

/* Whether the connection is not over, nothing is to be acknowledged, and nothing has come for
 * long. */
static bool is_silent(int fd, bool eager)
{
	struct tcp_info info;
	socklen_t len = sizeof info;

	memset(&info, 0, sizeof info);
	if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len) < 0 ||
	    info.tcpi_state == TCP_CLOSE || info.tcpi_unacked)
		return false;
	uint32_t heard_ms = info.tcpi_last_data_recv < info.tcpi_last_ack_recv
				    ? info.tcpi_last_data_recv
				    : info.tcpi_last_ack_recv;

	return heard_ms >= patience_ms(&info, eager);
}

/* The end of what this end sends is the question: the kernel repeats it until there is an answer.
 * When that is an acknowledgement, as the other end has not closed yet, the kernel goes on to ask
 * every second. */
bool nm_conn_ask_end(struct nm_conn *conn, bool eager)
{
	if (!is_silent(conn->fd, eager))
		return false;
	(void)nm_socket_set(conn->fd, IPPROTO_TCP, TCP_KEEPIDLE, 1);
	(void)nm_socket_set(conn->fd, IPPROTO_TCP, TCP_KEEPINTVL, 1);
	(void)nm_socket_set(conn->fd, SOL_SOCKET, SO_KEEPALIVE, 1);
	nm_socket_finish(conn);
	return true;
}

bool nm_conn_has_peer(const struct nm_conn *conn)
{
	struct tcp_info info;
	socklen_t len = sizeof info;

	return getsockopt(conn->fd, IPPROTO_TCP, TCP_INFO, &info, &len) == 0 &&
	       info.tcpi_state == TCP_FIN_WAIT2;
}

void nm_conn_acknowledge(const struct nm_conn *conn)
{
	(void)nm_socket_set(conn->fd, IPPROTO_TCP, TCP_QUICKACK, 1);
}

int nm_socket_established(struct nm_conn *conn)
{
	int error = 0;
	socklen_t len = sizeof error;

	if (getsockopt(conn->fd, SOL_SOCKET, SO_ERROR, &error, &len) < 0)
		return -errno;
	/* tcp(7): a connection that is not there yet is refused, not reset. Bytes that came before
	 * the reset can be read. */
	return error == ECONNRESET ? 0 : -error;
}

void nm_conn_tls_add(struct nm_conn_tls *into, const struct nm_conn_tls *from)
{
	if (!into->connections) {
		*into = *from;
		return;
	}
	into->connections += from->connections;
	into->resumed += from->resumed;
	into->ktls_send += from->ktls_send;
	into->ktls_receive += from->ktls_receive;
}

int nm_socket_probe(int family, int type, int protocol)
{
	int fd = socket(family, type | SOCK_CLOEXEC, protocol);

	if (fd < 0)
		return -errno;
	(void)close(fd);
	return 0;
}

int nm_socket_set(int fd, int level, int option, int value)
{
	return setsockopt(fd, level, option, &value, sizeof value) < 0 ? -errno : 0;
}

int nm_socket_allow_zerocopy(struct nm_conn *conn)
{
	int r = nm_socket_set(conn->fd, SOL_SOCKET, SO_ZEROCOPY, 1);

	if (r == 0)
		conn->traits |= NM_CONN_ZEROCOPY;
	return r;
}
