/* SPDX-License-Identifier: Apache-2.0 */
/* The options of connect and accept, and how both go on with a handshake. */
#include "flowop/open_opts.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "flowop/flowop.h"
#include "transport/transport.h"

const struct nm_opt nm_open_opts[] = {
	{.name = "remotehost",
	 .type = NM_TYPE_HOST,
	 .offset = offsetof(struct nm_opts_open, remotehost),
	 .required = true,
	 .unless = {"server", "from"},
	 .with_port = true,
	 .help = "the host at the other end: a name, an IPv4 or IPv6 address, or local"},
	{.name = "protocol",
	 .type = NM_TYPE_STRING,
	 .offset = offsetof(struct nm_opts_open, protocol),
	 .def = "tcp",
	 .help = "the transport of the connection"},
	{.name = "port",
	 .type = NM_TYPE_PORT,
	 .offset = offsetof(struct nm_opts_open, port),
	 .help = "the port at which the accepting end listens, for all flows and groups that name "
		 "it; without it, "
		 "or with 0, the kernel chooses"},
	{.name = "app",
	 .type = NM_TYPE_STRING,
	 .offset = offsetof(struct nm_opts_open, app),
	 .help = "on connect: the application protocol that is spoken over the connection, by the "
		 "flowops that ask, as ping; --describe apps lists them. Without it, bytes are "
		 "moved by write, read and the like"},
	{.name = "server",
	 .type = NM_TYPE_STRING,
	 .offset = offsetof(struct nm_opts_open, server),
	 .help = "on connect, with app, over tcp, mptcp, ssl or unix, and dns over udp: servers "
		 "that are not netmodel, "
		 "HOST:PORT, [ADDRESS]:PORT or unix:PATH, with commas between several. Flow i "
		 "goes to number i modulo their number, and remotehost does not count. Without "
		 "it, or empty, netmodel plays the server on remotehost"},
	{.name = "from",
	 .type = NM_TYPE_STRING,
	 .offset = offsetof(struct nm_opts_open, from),
	 .help = "on accept, with app, over tcp, mptcp, ssl or unix, and dns over udp: any: "
		 "connections of whoever connects, of "
		 "programs that are not netmodel, too, at all addresses of this host, at port or "
		 "the usual port of the protocol; over unix at path. The flowop serve answers "
		 "them, and remotehost "
		 "does not count. Without it, or empty, those of remotehost alone"},
	{.name = "path",
	 .type = NM_TYPE_STRING,
	 .offset = offsetof(struct nm_opts_open, path),
	 .help = "on accept with from=any, over unix: the file of the socket at which it listens, "
		 "of 1 to 107 bytes. It is made, in place of one at which nobody listens any more, "
		 "and removed in the end"},
	{.name = "data_host",
	 .type = NM_TYPE_STRING,
	 .offset = offsetof(struct nm_opts_open, data_host),
	 .help = "on connect: the IPv4 or IPv6 address to which the connection goes, where it is "
		 "another than that of remotehost, to which the control connection goes: of "
		 "another network of the slave, or of a balancer before it. The slave listens "
		 "there if it has the address, and must be told of those from which connections "
		 "come then (--allow-peer)"},
	{.name = "auth_file",
	 .type = NM_TYPE_STRING,
	 .offset = offsetof(struct nm_opts_open, auth_file),
	 .is_file = true,
	 .help = "with server, over redis, memcache, memcache_meta and memcache_binary: a file "
		 "whose only line is the password with "
		 "which each connection logs in; results and messages have no more of it than the "
		 "name of the file"},
	{.name = "user",
	 .type = NM_TYPE_STRING,
	 .offset = offsetof(struct nm_opts_open, user),
	 .help = "with auth_file: who logs in; memcache, memcache_meta and memcache_binary need "
		 "it, and without it redis takes its default user"},
	{.name = "db",
	 .type = NM_TYPE_COUNT,
	 .offset = offsetof(struct nm_opts_open, db),
	 .max = INT32_MAX,
	 .def = "0",
	 .help = "with server, over redis: the database that each connection selects"},
	{.name = "resp",
	 .type = NM_TYPE_COUNT,
	 .offset = offsetof(struct nm_opts_open, resp),
	 .min = 2,
	 .max = 3,
	 .def = "2",
	 .help = "with server, over redis: the version of its protocol; 3: each connection begins "
		 "with HELLO"},
	{.name = "async_connect",
	 .type = NM_TYPE_FLAG,
	 .offset = offsetof(struct nm_opts_open, async),
	 .def = "yes",
	 .help = "at the end that connects, the flows of a worker do so at the same time; no: all "
		 "of them wait until the connection is there, or has failed, as with connect(2) "
		 "that blocks; of tcp, mptcp, ssl, psp, sctp and vsock: others wait for nothing"},
	{.name = "reconnect",
	 .type = NM_TYPE_DURATION,
	 .offset = offsetof(struct nm_opts_open, reconnect_ns),
	 .help = "on connect, with server, over streams: requests whose connection ends, or that "
		 "get no answer of the protocol, are counted, as lost or malformed, and the flow "
		 "goes on over another connection. Where that fails it is tried again, after "
		 "the pauses of backoff; the run is over when a flow has tried for so long, and "
		 "nothing was answered. 0: the run is over at once"},
	{.name = "backoff",
	 .type = NM_TYPE_DURATION_RANGE,
	 .offset = offsetof(struct nm_opts_open, backoff),
	 .min = 1000,
	 .max = UINT64_C(3600000000000),
	 .help = "on connect, with server, over streams: how long a flow pauses at most before it "
		 "tries to connect again, after one attempt that has failed, and after many: the "
		 "limit doubles with each, and a pause is drawn from 0 to it. Not given: "
		 "10ms..1s"},
	{.name = "requests",
	 .type = NM_TYPE_COUNTS,
	 .offset = offsetof(struct nm_opts_open, requests),
	 .max = UINT32_MAX,
	 .def = "0",
	 .help = "on connect, with app, over streams: a connection over which so many requests "
		 "have been answered is closed before the next one, and opened anew; a law draws "
		 "the number for each connection. 0: it lasts until disconnect"},
	{.name = "lifetime",
	 .type = NM_TYPE_DURATIONS,
	 .offset = offsetof(struct nm_opts_open, lifetime),
	 .def = "0",
	 .help = "the same by time: a connection that has been open for so long is replaced "
		 "before the next request"},
	NM_OPT_END};

