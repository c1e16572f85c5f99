/* SPDX-License-Identifier: Apache-2.0 */
/* Sockets of TCP and Multipath TCP: their options, listeners, connections and statistics. */
#include "transport/inet.h"

#include <errno.h>
#include <linux/capability.h>
#include <linux/sockios.h>
#include <linux/tcp.h> /* glibc's has not all of it */
#include <math.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "host/privileges.h"
#include "host/procfile.h"
#include "transport/address.h"
#include "transport/peers.h"
#include "transport/socket.h"
#include "transport/tcp_fields.h"

#ifndef TCP_TX_DELAY
#define TCP_TX_DELAY 37
#endif

#define FASTOPEN_QUEUE                                                                             \
	4096 /* connections at a listener whose handshake goes on beside their data */

enum quickack { QUICKACK_KERNEL, QUICKACK_YES, QUICKACK_NO };

const char *const nm_quickack_words[] = {"kernel", "yes", "no", NULL};

static void put_congestion_control(struct nm_setting *setting, const char *name)
{
	nm_setting_put_text(setting, "cc", IPPROTO_TCP, TCP_CONGESTION, name);
}

#define CONTROLS "/proc/sys/net/ipv4/tcp_%s_congestion_control"

/* Both ends set it, so that a host without it cannot take part; the kernel may load it as a
 * module. */
static int check_congestion_control(const char *name, struct nm_why *why)
{
	char has[256], all[256];
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return 0; /* the connection itself will tell what is wrong */
	struct nm_setting setting = {.fd = fd};

	put_congestion_control(&setting, name);
	(void)close(fd);
	const int r = setting.error;

	if (r == 0)
		return 0;
	nm_procfile_line(has, sizeof has, CONTROLS, "available");
	nm_procfile_line(all, sizeof all, CONTROLS, "allowed");
	const char *more =
		nm_privileges_has(CAP_NET_ADMIN)
			? ""
			: ": others need CAP_NET_ADMIN, which slaves lend with --allow cc";
	if (r == -ENOENT)
		return nm_why_set(
			why, "cc",
			"cc=\"%s\": this host has no such congestion control; it has: %s%s", name,
			has, more);
	return nm_why_set(why, "cc", "cc=\"%s\": %s%s%s%s", name, strerror(-r),
			  r == -EPERM ? ": every process may have " : "", r == -EPERM ? all : "",
			  r == -EPERM ? more : "");
}

static int check_mss(uint64_t bytes, struct nm_why *why)
{
	if (!bytes || bytes >= NM_MSS_LEAST)
		return 0;
	return nm_why_set(why, "mss", "mss=\"%llu\": must be 0, or from %u to %u bytes",
			  (unsigned long long)bytes, NM_MSS_LEAST, NM_MSS_MOST);
}

#define ECN_BITS 3u

/* The kernel would leave these bits out without a word. */
static int check_tos(uint64_t tos, struct nm_why *why)
{
	if (!(tos & ECN_BITS))
		return 0;
	return nm_why_set(why, "tos",
			  "tos=\"%llu\": must be a multiple of 4: over TCP the two lowest bits "
			  "(ECN) are the kernel's",
			  (unsigned long long)tos);
}

int nm_inet_prepare(void *opts, struct nm_why *why)
{
	struct nm_inet_opts *o = opts;
	int r = nm_sock_prepare(&o->sock, why);

	if (r == 0)
		r = check_mss(o->mss_bytes, why);
	if (r == 0)
		r = check_tos(o->sock.tos, why);
	if (r == 0 && o->congestion_control && *o->congestion_control)
		r = check_congestion_control(o->congestion_control, why);
	return r;
}

int nm_inet_check_group(const void *opts, uint32_t n_flows, uint32_t port, struct nm_why *why)
{
	const struct nm_inet_opts *o = opts;

	if (port && port + o->num_ports - 1 > 65535)
		return nm_why_set(why, "num_ports",
				  "num_ports=\"%llu\": from port %u on there are %u ports only",
				  (unsigned long long)o->num_ports, port, 65536 - port);
	return nm_sock_check_group(opts, n_flows, port, why);
}

