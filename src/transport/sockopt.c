/* SPDX-License-Identifier: Apache-2.0 */
/* Options that all internet sockets take: checked, set, and reported by name when they cannot be
 * set. */
#include "transport/sockopt.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/ascii.h"
#include "base/buffers.h"
#include "transport/address.h"
#include "transport/socket.h"
#include "transport/transport.h"

enum dont_fragment { FRAGMENT_KERNEL, FRAGMENT_NEVER, FRAGMENT_MAY };

const char *const nm_dont_fragment_words[] = {"kernel", "yes", "no", NULL};

void nm_setting_put_data(struct nm_setting *setting, bool wanted, const char *name, int level,
			 int option, const void *value, size_t size)
{
	if (!wanted || setting->error ||
	    setsockopt(setting->fd, level, option, value, (socklen_t)size) == 0)
		return;
	setting->error = -errno;
	setting->name = name;
}

void nm_setting_put_text(struct nm_setting *setting, const char *name, int level, int option,
			 const char *text)
{
	nm_setting_put_data(setting, nm_is_given(text), name, level, option, text,
			    text ? strlen(text) : 0);
}

void nm_setting_put(struct nm_setting *setting, bool wanted, const char *name, int level,
		    int option, int value)
{
	nm_setting_put_data(setting, wanted, name, level, option, &value, sizeof value);
}

void nm_setting_put_buffers(struct nm_setting *setting, uint64_t sndbuf, uint64_t rcvbuf,
			    uint64_t wndsz)
{
	sndbuf = sndbuf ? sndbuf : wndsz;
	rcvbuf = rcvbuf ? rcvbuf : wndsz;
	nm_setting_put(setting, sndbuf, "sndbuf", SOL_SOCKET, SO_SNDBUF, (int)sndbuf);
	nm_setting_put(setting, rcvbuf, "rcvbuf", SOL_SOCKET, SO_RCVBUF, (int)rcvbuf);
}

/* An option of IPv4 and its counterpart; a socket of IPv6 may speak to addresses of IPv4, too. */
static void put_both(struct nm_setting *setting, bool wanted, const char *name, int option,
		     int option6, int value)
{
	if (setting->family == AF_INET6)
		nm_setting_put(setting, wanted, name, IPPROTO_IPV6, option6, value);
	nm_setting_put(setting, wanted, name, IPPROTO_IP, option, value);
}

void nm_setting_common(struct nm_setting *setting, const struct nm_sock_opts *o, bool connecting)
{
	int tos = (int)(o->tos ? o->tos : o->dscp << 2);
	int discover = o->dont_fragment == FRAGMENT_NEVER ? IP_PMTUDISC_DO : IP_PMTUDISC_DONT;
	/* 64 bits since Linux 4.20; in bytes. All ones is no limit. */
	uint64_t pace = (uint64_t)(o->max_pacing_bps / 8);

	nm_setting_put_buffers(setting, o->sndbuf_bytes, o->rcvbuf_bytes, o->wndsz_bytes);
	nm_setting_put(setting, o->debug, "debug", SOL_SOCKET, SO_DEBUG, 1);
	nm_setting_put(setting, o->mark, "mark", SOL_SOCKET, SO_MARK, (int)(uint32_t)o->mark);
	nm_setting_put(setting, o->reuseaddr || (connecting && o->source_port), "reuseaddr",
		       SOL_SOCKET, SO_REUSEADDR, 1);
	nm_setting_put(setting, o->freebind, "freebind", IPPROTO_IP, IP_FREEBIND, 1);
	nm_setting_put(setting, o->busy_poll_ns, "busy_poll", SOL_SOCKET, SO_BUSY_POLL,
		       (int)((o->busy_poll_ns + 999) / 1000));
	put_both(setting, tos, "tos", IP_TOS, IPV6_TCLASS, tos);
	put_both(setting, o->ttl, "ttl", IP_TTL, IPV6_UNICAST_HOPS, (int)o->ttl);
	put_both(setting, o->dont_fragment != FRAGMENT_KERNEL, "dont_fragment", IP_MTU_DISCOVER,
		 IPV6_MTU_DISCOVER, discover);
	nm_setting_put_data(setting, o->max_pacing_bps > 0, "max_pacing_rate", SOL_SOCKET,
			    SO_MAX_PACING_RATE, &pace, sizeof pace);
	if (connecting)
		nm_setting_put_text(setting, "bind_to_device", SOL_SOCKET, SO_BINDTODEVICE,
				    o->device);
}

