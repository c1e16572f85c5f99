/* SPDX-License-Identifier: Apache-2.0 */
/* SCTP over IPv4 and IPv6, one association a socket; sctp(7), RFC 6458. SCTP keeps messages
 * apart. */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/sctp.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "host/syscalls.h"
#include "transport/address.h"
#include "transport/socket.h"
#include "transport/sockopt.h"
#include "transport/transport.h"

/* The longest message that is sent as one. The kernel takes none that is longer than the send
 * buffer. */
#define MESSAGE_BYTES 65536u

struct sctp_opts {
	bool nodelay;
	uint64_t wndsz_bytes, sndbuf_bytes, rcvbuf_bytes;
	uint64_t in_streams, out_streams;
	uint64_t rto_min_ms, rto_max_ms, rto_initial_ms;
	uint64_t sack_delay_ms, sack_frequency;
	uint64_t max_burst, max_fragment_bytes;
	uint64_t hb_interval_ms, path_mtu;
	uint64_t encaps;
	char *localhost;
	struct nm_addr bind; /* of localhost; len 0: none */
};

#define NUMBER(word, field, most, text)                                                            \
	NM_OPT(COUNT, struct sctp_opts, field, word, .max = (most),                                \
	       .help = text ", at both ends; 0 leaves it to the kernel")

static const struct nm_opt sctp_opts[] = {
	NM_OPT(FLAG, struct sctp_opts, nodelay, "sctp_nodelay", .alias = "nodelay",
	       .help = "send small messages at once (SCTP_NODELAY), at both ends"),
	NM_OPT(COUNT, struct sctp_opts, in_streams, "sctp_in_streams", .max = 65535,
	       .help = "streams on which the master receives, and the slave sends (SCTP_INITMSG); "
		       "0 leaves it to the kernel"),
	NM_OPT(COUNT, struct sctp_opts, out_streams, "sctp_out_streams", .max = 65535,
	       .help = "streams on which the master sends, and the slave receives (SCTP_INITMSG); "
		       "0 leaves it to the kernel"),
	NUMBER("sctp_rto_min", rto_min_ms, UINT32_MAX,
	       "the least time until a retransmission, in ms (SCTP_RTOINFO)"),
	NUMBER("sctp_rto_max", rto_max_ms, UINT32_MAX,
	       "the greatest time until a retransmission, in ms (SCTP_RTOINFO)"),
	NUMBER("sctp_rto_initial", rto_initial_ms, UINT32_MAX,
	       "the time until a retransmission before any is measured, in ms (SCTP_RTOINFO)"),
	NUMBER("sctp_sack_delay", sack_delay_ms, 500,
	       "how long an acknowledgement may wait, in ms (SCTP_DELAYED_SACK)"),
	NUMBER("sctp_sack_frequency", sack_frequency, UINT32_MAX,
	       "after how many packets one is sent at once (SCTP_DELAYED_SACK)"),
	NUMBER("sctp_max_burst_size", max_burst, UINT32_MAX,
	       "packets sent in one go (SCTP_MAX_BURST)"),
	NUMBER("sctp_max_fragment_size", max_fragment_bytes, 65535,
	       "bytes of a message in one packet (SCTP_MAXSEG)"),
	NUMBER("sctp_hb_interval", hb_interval_ms, UINT32_MAX,
	       "time between heartbeats of an idle connection, in ms (SCTP_PEER_ADDR_PARAMS)"),
	NUMBER("sctp_path_mtu", path_mtu, 65535,
	       "bytes of a packet, which then is not discovered (SCTP_PEER_ADDR_PARAMS)"),
	NM_OPT(COUNT, struct sctp_opts, encaps, "encaps", .max = 65535,
	       .help = "port of the accepting end to which packets go in UDP datagrams "
		       "(SCTP_REMOTE_UDP_ENCAPS_PORT); both hosts need sysctl net.sctp.udp_port; "
		       "0: none"),
	NM_BUFFER_OPTS(struct sctp_opts),
	NM_OPT(HOST, struct sctp_opts, localhost, "localhost", .alias = "bind",
	       .help = "IPv4 or IPv6 address that the connecting end binds before it connects"),
	NM_OPT_END,
};