static void put_keepalive(struct nm_setting *setting, uint64_t ns)
{
	int s = (int)((ns + 999999999) / 1000000000);

	nm_setting_put(setting, ns, "keepalive", SOL_SOCKET, SO_KEEPALIVE, 1);
	nm_setting_put(setting, ns, "keepalive", IPPROTO_TCP, TCP_KEEPIDLE, s);
	nm_setting_put(setting, ns, "keepalive", IPPROTO_TCP, TCP_KEEPINTVL, s);
}

/* A paced connection need not hold more bytes than it sends in a moment: it ends only when it has
 * sent them all at its pace, which may take many times as long as the test. */
#define PACED_HELD_S   0.02
#define PACED_HELD_MIN 4096.0

static int notsent_lowat(const struct nm_inet_opts *o)
{
	double held = o->sock.max_pacing_bps / 8 * PACED_HELD_S;

	if (o->notsent_lowat_bytes || o->sock.max_pacing_bps <= 0)
		return (int)o->notsent_lowat_bytes;
	return (int)fmin(fmax(held, PACED_HELD_MIN), INT32_MAX);
}

/* Options that must be set before listen or connect; accepted sockets inherit them. */
static void put_early(struct nm_setting *setting, const struct nm_inet_opts *o, bool connecting)
{
	nm_setting_common(setting, &o->sock, connecting);
	nm_setting_put(setting, o->nodelay, "nodelay", IPPROTO_TCP, TCP_NODELAY, 1);
	put_congestion_control(setting, o->congestion_control);
	nm_setting_put(setting, o->mss_bytes, "mss", IPPROTO_TCP, TCP_MAXSEG, (int)o->mss_bytes);
	nm_setting_put(setting, notsent_lowat(o), "notsent_lowat", IPPROTO_TCP, TCP_NOTSENT_LOWAT,
		       notsent_lowat(o));
	nm_setting_put(setting, o->user_timeout_ns, "user_timeout", IPPROTO_TCP, TCP_USER_TIMEOUT,
		       (int)((o->user_timeout_ns + 999999) / 1000000));
	put_keepalive(setting, o->keepalive_ns);
}

/* Sets the options that must not concern the handshake. */
static void put_late(struct nm_setting *setting, const struct nm_inet_opts *o)
{
	nm_setting_put(setting, o->tx_delay_ns, "tcp_tx_delay", IPPROTO_TCP, TCP_TX_DELAY,
		       (int)((o->tx_delay_ns + 999) / 1000));
	nm_setting_put(setting, o->quickack != QUICKACK_KERNEL, "quickack", IPPROTO_TCP,
		       TCP_QUICKACK, o->quickack == QUICKACK_YES);
}

static bool has_late(const struct nm_inet_opts *o)
{
	return o->tx_delay_ns || o->quickack != QUICKACK_KERNEL;
}

static int set_late(int fd, const struct nm_inet_opts *o)
{
	struct nm_setting setting = {.fd = fd};

	put_late(&setting, o);
	return setting.error;
}

/* The kernel would cut a longer backlog without a word. */
static int check_backlog(const struct nm_inet_opts *o, char *why, size_t why_size)
{
	unsigned long most = o->backlog ? nm_procfile_somaxconn() : 0;

	if (!most || o->backlog <= most)
		return 0;
	snprintf(why, why_size,
		 "listen_backlog=\"%llu\": more than net.core.somaxconn, which is %lu here",
		 (unsigned long long)o->backlog, most);
	return -EINVAL;
}

/* Sets all options of this end on a socket that is for nothing else, so that one that cannot be set
 * is reported by name. */
