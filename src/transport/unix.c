/* SPDX-License-Identifier: Apache-2.0 */
/* Unix stream sockets; unix(7). They reach only processes of this host (and network namespace).
 * Their names are abstract, but for those that the profile has for whoever connects: paths. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "transport/socket.h"
#include "transport/transport.h"

struct unix_opts {
	uint64_t wndsz_bytes;
};

static const struct nm_opt unix_opts[] = {
	NM_OPT(SIZE, struct unix_opts, wndsz_bytes, "wndsz", .max = INT32_MAX,
	       .help = "size of the send buffer (SO_SNDBUF), at both ends; unset or 0 leaves it to "
		       "the kernel"),
	NM_OPT_END,
};

static int open_socket(const struct unix_opts *o)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -errno;
	int r = o->wndsz_bytes ? nm_socket_set(fd, SOL_SOCKET, SO_SNDBUF, (int)o->wndsz_bytes) : 0;

	return nm_socket_close_on_error(fd, r);
}

#define NAME_DIGITS 5

/* The kernel chooses an abstract name when only the family is bound: five hexadecimal digits, told
 * as text. */
static int name_of(int fd, char text[NM_ENDPOINT_TEXT])
{
	struct sockaddr_un at;
	socklen_t len = sizeof at;

	if (getsockname(fd, (struct sockaddr *)&at, &len) < 0)
		return -errno;
	size_t n = len - offsetof(struct sockaddr_un, sun_path);
	if (n < 2 || n > NM_ENDPOINT_TEXT)
		return -EINVAL;
	memcpy(text, at.sun_path + 1, n - 1);
	text[n - 1] = '\0';
	return 0;
}

static int bind_unnamed(int fd)
{
	const struct sockaddr_un unnamed = {.sun_family = AF_UNIX};

	return bind(fd, (const struct sockaddr *)&unnamed, sizeof unnamed.sun_family) < 0 ? -errno
											  : 0;
}

/* Whether the file is what a socket has left at which nobody listens any more. */
static bool is_left(const struct sockaddr_un *at)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	bool refused = fd >= 0 && connect(fd, (const struct sockaddr *)at, sizeof *at) < 0 &&
		       errno == ECONNREFUSED;
	struct stat is;

	if (fd >= 0)
		(void)close(fd);
	/* A file that is no socket refuses, too. */
	return refused && lstat(at->sun_path, &is) == 0 && S_ISSOCK(is.st_mode);
}

static int bind_path(int fd, const char path[NM_ENDPOINT_TEXT])
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};

	memcpy(at.sun_path, path, strlen(path));
	int r = bind(fd, (const struct sockaddr *)&at, sizeof at) < 0 ? -errno : 0;

	if (r != -EADDRINUSE || !is_left(&at))
		return r;
	(void)unlink(at.sun_path);
	return bind(fd, (const struct sockaddr *)&at, sizeof at) < 0 ? -errno : 0;
}

static int unix_listen(const void *opts, const struct nm_addr *local, enum nm_listen how,
		       int backlog, char text[NM_ENDPOINT_TEXT], int *ret_fd)
{
	(void)local;
	/* A name cannot be shared, and need not be: a full queue makes connect try again. */
	if (how == NM_LISTEN_SHARED)
		return -EOPNOTSUPP;
	int fd = open_socket(opts);
	if (fd < 0)
		return fd;
	int r = how == NM_LISTEN_FIXED ? bind_path(fd, text) : bind_unnamed(fd);

	if (r < 0)
		return nm_socket_close_on_error(fd, r);
	r = listen(fd, backlog) < 0 ? -errno : how == NM_LISTEN_FIRST ? name_of(fd, text) : 0;
	if (r < 0 && how == NM_LISTEN_FIXED)
		(void)unlink(text);
	if (r < 0)
		return nm_socket_close_on_error(fd, r);
	*ret_fd = fd;
	return 0;
}

static int unix_endpoint(const struct nm_addr *host, const char *text, struct nm_addr *ret_to)
{
	struct sockaddr_un *to = (struct sockaddr_un *)(void *)&ret_to->sa;
	size_t n = strlen(text);

	(void)host;
	/* A listener never has another name: names that the kernel does not choose are other
	 * programs'. */
	if (n != NAME_DIGITS || strspn(text, "0123456789abcdef") != n)
		return -EINVAL;
	memset(ret_to, 0, sizeof *ret_to);
	to->sun_family = AF_UNIX;
	memcpy(to->sun_path + 1, text, n);
	ret_to->len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + n);
	return 0;
}

static int unix_connect(struct nm_conn *conn, const void *opts, const struct nm_addr *to)
{
	int fd = open_socket(opts);

	if (fd < 0)
		return fd;
	int r = nm_socket_connect(fd, to); /* EAGAIN: the queue is full */

	if (r == 0)
		nm_socket_begin(conn, fd, false);
	return r;
}

static int unix_accept(struct nm_conn *conn, int listen_fd, const void *opts,
		       const struct nm_peers *peers)
{
	const struct unix_opts *o = opts;
	int fd = accept4(listen_fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

	(void)peers;
	if (fd < 0)
		return -errno;
	if (o->wndsz_bytes)
		(void)nm_socket_set(fd, SOL_SOCKET, SO_SNDBUF, (int)o->wndsz_bytes);
	nm_socket_begin(conn, fd, true);
	return 0;
}

static int unix_attach(struct nm_conn *conn, int fd, const void *opts)
{
	(void)opts;
	nm_socket_begin(conn, fd, true);
	return 0;
}

const struct nm_transport nm_transport_unix = {
	.name = "unix",
	.help = "Unix stream sockets, between processes of one host",
	.caps = NM_TRANSPORT_RELIABLE | NM_TRANSPORT_ONE_HOST | NM_TRANSPORT_SERVERS,
	.opts = unix_opts,
	.opts_size = sizeof(struct unix_opts),
	.listen = unix_listen,
	.endpoint = unix_endpoint,
	.connect = unix_connect,
	.established = nm_socket_established,
	.accept = unix_accept,
	.close = nm_socket_close,
	.finish = nm_socket_finish,
	.preamble = &(const struct nm_transport_preamble){.attach = unix_attach},
};