/* The kernel doubles what it grants, for its own needs, and tells that. */
static void find_cut(int fd, int option, uint64_t asked, uint64_t *ret_asked, uint64_t *ret_given)
{
	int size;
	socklen_t len = sizeof size;

	if (asked <= *ret_asked || getsockopt(fd, SOL_SOCKET, option, &size, &len) < 0 ||
	    (uint64_t)size / 2 == asked)
		return;
	*ret_asked = asked;
	*ret_given = (uint64_t)size / 2;
}

void nm_setting_find_cut(const struct nm_setting *setting, const struct nm_sock_opts *o,
			 struct nm_buffers *cut)
{
	if (!cut || setting->error)
		return;
	find_cut(setting->fd, SO_SNDBUF, o->sndbuf_bytes ? o->sndbuf_bytes : o->wndsz_bytes,
		 &cut->send_asked, &cut->send_given);
	find_cut(setting->fd, SO_RCVBUF, o->rcvbuf_bytes ? o->rcvbuf_bytes : o->wndsz_bytes,
		 &cut->receive_asked, &cut->receive_given);
}

int nm_setting_why(const struct nm_setting *setting, char *why, size_t why_size)
{
	if (setting->error)
		snprintf(why, why_size, "%s: cannot be set here: %s%s", setting->name,
			 strerror(-setting->error),
			 setting->error == -EPERM || setting->error == -EACCES
				 ? " (it needs the capability CAP_NET_ADMIN)"
				 : "");
	return setting->error;
}

static int read_source(const char *text, size_t length, union nm_source *ret, char *why,
		       size_t why_size)
{
	struct nm_addr addr;
	char one[128];

	if (length >= sizeof one)
		length = sizeof one - 1;
	memcpy(one, text, length);
	one[length] = '\0';
	int r = nm_addr_option("localhost", one, &addr, why, why_size);

	if (r == 0)
		memcpy(ret, &addr.sa, addr.len);
	return r;
}

int nm_sock_prepare(void *opts, struct nm_why *why)
{
	struct nm_sock_opts *o = opts;

	if (o->tos && o->dscp)
		return nm_why_set(why, NULL,
				  "tos and dscp: are the same bits; only one may be given");
	if (o->max_pacing_bps > 0 && o->max_pacing_bps < 8)
		return nm_why_set(why, NULL,
				  "max_pacing_rate: must be at least 8b/s, one byte a second, or "
				  "0: no limit");
	if (o->source_ports > 1 && !o->source_port)
		return nm_why_set(why, NULL,
				  "source_ports: needs source_port, the first of them; without it "
				  "the kernel chooses");
	o->n_sources = 0;
	for (const char *at = o->localhost; at && *at;) {
		size_t length = strcspn(at, ",");

		if (o->n_sources == NM_SOURCES)
			return nm_why_set(why, NULL, "localhost: has more than %d addresses",
					  NM_SOURCES);
		int r = read_source(at, length, &o->sources[o->n_sources++], why->text,
				    sizeof why->text);

		if (r < 0) {
			why->option = "localhost";
			return r;
		}
		at += length + (at[length] == ',');
	}
	return 0;
}

int nm_sock_check_group(const void *opts, uint32_t n_flows, uint32_t port, struct nm_why *why)
{
	const struct nm_sock_opts *o = opts;
	uint64_t last = o->source_port + o->source_skip + n_flows * o->source_ports - 1;

	(void)port;
	if (!o->source_port || last <= 65535)
		return 0;
	return nm_why_set(
		why, "source_port",
		"source_port=\"%llu\": %u flows with %llu each%s would need ports up to %llu; the "
		"last is 65535",
		(unsigned long long)o->source_port, n_flows, (unsigned long long)o->source_ports,
		o->source_skip ? ", behind those of source_skip," : "", (unsigned long long)last);
}

static void address_of(const union nm_source *source, struct nm_addr *ret)
{
	memset(ret, 0, sizeof *ret);
	ret->len = source->family == AF_INET6 ? sizeof source->v6 : sizeof source->v4;
	memcpy(&ret->sa, source, ret->len);
}

bool nm_sock_source(const void *opts, uint32_t number, struct nm_addr *ret)
{
	const struct nm_sock_opts *o = opts;

	if (number >= o->n_sources)
		return false;
	address_of(&o->sources[number], ret);
	return true;
}