int nm_inet_start(const void *opts, const struct nm_start *how, void **ret_started, char *why,
		  size_t why_size)
{
	const struct nm_inet_opts *o = opts;
	struct nm_setting setting = {.family = AF_INET};

	*ret_started = NULL;
	setting.fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, o->protocol);
	if (setting.fd < 0)
		return -errno;
	put_early(&setting, o, !how->accepting);
	put_late(&setting, o);
	nm_setting_find_cut(&setting, &o->sock, how->cut);
	(void)close(setting.fd);
	int r = nm_setting_why(&setting, why, why_size);

	if (r == 0 && how->accepting)
		r = check_backlog(o, why, why_size);
	else if (r == 0 && !how->can_fail)
		r = nm_sock_try_sources(&o->sock, how, why, why_size);
	return r;
}

uint32_t nm_inet_ports(const void *opts)
{
	const struct nm_inet_opts *o = opts;

	return (uint32_t)o->num_ports;
}

uint64_t nm_inet_mss_bytes(const void *opts)
{
	const struct nm_inet_opts *o = opts;

	return o->mss_bytes;
}

uint64_t nm_inet_tx_delay_ns(const void *opts)
{
	const struct nm_inet_opts *o = opts;

	return o->tx_delay_ns;
}

/* For plain TCP only: connections over Multipath TCP perhaps do not inherit it. */
static int limit_receives(int fd)
{
	const struct timeval limit = {.tv_usec = NM_CONN_SLEEP_US};

	return setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) < 0 ? -errno : 0;
}

static int open_listening(const void *opts, int family, bool fixed)
{
	const struct nm_inet_opts *o = opts;
	struct nm_setting setting = {.family = family};

	setting.fd = socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, o->protocol);
	if (setting.fd < 0)
		return -errno;
	put_early(&setting, o, false);
	nm_setting_put(&setting, o->fastopen, "tcp_fastopen", IPPROTO_TCP, TCP_FASTOPEN,
		       FASTOPEN_QUEUE);
	/* Several sockets of one listener share the port, so that their queues add up; but a port
	 * that the profile names must not be shared with another program. */
	nm_setting_put(&setting, true, "port", SOL_SOCKET, fixed ? SO_REUSEADDR : SO_REUSEPORT, 1);
	if (setting.error == 0 && !o->protocol)
		setting.error = limit_receives(setting.fd);
	return nm_socket_close_on_error(setting.fd, setting.error);
}

int nm_inet_listen(const void *opts, const struct nm_addr *local, enum nm_listen how, int backlog,
		   char text[NM_ENDPOINT_TEXT], int *ret_fd)
{
	const struct nm_inet_opts *o = opts;

	return nm_socket_listen(opts, local, how, o->backlog ? (int)o->backlog : backlog, text,
				ret_fd, open_listening);
}

static int connect_port(int fd, const struct nm_addr *to, uint32_t further)
{
	struct nm_addr there;

	if (!further)
		return connect(fd, (const struct sockaddr *)&to->sa, to->len) < 0 ? -errno : 0;
	there = *to;
	nm_addr_set_port(&there, (uint16_t)(nm_addr_port(to) + further));
	return connect(fd, (const struct sockaddr *)&there.sa, there.len) < 0 ? -errno : 0;
}

int nm_inet_make(const void *opts, const struct nm_addr *to)
{
	const struct nm_inet_opts *o = opts;
	struct nm_setting setting = {.family = to->sa.ss_family};

	setting.fd =
		socket(to->sa.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, o->protocol);
	if (setting.fd < 0)
		return -errno;
	put_early(&setting, o, true);
	return nm_socket_close_on_error(setting.fd, setting.error);
}

