/* SPDX-License-Identifier: Apache-2.0 */
/* Asks the kernel about PSP, and for keys. Answers are received here and not by libnl, which would
 * leave copies of keys in freed memory. */
#include "host/psp.h"

#include <errno.h>
#include <net/if.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <netlink/netlink.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define FAMILY	"psp"
#define VERSION 1

/* Numbers of psp.yaml, for C libraries whose kernel headers are older. */
enum {
	CMD_DEV_GET = 1,
	CMD_DEV_DEL_NTF = 3,
	CMD_KEY_ROTATE_NTF = 7,
	CMD_RX_ASSOC = 8,
	CMD_TX_ASSOC = 9,
	CMD_GET_STATS = 10,
};
enum { DEV_ID = 1, DEV_IFINDEX = 2, DEV_VERSIONS_CAP = 3, DEV_VERSIONS_ENA = 4, DEV_MAX = 4 };
enum {
	ASSOC_DEV_ID = 1,
	ASSOC_VERSION = 2,
	ASSOC_RX_KEY = 3,
	ASSOC_TX_KEY = 4,
	ASSOC_SOCK_FD = 5,
	ASSOC_MAX = 5
};
enum { KEY_KEY = 1, KEY_SPI = 2, KEY_MAX = 2 };
enum {
	STATS_KEY_ROTATIONS = 2,
	STATS_STALE_EVENTS,
	STATS_RX_PACKETS,
	STATS_RX_BYTES,
	STATS_RX_AUTH_FAIL,
	STATS_RX_ERROR,
	STATS_RX_BAD,
	STATS_TX_PACKETS,
	STATS_TX_BYTES,
	STATS_TX_ERROR,
	STATS_MAX = STATS_TX_ERROR
};

const char *const nm_psp_version_words[NM_PSP_VERSIONS + 1] = {"aes-gcm-128", "aes-gcm-256",
							       "aes-gmac-128", "aes-gmac-256"};

struct nm_psp {
	struct nl_sock *sock;
	int family;
};

/* Room for what one receive brings; a dump comes in parts that are no longer (netlink(7)). */
union reply {
	struct nlmsghdr header; /* for its alignment */
	char bytes[32768];
};

typedef void (*reader_fn)(struct nlmsghdr *header, void *arg);

struct nm_psp *nm_psp_close(struct nm_psp *psp)
{
	if (!psp)
		return NULL;
	nl_socket_free(psp->sock);
	free(psp);
	return NULL;
}

int nm_psp_open(struct nm_psp **ret_psp)
{
	struct nm_psp *psp = calloc(1, sizeof *psp);

	if (!psp)
		return -ENOMEM;
	psp->sock = nl_socket_alloc();
	int r = psp->sock ? 0 : -ENOMEM;

	if (r == 0 && genl_connect(psp->sock) < 0)
		r = -EIO;
	if (r == 0) {
		psp->family = genl_ctrl_resolve(psp->sock, FAMILY);
		r = psp->family < 0 ? -ENOENT : 0;
	}
	if (r < 0) {
		nm_psp_close(psp);
		return r;
	}
	*ret_psp = psp;
	return 0;
}

/* ---- asking ---- */

/* The bytes of a message may hold a key. */
static struct nl_msg *drop(struct nl_msg *msg)
{
	if (msg) {
		explicit_bzero(nlmsg_data(nlmsg_hdr(msg)), (size_t)nlmsg_datalen(nlmsg_hdr(msg)));
		nlmsg_free(msg);
	}
	return NULL;
}

static struct nl_msg *request(const struct nm_psp *psp, uint8_t command, int flags)
{
	struct nl_msg *msg = nlmsg_alloc();

	if (msg &&
	    !genlmsg_put(msg, NL_AUTO_PORT, NL_AUTO_SEQ, psp->family, 0, flags, command, VERSION))
		return drop(msg);
	return msg;
}

/* 1: all is answered; 0: more is to come; or -errno, the kernel's answer. */
static int read_one(struct nlmsghdr *header, reader_fn reader, void *arg)
{
	const struct nlmsgerr *error = nlmsg_data(header);

	if (header->nlmsg_type == NLMSG_DONE)
		return 1;
	if (header->nlmsg_type == NLMSG_ERROR)
		return nlmsg_datalen(header) < (int)sizeof error->error ? -EPROTO
		       : error->error					? error->error
									: 1;
	if (header->nlmsg_type >= NLMSG_MIN_TYPE && genlmsg_valid_hdr(header, 0) && reader)
		reader(header, arg);
	return 0;
}