/* As uperf's profiles have it, "rtt" is a word without effect. */
enum policy { POLICY_NONE, POLICY_TTL, POLICY_RTX, POLICY_BUF, POLICY_RTT };

static const char *const policy_words[] = {"none", "ttl", "rtx", "buf", "rtt", NULL};

struct sctp_message_opts {
	uint64_t stream_id;
	bool unordered;
	int policy;
	uint64_t value;
};

static const struct nm_opt sctp_message_opts[] = {
	NM_OPT(COUNT, struct sctp_message_opts, stream_id, "sctp_stream_id", .max = 65534,
	       .help = "the stream on which the message is sent, from 0"),
	NM_OPT(FLAG, struct sctp_message_opts, unordered, "sctp_unordered",
	       .help = "the message may overtake others"),
	NM_OPT(ENUM, struct sctp_message_opts, policy, "sctp_pr_policy", .choices = policy_words,
	       .def = "none",
	       .help = "when the message may be given up: after a time (ttl), a number of "
		       "retransmissions (rtx), or when the send buffer is full (buf); rtt, as "
		       "none, has no effect"),
	NM_OPT(COUNT, struct sctp_message_opts, value, "sctp_pr_value", .max = UINT32_MAX,
	       .help = "of that policy: milliseconds, retransmissions, or a priority, of which the "
		       "greatest is given up first"),
	NM_OPT_END,
};

static bool sctp_may_lose(const void *message_opts)
{
	const struct sctp_message_opts *o = message_opts;

	return o->policy != POLICY_NONE && o->policy != POLICY_RTT;
}

/* Streams that the kernel asks for when it is not told. */
#define USUAL_STREAMS 10

static int sctp_check_message(const void *opts, const void *message_opts, bool by_master,
			      struct nm_why *why)
{
	const struct sctp_opts *o = opts;
	const struct sctp_message_opts *m = message_opts;
	uint64_t streams = by_master ? o->out_streams : o->in_streams;

	if (streams == 0)
		streams = USUAL_STREAMS;
	if (m->stream_id < streams)
		return 0;
	return nm_why_set(why, "sctp_stream_id",
			  "sctp_stream_id=\"%llu\": its connection has %llu streams in that "
			  "direction, numbered from 0 (%s of connect or accept)",
			  (unsigned long long)m->stream_id, (unsigned long long)streams,
			  by_master ? "sctp_out_streams" : "sctp_in_streams");
}

static int sctp_prepare(void *opts, struct nm_why *why)
{
	struct sctp_opts *o = opts;

	if (o->rto_min_ms && o->rto_max_ms && o->rto_min_ms > o->rto_max_ms)
		return nm_why_set(why, "sctp_rto_min",
				  "sctp_rto_min=\"%llu\" is more than sctp_rto_max=\"%llu\"",
				  (unsigned long long)o->rto_min_ms,
				  (unsigned long long)o->rto_max_ms);
	if (!o->localhost || !*o->localhost)
		return 0;
	why->option = "localhost";
	return nm_addr_option("localhost", o->localhost, &o->bind, why->text, sizeof why->text);
}

static void sctp_mirror(void *opts)
{
	struct sctp_opts *o = opts;
	uint64_t in = o->in_streams;

	o->in_streams = o->out_streams;
	o->out_streams = in;
}

static int sctp_available(const char *host, char *why, size_t why_size)
{
	int r = nm_socket_probe(AF_INET, SOCK_STREAM, IPPROTO_SCTP);

	(void)host;
	if (r == -EPROTONOSUPPORT)
		snprintf(why, why_size, "the kernel has no SCTP (CONFIG_IP_SCTP, module sctp)");
	else if (r < 0)
		snprintf(why, why_size, "no socket: %s", strerror(-r));
	return r;
}

static void put(struct nm_setting *setting, bool wanted, int option, const void *value, size_t size)
{
	nm_setting_put_data(setting, wanted, "sctp", IPPROTO_SCTP, option, value, size);
}

