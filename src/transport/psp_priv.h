/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of the transport psp. */
#ifndef NM_TRANSPORT_PSP_PRIV_H
#define NM_TRANSPORT_PSP_PRIV_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host/psp.h"
#include "transport/ssl_priv.h"
#include "transport/transport.h"

#define NM_PSP_SOCKETS 64 /* netlink sockets that are kept for the next connection */

struct nm_psp_opts {
	struct nm_inet_opts inet;
	int version; /* enum nm_psp_version */
};

/* The result of start. All of it but the sockets is immutable while workers run. */
struct nm_psp_started {
	SSL_CTX *ctx;
	SSL_SESSION *key; /* by which both ends of the run know each other; TLS uses copies of it */
	BIO_METHOD *bio;
	bool accepting;
	bool nodelay;
	int user_timeout_ms;
	unsigned version;
	struct nm_psp *watcher;
	struct nm_psp_device devices[NM_PSP_MAX_DEVICES]; /* that take the version */
	size_t n_devices;
	_Atomic uint32_t *rotations; /* of each device; shared with workers that are processes */
	/* The netlink sockets that no worker uses now. */
	_Atomic(struct nm_psp *) sockets[NM_PSP_SOCKETS];
};

/* psp_start.c */
int nm_psp_available(const char *host, char *why, size_t why_size);
int nm_psp_start(const void *opts, const struct nm_start *how, void **ret_started, char *why,
		 size_t why_size);
void nm_psp_stop(void *started);
int nm_psp_event_fd(const void *started);
enum nm_transport_event nm_psp_event(void *started, char *why, size_t why_size);
bool nm_psp_expired(const struct nm_conn *conn, const void *started, char *why, size_t why_size);
/* A netlink socket for the caller alone: NULL when there cannot be one. */
struct nm_psp *nm_psp_borrow(struct nm_psp_started *started);
void nm_psp_give_back(struct nm_psp_started *started, struct nm_psp *psp);

/* psp_tls.c: TLS 1.3 by a key that is derived from the secret of the run, and nothing else. 0 or
 * -errno. */
int nm_psp_tls_start(struct nm_psp_started *started, const unsigned char secret[NM_SECRET_BYTES]);
SSL *nm_psp_tls_new(const struct nm_psp_started *started, struct nm_ssl_io *io); /* or NULL */

#endif