uint64_t nm_sock_source_ports(const void *opts)
{
	const struct nm_sock_opts *o = opts;

	return o->source_port ? o->source_ports : 0;
}

void nm_sock_leave_from(void *opts, const struct nm_addr *addr)
{
	struct nm_sock_opts *o = opts;

	memcpy(&o->sources[0], &addr->sa,
	       addr->len < sizeof o->sources[0] ? addr->len : sizeof o->sources[0]);
	o->n_sources = 1;
}

void nm_sock_follow(void *opts, const void *from)
{
	struct nm_sock_opts *o = opts;

	*o = *(const struct nm_sock_opts *)from;
	o->source_port = 0;
}

double nm_sock_max_pacing_bps(const void *opts)
{
	const struct nm_sock_opts *o = opts;

	return o->max_pacing_bps;
}

uint64_t nm_sock_busy_poll_ns(const void *opts)
{
	const struct nm_sock_opts *o = opts;

	return o->busy_poll_ns;
}

int nm_sock_bind(int fd, const struct nm_sock_opts *o, struct nm_conn *conn, int family)
{
	union nm_source at = {.family = (sa_family_t)family};
	struct nm_addr addr;

	if (!o->n_sources && !o->source_port)
		return 0;
	if (o->n_sources)
		at = o->sources[conn->number % o->n_sources];
	address_of(&at, &addr);
	if (o->source_port)
		nm_addr_set_port(&addr, (uint16_t)(o->source_port + o->source_skip +
						   conn->number * o->source_ports +
						   conn->bind_count++ % o->source_ports));
	else
		/* Lets the kernel choose the port at connect, when it knows the whole four-tuple;
		 * over IPv6, too. */
		(void)nm_socket_set(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, 1);
	return bind(fd, (const struct sockaddr *)&addr.sa, addr.len) < 0 ? -errno : 0;
}

static const char *family_name(int family)
{
	return family == AF_INET6 ? "IPv6" : "IPv4";
}

/* 0 or -errno. */
static int try_bind(const struct nm_sock_opts *o, const struct nm_addr *addr)
{
	struct nm_setting setting = {.family = addr->sa.ss_family};
	int r;

	setting.fd = socket(setting.family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (setting.fd < 0)
		return -errno;
	nm_setting_common(&setting, o, true); /* a failure is reported elsewhere */
	r = bind(setting.fd, (const struct sockaddr *)&addr->sa, addr->len) < 0 ? -errno : 0;
	(void)close(setting.fd);
	return r;
}

/* A link-local address is on each link of the host. */
static bool lacks_scope(const struct nm_addr *addr)
{
	const struct sockaddr_in6 *v6 = (const void *)&addr->sa;

	return addr->sa.ss_family == AF_INET6 && IN6_IS_ADDR_LINKLOCAL(&v6->sin6_addr) &&
	       !v6->sin6_scope_id;
}

int nm_sock_try_sources(const struct nm_sock_opts *o, const struct nm_start *how, char *why,
			size_t why_size)
{
	const struct nm_addr *peer = how->peer;
	const char *words = how->localhost_words ? how->localhost_words : "localhost";
	int family = peer ? peer->sa.ss_family : AF_UNSPEC;

	for (uint32_t i = 0; i < o->n_sources; i++) {
		struct nm_addr addr;
		char own[INET6_ADDRSTRLEN + 20], other[INET6_ADDRSTRLEN + 20];

		address_of(&o->sources[i], &addr);
		(void)nm_addr_text(&addr, own, sizeof own);
		if ((family == AF_INET || family == AF_INET6) && addr.sa.ss_family != family) {
			(void)nm_addr_text(peer, other, sizeof other);
			snprintf(why, why_size,
				 "%s: %s is of %s, and %s, to which it is to connect, of %s", words,
				 own, family_name(addr.sa.ss_family), other, family_name(family));
			return -EAFNOSUPPORT;
		}
		int r = try_bind(o, &addr);

		if (r < 0) {
			snprintf(why, why_size, "%s: %s cannot be bound here: %s%s", words, own,
				 strerror(-r),
				 lacks_scope(&addr) ? ": an interface that this host has must "
						      "stand behind it, as in %eth0"
						    : "");
			return r;
		}
	}
	return 0;
}