static void put_value(struct nm_setting *setting, int option, uint64_t value)
{
	const struct sctp_assoc_value of_all = {.assoc_value = (uint32_t)value};

	put(setting, value, option, &of_all, sizeof of_all);
}

static void put_path(struct nm_setting *setting, const struct sctp_opts *o)
{
	struct sctp_paddrparams path = {.spp_hbinterval = (uint32_t)o->hb_interval_ms,
					.spp_pathmtu = (uint32_t)o->path_mtu};

	if (o->hb_interval_ms)
		path.spp_flags |= SPP_HB_ENABLE;
	if (o->path_mtu)
		path.spp_flags |= SPP_PMTUD_DISABLE;
	put(setting, path.spp_flags, SCTP_PEER_ADDR_PARAMS, &path, sizeof path);
}

/* Sets the options that must be set before listen or connect; accepted sockets inherit them. */
static int set_options(int fd, const struct sctp_opts *o)
{
	const struct sctp_initmsg init = {.sinit_num_ostreams = (uint16_t)o->out_streams,
					  .sinit_max_instreams = (uint16_t)o->in_streams};
	const struct sctp_rtoinfo rto = {.srto_initial = (uint32_t)o->rto_initial_ms,
					 .srto_max = (uint32_t)o->rto_max_ms,
					 .srto_min = (uint32_t)o->rto_min_ms};
	const struct sctp_sack_info sack = {.sack_delay = (uint32_t)o->sack_delay_ms,
					    .sack_freq = (uint32_t)o->sack_frequency};
	struct nm_setting setting = {.fd = fd};

	nm_setting_put_buffers(&setting, o->sndbuf_bytes, o->rcvbuf_bytes, o->wndsz_bytes);
	nm_setting_put(&setting, o->nodelay, "nodelay", IPPROTO_SCTP, SCTP_NODELAY, 1);
	put(&setting, o->in_streams || o->out_streams, SCTP_INITMSG, &init, sizeof init);
	put(&setting, o->rto_initial_ms || o->rto_max_ms || o->rto_min_ms, SCTP_RTOINFO, &rto,
	    sizeof rto);
	put(&setting, o->sack_delay_ms || o->sack_frequency, SCTP_DELAYED_SACK, &sack, sizeof sack);
	put_value(&setting, SCTP_MAX_BURST, o->max_burst);
	put_value(&setting, SCTP_MAXSEG, o->max_fragment_bytes);
	put_path(&setting, o);
	return setting.error;
}

/* A socket with its options, or -errno. */
static int open_socket(const struct sctp_opts *o, int family)
{
	int fd = socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_SCTP);

	return fd < 0 ? -errno : nm_socket_close_on_error(fd, set_options(fd, o));
}

static int open_listening(const void *opts, int family, bool fixed)
{
	int fd = open_socket(opts, family);

	if (fd < 0)
		return fd;
	/* As for TCP: sockets of one listener share a port that the kernel has chosen, and no
	 * other. */
	int r = nm_socket_set(fd, SOL_SOCKET, fixed ? SO_REUSEADDR : SO_REUSEPORT, 1);

	return nm_socket_close_on_error(fd, r);
}

static int sctp_listen(const void *opts, const struct nm_addr *local, enum nm_listen how,
		       int backlog, char text[NM_ENDPOINT_TEXT], int *ret_fd)
{
	return nm_socket_listen(opts, local, how, backlog, text, ret_fd, open_listening);
}

static bool sctp_source(const void *opts, uint32_t number, struct nm_addr *ret)
{
	const struct sctp_opts *o = opts;

	if (number || !o->bind.len)
		return false;
	*ret = o->bind;
	return true;
}

static void sctp_leave_from(void *opts, const struct nm_addr *addr)
{
	struct sctp_opts *o = opts;

	o->bind = *addr;
}

static int start(struct nm_conn *conn, int fd, bool accepted)
{
	nm_socket_begin(conn, fd, accepted);
	conn->datagram.sent = conn->datagram.seen = conn->datagram.acked = 0;
	conn->datagram.window = 0;
	return 0;
}

