/* SPDX-License-Identifier: Apache-2.0 */
/* Starts an opening over PSP: looks for devices, prepares the protection of the key exchange, keeps
 * netlink sockets, and reads the events of devices. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <openssl/err.h>

#include "transport/psp_priv.h"

struct nm_psp *nm_psp_borrow(struct nm_psp_started *s)
{
	struct nm_psp *psp = NULL;

	for (size_t i = 0; i < NM_PSP_SOCKETS && !psp; i++)
		if (atomic_load_explicit(&s->sockets[i], memory_order_relaxed))
			psp = atomic_exchange(&s->sockets[i], NULL);
	if (!psp && nm_psp_open(&psp) < 0)
		return NULL;
	return psp;
}

void nm_psp_give_back(struct nm_psp_started *s, struct nm_psp *psp)
{
	for (size_t i = 0; i < NM_PSP_SOCKETS; i++) {
		struct nm_psp *none = NULL;

		if (atomic_compare_exchange_strong(&s->sockets[i], &none, psp))
			return;
	}
	nm_psp_close(psp);
}

/* ---- is it there? ---- */

/* The devices that can do PSP at all; -errno with a phrase in why when there are none. */
static int find_devices(struct nm_psp **ret_psp, struct nm_psp_device *devices, size_t *ret_count,
			char *why, size_t why_size)
{
	struct nm_psp *psp;
	int r = nm_psp_open(&psp);

	if (r < 0) {
		snprintf(why, why_size, "%s",
			 r == -ENOENT ? "the kernel has no PSP (Linux 6.18 or later, with "
					"CONFIG_INET_PSP)"
				      : strerror(-r));
		return r == -ENOENT ? -EPROTONOSUPPORT : r;
	}
	r = nm_psp_devices(psp, devices, ret_count);
	if (r < 0) {
		snprintf(why, why_size, "the kernel does not tell its PSP devices: %s",
			 strerror(-r));
	} else if (*ret_count == 0) {
		snprintf(why, why_size, "no network device of this network namespace has PSP");
		r = -ENODEV;
	}
	if (r < 0)
		nm_psp_close(psp);
	else
		*ret_psp = psp;
	return r;
}

int nm_psp_available(const char *host, char *why, size_t why_size)
{
	struct nm_psp_device devices[NM_PSP_MAX_DEVICES];
	struct nm_psp *psp;
	size_t count;
	int r = find_devices(&psp, devices, &count, why, why_size);

	(void)host;
	if (r == 0)
		nm_psp_close(psp);
	return r;
}

/* A mask of versions in words. */
static const char *versions_text(uint32_t mask, char *buf, size_t size)
{
	size_t used = 0;

	snprintf(buf, size, "none");
	for (unsigned v = 0; v < NM_PSP_VERSIONS; v++)
		if ((mask & 1u << v) && used < size)
			used += (size_t)snprintf(buf + used, size - used, "%s%s", used ? ", " : "",
						 nm_psp_version_words[v]);
	return buf;
}

/* Chooses the devices that take the version of the run. */
static int choose_devices(struct nm_psp_started *s, const struct nm_psp_device *devices,
			  size_t count, char *why, size_t why_size)
{
	uint32_t can = 0, takes = 0;
	char text[96];

	for (size_t i = 0; i < count; i++) {
		can |= devices[i].can;
		takes |= devices[i].takes;
		if (devices[i].takes & 1u << s->version)
			s->devices[s->n_devices++] = devices[i];
	}
	if (s->n_devices)
		return 0;
	const char *name = count == 1 ? devices[0].name : "no device";

	if (!takes)
		snprintf(why, why_size,
			 "PSP is not enabled on %s%s: an administrator has to set versions-ena "
			 "(dev-set), which is 0; it can: %s",
			 count == 1 ? "" : "any device, as ", name,
			 versions_text(can, text, sizeof text));
	else
		snprintf(why, why_size, "version=%s: %s here takes it; versions-ena allows: %s",
			 nm_psp_version_words[s->version], "no PSP device",
			 versions_text(takes, text, sizeof text));
	return -EOPNOTSUPP;
}