static int read_reply(struct nm_psp *psp, uint32_t seq, reader_fn reader, void *arg)
{
	union reply reply;
	int r = 0;

	while (r == 0) {
		ssize_t n = recv(nl_socket_get_fd(psp->sock), reply.bytes, sizeof reply.bytes, 0);
		struct nlmsghdr *at = &reply.header;
		int left = (int)n;

		if (n <= 0)
			r = n < 0 && errno == EINTR ? 0 : n < 0 ? -errno : -EPROTO;
		for (; n > 0 && r == 0 && nlmsg_ok(at, left); at = nlmsg_next(at, &left))
			if (at->nlmsg_seq == seq)
				r = read_one(at, reader, arg);
		if (n > 0)
			explicit_bzero(reply.bytes, (size_t)n);
	}
	return r < 0 ? r : 0;
}

/* Sends msg, which it frees, and reads the answer. */
static int ask(struct nm_psp *psp, struct nl_msg *msg, reader_fn reader, void *arg)
{
	if (!msg)
		return -ENOMEM;
	nl_complete_msg(psp->sock, msg);
	struct nlmsghdr *header = nlmsg_hdr(msg);
	uint32_t seq = header->nlmsg_seq;

	/* A dump ends by itself. */
	if (header->nlmsg_flags & NLM_F_DUMP)
		header->nlmsg_flags &= (uint16_t)~NLM_F_ACK;
	else
		header->nlmsg_flags |= NLM_F_ACK;
	ssize_t n = send(nl_socket_get_fd(psp->sock), header, header->nlmsg_len, 0);
	int r = n < 0 ? -errno : 0;

	drop(msg);
	return r < 0 ? r : read_reply(psp, seq, reader, arg);
}

static uint32_t u32_of(const struct nlattr *attr)
{
	return attr && nla_len(attr) >= 4 ? nla_get_u32(attr) : 0;
}

/* The "uint" of the specification: 4 or 8 bytes. */
static uint64_t uint_of(const struct nlattr *attr)
{
	return attr && nla_len(attr) >= 8 ? nla_get_u64(attr) : u32_of(attr);
}

/* ---- devices ---- */

struct devices {
	struct nm_psp_device *list;
	size_t count;
};

static void read_device(struct nlmsghdr *header, void *arg)
{
	struct devices *devices = arg;
	struct nlattr *attrs[DEV_MAX + 1];

	if (devices->count == NM_PSP_MAX_DEVICES ||
	    genlmsg_parse(header, 0, attrs, DEV_MAX, NULL) < 0)
		return;
	struct nm_psp_device *device = &devices->list[devices->count++];
	char name[IF_NAMESIZE] = "";

	*device = (struct nm_psp_device){.id = u32_of(attrs[DEV_ID]),
					 .can = u32_of(attrs[DEV_VERSIONS_CAP]),
					 .takes = u32_of(attrs[DEV_VERSIONS_ENA])};
	if (if_indextoname(u32_of(attrs[DEV_IFINDEX]), name))
		memcpy(device->name, name, sizeof device->name);
}

int nm_psp_devices(struct nm_psp *psp, struct nm_psp_device *list, size_t *ret_count)
{
	struct devices devices = {.list = list};
	int r = ask(psp, request(psp, CMD_DEV_GET, NLM_F_DUMP), read_device, &devices);

	if (r == 0)
		*ret_count = devices.count;
	return r;
}

static void read_stats(struct nlmsghdr *header, void *arg)
{
	struct nm_psp_stats *stats = arg;
	struct nlattr *attrs[STATS_MAX + 1];

	if (genlmsg_parse(header, 0, attrs, STATS_MAX, NULL) < 0)
		return;
#define READ(member, word, ...) stats->member = uint_of(attrs[STATS_##word]);
	NM_PSP_COUNTERS(READ)
#undef READ
}

int nm_psp_stats(struct nm_psp *psp, uint32_t device, struct nm_psp_stats *ret_stats)
{
	struct nl_msg *msg = request(psp, CMD_GET_STATS, 0);

	*ret_stats = (struct nm_psp_stats){.key_rotations = 0};
	if (msg && nla_put_u32(msg, 1 /* dev-id */, device) < 0)
		msg = drop(msg);
	return ask(psp, msg, read_stats, ret_stats);
}

/* ---- sockets ---- */

struct received {
	struct nm_psp_key *key;
	uint32_t device;
};