/* A socket that connects, or -errno; *ret_state: the result of connect. */
static int open_one(struct nm_conn *conn, const struct nm_inet_opts *o, const struct nm_addr *to,
		    bool fast, int *ret_state)
{
	struct nm_setting setting = {.fd = conn->fd};

	conn->fd = -1;
	if (setting.fd < 0)
		setting.fd = nm_inet_make(o, to);
	if (setting.fd < 0)
		return setting.fd;
	nm_setting_put(&setting, fast, "tcp_fastopen", IPPROTO_TCP, TCP_FASTOPEN_CONNECT, 1);
	int r = setting.error;
	if (r == 0)
		r = nm_sock_bind(setting.fd, &o->sock, conn, to->sa.ss_family);
	if (r == 0)
		r = connect_port(setting.fd, to,
				 o->num_ports > 1 ? conn->number % (uint32_t)o->num_ports : 0);
	*ret_state = r;
	return nm_socket_close_on_error(setting.fd, r == -EINPROGRESS ? 0 : r);
}

/* What is looked at later: when the connection is open, or before it is closed. */
static void note_traits(struct nm_conn *conn, const struct nm_inet_opts *o)
{
	if (o->fastopen)
		conn->traits |= NM_CONN_FASTOPEN;
	if (o->protocol)
		conn->traits |= NM_CONN_MULTIPATH;
}

int nm_inet_connect(struct nm_conn *conn, const void *opts, const struct nm_addr *to)
{
	const struct nm_inet_opts *o = opts;
	bool fast = o->fastopen && (conn->wishes & NM_CONN_WRITES_FIRST);
	uint64_t tries = o->sock.source_port ? o->sock.source_ports : 1;
	int r = 0, fd;

	/* A port of the flow may still be waiting in TIME_WAIT: the next is as good. */
	do
		fd = open_one(conn, o, to, fast, &r);
	while ((fd == -EADDRINUSE || fd == -EADDRNOTAVAIL) && --tries);
	if (fd < 0)
		return fd;
	nm_socket_begin(conn, fd, false);
	if (has_late(o))
		conn->flags |= NM_CONN_UNSETTLED;
	note_traits(conn, o);
	return r;
}

int nm_inet_settle(struct nm_conn *conn, const void *opts)
{
	conn->flags &= ~(uint32_t)NM_CONN_UNSETTLED;
	return set_late(conn->fd, opts);
}

int nm_inet_accept(struct nm_conn *conn, int listen_fd, const void *opts,
		   const struct nm_peers *peers)
{
	const struct nm_inet_opts *o = opts; /* options set before listen are inherited */
	struct nm_addr peer = {.len = sizeof peer.sa};
	bool sleeps = conn->wishes & NM_CONN_SLEEPS && !o->protocol;
	int fd = accept4(listen_fd, (struct sockaddr *)&peer.sa, &peer.len,
			 sleeps ? SOCK_CLOEXEC : SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (fd < 0)
		return -errno;
	int r = nm_peers_admit(peers, &peer) ? 0 : -ECONNABORTED;

	if (r == 0 && has_late(o))
		r = set_late(fd, o);
	if (r < 0)
		return nm_socket_close_on_error(fd, r);
	nm_socket_begin(conn, fd, true);
	note_traits(conn, o);
	return 0;
}

int nm_inet_attach(struct nm_conn *conn, int fd, const void *opts)
{
	const struct nm_inet_opts *o = opts;
	struct nm_setting setting = {.fd = fd};
	socklen_t len = sizeof setting.family;

	nm_socket_begin(conn, fd, true);
	if (o->protocol)
		conn->traits |= NM_CONN_MULTIPATH;
	/* One listener may serve several accepts: its options may be those of another. */
	if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &setting.family, &len) < 0)
		return -errno;
	put_early(&setting, o, false);
	put_late(&setting, o);
	return setting.error;
}

#define BACKED_OFF 3u	 /* timeouts in a row without an ACK: 1.4 s at least, as Linux has them */
#define SILENT_MS  1000u /* no round trip takes so long where nothing is amiss */

/* Whether segments of at least half the size have been acknowledged, by their mean. Many small ones
 * hide a few large ones; the kernel tells no more. */