#define UNIX_PREFIX "unix:"

static const char *why_no_place(const char *text, bool is_unix, struct nm_server *ret)
{
	const size_t prefix = strlen(UNIX_PREFIX);
	const bool is_path = strncmp(text, UNIX_PREFIX, prefix) == 0;

	if (is_path && !is_unix)
		return "unix:PATH goes with protocol=unix";
	if (is_unix && (!is_path || !text[prefix] || strlen(text + prefix) >= sizeof ret->path))
		return "must be unix:PATH, with a path of 1 to 107 bytes";
	if (is_path)
		memcpy(ret->path, text + prefix, strlen(text + prefix));
	else if (nm_host_port_split(text, ret->host, &ret->port) < 0)
		return "must be HOST:PORT, [ADDRESS]:PORT or unix:PATH, with a port of 1 to 65535";
	return NULL;
}

int nm_server_read(const char **at, bool is_unix, struct nm_server *ret, char *why, size_t why_size)
{
	char text[NM_HOST_MAX + 16] = "";
	size_t n = strcspn(*at, ",");
	const char *wrong = "is too long";

	*ret = (struct nm_server){.port = 0};
	if (n < sizeof text) {
		memcpy(text, *at, n);
		wrong = why_no_place(text, is_unix, ret);
	}
	if (wrong)
		snprintf(why, why_size, "\"%.*s%s\": %s", (int)(n < 40 ? n : 40), *at,
			 n < 40 ? "" : "...", wrong);
	*at += n + ((*at)[n] == ',');
	return wrong ? -EINVAL : 0;
}

uint16_t nm_server_port(const struct nm_app *app, const struct nm_transport *transport)
{
	if (transport->caps & NM_TRANSPORT_ONE_HOST)
		return 0;
	return (transport->caps & NM_TRANSPORT_TLS) && app->tls_port ? app->tls_port : app->port;
}

uint32_t nm_servers_count(const char *text)
{
	uint32_t count = 1;

	for (; *text; text++)
		count += *text == ',';
	return count;
}

int nm_opening_begin(struct nm_conn *conn, const struct nm_transport *transport, const void *opts,
		     const struct nm_addr *to)
{
	conn->transport = transport;
	conn->flags = 0;
	int r = transport->connect(conn, opts, to);

	if (!(conn->flags & NM_CONN_OPEN))
		conn->flags = 0;
	return r;
}

int nm_open_continue(struct nm_conn *conn)
{
	if (!(conn->flags & (NM_CONN_IN | NM_CONN_OUT | NM_CONN_HUP)))
		return conn->flags & NM_CONN_ARMED_OUT ? -EINPROGRESS : -EAGAIN;
	int r = conn->transport->established(conn);

	if (r == -EINPROGRESS)
		conn->flags &= ~(uint32_t)NM_CONN_OUT;
	else if (r == -EAGAIN)
		conn->flags &= ~(uint32_t)NM_CONN_IN;
	else
		conn->flags &= ~(uint32_t)NM_CONN_CONNECTING;
	return r;
}