/* ---- life ---- */

#define ROTATIONS_BYTES (NM_PSP_MAX_DEVICES * sizeof(_Atomic uint32_t))

void nm_psp_stop(void *started)
{
	struct nm_psp_started *s = started;

	for (size_t i = 0; i < NM_PSP_SOCKETS; i++)
		nm_psp_close(atomic_load(&s->sockets[i]));
	nm_psp_close(s->watcher);
	if (s->rotations)
		(void)munmap(s->rotations, ROTATIONS_BYTES);
	SSL_SESSION_free(s->key);
	SSL_CTX_free(s->ctx);
	BIO_meth_free(s->bio);
	free(s);
}

static int make_rotations(struct nm_psp_started *s)
{
	void *memory = mmap(NULL, ROTATIONS_BYTES, PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		return -errno;
	s->rotations = memory;
	return 0;
}

int nm_psp_start(const void *opts, const struct nm_start *how, void **ret_started, char *why,
		 size_t why_size)
{
	const struct nm_psp_opts *o = opts;
	struct nm_psp_device devices[NM_PSP_MAX_DEVICES];
	size_t count;
	int r = nm_inet_start(opts, how, ret_started, why, why_size);

	if (r < 0)
		return r;
	struct nm_psp_started *s = calloc(1, sizeof *s);

	if (!s)
		return -ENOMEM;
	s->accepting = how->accepting;
	s->nodelay = o->inet.nodelay;
	s->user_timeout_ms = (int)((o->inet.user_timeout_ns + 999999) / 1000000);
	s->version = (unsigned)o->version;
	r = find_devices(&s->watcher, devices, &count, why, why_size);
	if (r == 0)
		r = choose_devices(s, devices, count, why, why_size);
	if (r == 0)
		r = make_rotations(s);
	if (r == 0)
		r = nm_psp_watch(s->watcher);
	if (r == 0)
		r = nm_psp_tls_start(s, how->secret);
	ERR_clear_error();
	if (r < 0) {
		nm_psp_stop(s);
		return r;
	}
	*ret_started = s;
	return 0;
}

/* ---- events ---- */

int nm_psp_event_fd(const void *started)
{
	const struct nm_psp_started *s = started;

	return nm_psp_fd(s->watcher);
}

static const struct nm_psp_device *find_device(const struct nm_psp_started *s, uint32_t id)
{
	for (size_t i = 0; i < s->n_devices; i++)
		if (s->devices[i].id == id)
			return &s->devices[i];
	return NULL;
}

enum nm_transport_event nm_psp_event(void *started, char *why, size_t why_size)
{
	struct nm_psp_started *s = started;
	enum nm_psp_event event;
	uint32_t id;

	while (nm_psp_next(s->watcher, &event, &id)) {
		const struct nm_psp_device *device = find_device(s, id);

		if (event == NM_PSP_MISSED)
			return NM_TRANSPORT_EVENT_RENEW;
		if (!device)
			continue;
		if (event == NM_PSP_ROTATED) {
			(void)atomic_fetch_add(&s->rotations[device - s->devices], 1);
			return NM_TRANSPORT_EVENT_RENEW;
		}
		snprintf(why, why_size, "the PSP device %u (%s) has gone, and with it all its keys",
			 id, *device->name ? device->name : "of another network namespace");
		return NM_TRANSPORT_EVENT_LOST;
	}
	return NM_TRANSPORT_EVENT_NONE;
}

/* The device drops, without a sign, all that arrives with a key of the generation before last. */
bool nm_psp_expired(const struct nm_conn *conn, const void *started, char *why, size_t why_size)
{
	const struct nm_psp_started *s = started;

	if (!conn->device)
		return false;
	size_t device = conn->device - 1u;
	uint16_t since = (uint16_t)(atomic_load(&s->rotations[device]) - conn->stream.rotations);

	if (since < 2)
		return false;
	snprintf(why, why_size,
		 "PSP: the keys of %s have been rotated %u times since this connection got its "
		 "own, which outlives one rotation: it was not replaced in time",
		 *s->devices[device].name ? s->devices[device].name : "the device", since);
	return true;
}