static bool has_carried(const struct tcp_info *info, uint64_t segment)
{
	uint64_t delivered = info->tcpi_delivered ? info->tcpi_delivered : 1;

	return info->tcpi_bytes_acked / delivered >= segment / 2;
}

struct nm_inet_flight nm_inet_flight(const struct tcp_info *info, uint64_t queued)
{
	uint64_t most = (uint64_t)info->tcpi_unacked * info->tcpi_snd_mss;
	uint64_t bytes = queued > info->tcpi_notsent_bytes ? queued - info->tcpi_notsent_bytes : 0;
	/* With the back-off; what is repeated counts as sent. */
	uint32_t wait_ms = info->tcpi_rto / 1000, since_ms = info->tcpi_last_data_sent;

	/* Over Multipath TCP what is queued is that of all paths. */
	bytes = bytes < most ? bytes : most;
	uint64_t segment = bytes < info->tcpi_snd_mss ? bytes : info->tcpi_snd_mss;

	if (bytes && has_carried(info, segment))
		return (struct nm_inet_flight){.again_ms =
						       wait_ms > since_ms ? wait_ms - since_ms : 1};
	return (struct nm_inet_flight){.unacked_bytes =
					       info->tcpi_retransmits >= BACKED_OFF ? bytes : 0};
}

static struct nm_inet_flight flight(int fd, const struct tcp_info *info)
{
	bool waits = info->tcpi_retransmits || info->tcpi_last_data_sent >= SILENT_MS;
	int queued = 0;

	if (!info->tcpi_unacked || !waits || ioctl(fd, SIOCOUTQ, &queued) < 0)
		return (struct nm_inet_flight){.again_ms = 0};
	return nm_inet_flight(info, (uint64_t)queued);
}

int nm_inet_info(const struct nm_conn *conn, struct nm_conn_info *ret_info)
{
	struct tcp_info info;
	socklen_t len = sizeof info;

	memset(&info, 0, sizeof info);
	if (getsockopt(conn->fd, IPPROTO_TCP, TCP_INFO, &info, &len) < 0)
		return -errno;
	struct nm_inet_flight sent = flight(conn->fd, &info);

	*ret_info = (struct nm_conn_info){
		.retransmits = info.tcpi_total_retrans,
		.srtt_us = info.tcpi_rtt,
		.rttvar_us = info.tcpi_rttvar,
		.min_rtt_us = info.tcpi_min_rtt != UINT32_MAX ? info.tcpi_min_rtt : 0,
		.snd_cwnd = info.tcpi_snd_cwnd,
		.snd_mss = info.tcpi_snd_mss,
		.unacked_bytes = sent.unacked_bytes,
		.again_ms = sent.again_ms,
		.syn_data = info.tcpi_options & TCPI_OPT_SYN_DATA};
	len = sizeof ret_info->congestion_control - 1;
	if (getsockopt(conn->fd, IPPROTO_TCP, TCP_CONGESTION, ret_info->congestion_control, &len) <
	    0)
		ret_info->congestion_control[0] = '\0';
	return 0;
}

int nm_tcp_fields_read(const struct nm_conn *conn, uint64_t ret_values[NM_TCP_N_FIELDS])
{
	struct tcp_info info = {0};
	socklen_t size = sizeof info;

	if (getsockopt(conn->fd, IPPROTO_TCP, TCP_INFO, &info, &size) < 0)
		return -errno;
#define VALUE(name, member) info.tcpi_##member,
	const uint64_t values[] = {NM_TCP_FIELDS(VALUE)};
#undef VALUE

	memcpy(ret_values, values, sizeof values);
	return 0;
}

const struct nm_transport_shared nm_inet_shared = {.start = nm_inet_start};

const struct nm_transport_socket nm_inet_socket = {
	.make = nm_inet_make,
	NM_INET_HOOKS,
	.tx_delay_ns = nm_inet_tx_delay_ns,
};

const struct nm_transport_preamble nm_inet_preamble = {.attach = nm_inet_attach};