static int sctp_connect(struct nm_conn *conn, const void *opts, const struct nm_addr *to)
{
	const struct sctp_opts *o = opts;
	const struct sctp_udpencaps encaps = {.sue_port = htons((uint16_t)o->encaps)};
	struct nm_setting setting = {.fd = open_socket(o, to->sa.ss_family)};

	if (setting.fd < 0)
		return setting.fd;
	put(&setting, o->encaps, SCTP_REMOTE_UDP_ENCAPS_PORT, &encaps, sizeof encaps);
	if (setting.error == 0 && o->bind.len &&
	    bind(setting.fd, (const struct sockaddr *)&o->bind.sa, o->bind.len) < 0)
		setting.error = -errno;
	if (setting.error)
		return nm_socket_close_on_error(setting.fd, setting.error);
	int r = nm_socket_connect(setting.fd, to);

	if (r == 0 || r == -EINPROGRESS)
		(void)start(conn, setting.fd, false);
	return r;
}

/* The kernel takes output for an association that is not there yet. */
static int sctp_established(struct nm_conn *conn)
{
	struct sctp_status status = {.sstat_assoc_id = 0};
	socklen_t len = sizeof status;
	int r = nm_socket_established(conn);

	if (r < 0)
		return r;
	if (getsockopt(conn->fd, IPPROTO_SCTP, SCTP_STATUS, &status, &len) < 0)
		return -ECONNRESET; /* and not there any more */
	return status.sstat_state < SCTP_ESTABLISHED ? -EINPROGRESS : 0;
}

/* Where a peer has begun to close before its association was accepted, the kernel reports the end
 * of the stream only after a shutdown for reading. All that the peer has sent is there by then. */
static void mark_end(int fd)
{
	struct sctp_status status = {.sstat_assoc_id = 0};
	socklen_t len = sizeof status;

	if (getsockopt(fd, IPPROTO_SCTP, SCTP_STATUS, &status, &len) < 0 ||
	    status.sstat_state >= SCTP_SHUTDOWN_RECEIVED)
		(void)shutdown(fd, SHUT_RD);
}

static int sctp_accept(struct nm_conn *conn, int listen_fd, const void *opts,
		       const struct nm_peers *peers)
{
	int fd = nm_socket_accept(listen_fd, peers);

	(void)opts; /* inherited from the listening socket */
	if (fd < 0)
		return fd;
	mark_end(fd);
	return start(conn, fd, true);
}

static int sctp_attach(struct nm_conn *conn, int fd, const void *opts)
{
	/* One listener may serve several accepts: its options may be those of another. */
	int r = set_options(fd, opts);

	mark_end(fd);
	return r < 0 ? r : start(conn, fd, true);
}

/* Sends a message with options of its own. */
static ssize_t send_with(int fd, const struct sctp_message_opts *o, void *data, size_t size)
{
	union {
		struct cmsghdr header;
		char space[CMSG_SPACE(sizeof(struct sctp_sndinfo)) +
			   CMSG_SPACE(sizeof(struct sctp_prinfo))];
	} control;
	struct sctp_sndinfo info = {.snd_sid = (uint16_t)o->stream_id,
				    .snd_flags = o->unordered ? SCTP_UNORDERED : 0};
	struct sctp_prinfo partial = {.pr_value = (uint32_t)o->value};
	struct iovec part = {.iov_base = data, .iov_len = size};
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = &control};

	memset(&control, 0, sizeof control);
	message.msg_controllen = CMSG_SPACE(sizeof info);
	if (sctp_may_lose(o)) {
		partial.pr_policy = o->policy == POLICY_TTL   ? SCTP_PR_SCTP_TTL
				    : o->policy == POLICY_RTX ? SCTP_PR_SCTP_RTX
							      : SCTP_PR_SCTP_PRIO;
		message.msg_controllen += CMSG_SPACE(sizeof partial);
	}
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);
	*header = (struct cmsghdr){.cmsg_level = IPPROTO_SCTP,
				   .cmsg_type = SCTP_SNDINFO,
				   .cmsg_len = CMSG_LEN(sizeof info)};
	memcpy(CMSG_DATA(header), &info, sizeof info);
	if (sctp_may_lose(o)) {
		header = CMSG_NXTHDR(&message, header);
		*header = (struct cmsghdr){.cmsg_level = IPPROTO_SCTP,
					   .cmsg_type = SCTP_PRINFO,
					   .cmsg_len = CMSG_LEN(sizeof partial)};
		memcpy(CMSG_DATA(header), &partial, sizeof partial);
	}
	ssize_t n = sendmsg(fd, &message, MSG_NOSIGNAL);

	return n < 0 ? -errno : n;
}