static void read_key(struct nlmsghdr *header, void *arg)
{
	struct received *received = arg;
	struct nlattr *attrs[ASSOC_MAX + 1], *key[KEY_MAX + 1];

	if (genlmsg_parse(header, 0, attrs, ASSOC_MAX, NULL) < 0 || !attrs[ASSOC_RX_KEY] ||
	    nla_parse_nested(key, KEY_MAX, attrs[ASSOC_RX_KEY], NULL) < 0 || !key[KEY_KEY])
		return;
	uint32_t size = (uint32_t)nla_len(key[KEY_KEY]);

	if (size > NM_PSP_MAX_KEY)
		return;
	received->device = u32_of(attrs[ASSOC_DEV_ID]);
	received->key->spi = u32_of(key[KEY_SPI]);
	received->key->size = size;
	memcpy(received->key->key, nla_data(key[KEY_KEY]), size);
}

int nm_psp_receive(struct nm_psp *psp, int fd, unsigned version, struct nm_psp_key *ret_key,
		   uint32_t *ret_device)
{
	struct received received = {.key = ret_key};
	struct nl_msg *msg = request(psp, CMD_RX_ASSOC, 0);

	ret_key->size = 0;
	if (msg && (nla_put_u32(msg, ASSOC_VERSION, version) < 0 ||
		    nla_put_u32(msg, ASSOC_SOCK_FD, (uint32_t)fd) < 0))
		msg = drop(msg);
	int r = ask(psp, msg, read_key, &received);

	if (r < 0)
		return r;
	*ret_device = received.device;
	return ret_key->size ? 0 : -EPROTO;
}

int nm_psp_send(struct nm_psp *psp, int fd, unsigned version, const struct nm_psp_key *key)
{
	struct nl_msg *msg = request(psp, CMD_TX_ASSOC, 0);
	/* Without the flag the kernel takes no nest. */
	struct nlattr *nest = msg ? nla_nest_start(msg, ASSOC_TX_KEY | NLA_F_NESTED) : NULL;

	if (!nest || nla_put(msg, KEY_KEY, (int)key->size, key->key) < 0 ||
	    nla_put_u32(msg, KEY_SPI, key->spi) < 0 || nla_nest_end(msg, nest) < 0 ||
	    nla_put_u32(msg, ASSOC_VERSION, version) < 0 ||
	    nla_put_u32(msg, ASSOC_SOCK_FD, (uint32_t)fd) < 0)
		msg = drop(msg);
	return ask(psp, msg, NULL, NULL);
}

/* ---- events ---- */

int nm_psp_watch(struct nm_psp *psp)
{
	int use, mgmt;

	/* libnl does not know the requests that were sent without it. */
	nl_socket_disable_seq_check(psp->sock);
	use = genl_ctrl_resolve_grp(psp->sock, FAMILY, "use");
	mgmt = genl_ctrl_resolve_grp(psp->sock, FAMILY, "mgmt");
	if (use < 0 || mgmt < 0 || nl_socket_add_memberships(psp->sock, use, mgmt, 0) < 0)
		return -EIO;
	return 0;
}

int nm_psp_fd(const struct nm_psp *psp)
{
	return nl_socket_get_fd(psp->sock);
}

/* True when the message is an event. */
static bool read_event(struct nm_psp *psp, struct nlmsghdr *header, enum nm_psp_event *ret_event,
		       uint32_t *ret_device)
{
	struct nlattr *attrs[DEV_MAX + 1];

	if (header->nlmsg_type != psp->family || !genlmsg_valid_hdr(header, 0) ||
	    genlmsg_parse(header, 0, attrs, DEV_MAX, NULL) < 0)
		return false;
	uint8_t command = genlmsg_hdr(header)->cmd;

	if (command != CMD_KEY_ROTATE_NTF && command != CMD_DEV_DEL_NTF)
		return false;
	*ret_event = command == CMD_DEV_DEL_NTF ? NM_PSP_GONE : NM_PSP_ROTATED;
	*ret_device = u32_of(attrs[DEV_ID]);
	return true;
}

int nm_psp_next(struct nm_psp *psp, enum nm_psp_event *ret_event, uint32_t *ret_device)
{
	union {
		struct nlmsghdr header;
		char bytes[4096];
	} got;

	/* Each notification is a datagram of its own. */
	for (;;) {
		ssize_t n = recv(nl_socket_get_fd(psp->sock), got.bytes, sizeof got.bytes,
				 MSG_DONTWAIT);

		if (n < 0 && errno == ENOBUFS) {
			*ret_event = NM_PSP_MISSED;
			*ret_device = 0;
			return 1;
		}
		if (n <= 0)
			return 0;
		if (nlmsg_ok(&got.header, (int)n) &&
		    read_event(psp, &got.header, ret_event, ret_device))
			return 1;
	}
}