static ssize_t send_one(int fd, const void *opts, void *data, size_t size)
{
	if (opts)
		return send_with(fd, opts, data, size);
	return nm_sys_send(fd, data, size, MSG_NOSIGNAL);
}

/* A message that is too long goes as several: the other end counts bytes. */
static ssize_t sctp_send(struct nm_conn *conn, const void *opts, void *data, size_t size)
{
	size_t most = MESSAGE_BYTES, sent = 0;
	ssize_t n = 0;

	while (sent < size) {
		size_t part = size - sent < most ? size - sent : most;
		int sndbuf;
		socklen_t len = sizeof sndbuf;

		n = send_one(conn->fd, opts, (char *)data + sent, part);
		if (n == -EMSGSIZE && most == MESSAGE_BYTES &&
		    getsockopt(conn->fd, SOL_SOCKET, SO_SNDBUF, &sndbuf, &len) == 0 && sndbuf > 0 &&
		    (size_t)sndbuf < part) {
			most = (size_t)sndbuf;
			continue;
		}
		if (n < 0)
			break;
		sent += (size_t)n;
	}
	return sent ? (ssize_t)sent : n;
}

static ssize_t sctp_recv(struct nm_conn *conn, void *data, size_t size)
{
	return nm_sys_recv(conn->fd, data, size, 0);
}

static int sctp_info(const struct nm_conn *conn, struct nm_conn_info *ret_info)
{
	struct sctp_status status = {.sstat_assoc_id = 0};
	struct sctp_assoc_stats stats = {.sas_assoc_id = 0};
	socklen_t status_len = sizeof status, stats_len = sizeof stats;

	if (getsockopt(conn->fd, IPPROTO_SCTP, SCTP_STATUS, &status, &status_len) < 0 ||
	    getsockopt(conn->fd, IPPROTO_SCTP, SCTP_GET_ASSOC_STATS, &stats, &stats_len) < 0)
		return -errno;
	uint32_t mss = status.sstat_fragmentation_point;

	*ret_info = (struct nm_conn_info){
		.retransmits = stats.sas_rtxchunks,
		.srtt_us = status.sstat_primary.spinfo_srtt * 1000,
		.snd_cwnd = mss ? status.sstat_primary.spinfo_cwnd / mss : 0,
		.snd_mss = mss,
	};
	return 0;
}

const struct nm_transport nm_transport_sctp = {
	.name = "sctp",
	.help = "SCTP over IPv4 or IPv6, as the host's address says; a message has at most 64k, "
		"and what is longer goes as several",
	.caps = NM_TRANSPORT_RELIABLE | NM_TRANSPORT_MESSAGES,
	.opts = sctp_opts,
	.opts_size = sizeof(struct sctp_opts),
	.listen = sctp_listen,
	.endpoint = nm_addr_endpoint,
	.connect = sctp_connect,
	.established = sctp_established,
	.accept = sctp_accept,
	.close = nm_socket_close,
	.send = sctp_send,
	.recv = sctp_recv,
	.info = sctp_info,
	.checks = &(const struct nm_transport_checks){.prepare = sctp_prepare,
						      .mirror = sctp_mirror,
						      .available = sctp_available},
	.message =
		&(const struct nm_transport_message){.max_lossy_bytes = MESSAGE_BYTES,
						     .opts = sctp_message_opts,
						     .opts_size = sizeof(struct sctp_message_opts),
						     .may_lose = sctp_may_lose,
						     .check = sctp_check_message},
	.socket = &(const struct nm_transport_socket){.source = sctp_source,
						      .leave_from = sctp_leave_from},
	.preamble = &(const struct nm_transport_preamble){.attach = sctp_attach},
};
