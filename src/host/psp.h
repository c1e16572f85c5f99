/* SPDX-License-Identifier: Apache-2.0 */
/* PSP, the encryption of single TCP connections by the network card, as the kernel offers it:
 * generic netlink, family "psp" (Documentation/netlink/specs/psp.yaml of Linux 6.18 and later). The
 * kernel has no software for it and exchanges no keys. All functions return 0 or -errno; none
 * keeps, prints or logs a key. */
#ifndef NM_HOST_PSP_H
#define NM_HOST_PSP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NM_PSP_MAX_KEY	   32 /* bytes */
#define NM_PSP_MAX_DEVICES 8

/* Versions of the PSP header. The last two prove who has sent a segment, and encrypt nothing. */
enum nm_psp_version {
	NM_PSP_AES_GCM_128,
	NM_PSP_AES_GCM_256,
	NM_PSP_AES_GMAC_128,
	NM_PSP_AES_GMAC_256,
	NM_PSP_VERSIONS
};
extern const char *const nm_psp_version_words[NM_PSP_VERSIONS + 1]; /* ends with NULL */

/* The key that a sender needs. The receiver derives it anew from the SPI of each packet. */
struct nm_psp_key {
	uint32_t spi;
	uint32_t size; /* bytes of key; 16 or 32, by the version */
	unsigned char key[NM_PSP_MAX_KEY];
};

struct nm_psp_device {
	uint32_t id;	/* a device that has gone and come again has another */
	char name[16];	/* of its network interface; "": not in this network namespace */
	uint32_t can;	/* mask of versions, 1 << enum nm_psp_version */
	uint32_t takes; /* versions accepted on receive: an administrator chooses */
};

/* Counters of a device: X(member, the word of psp.yaml in capitals, its meaning or NULL). */
#define NM_PSP_COUNTERS(X)                                                                         \
	X(key_rotations, KEY_ROTATIONS, NULL)                                                      \
	X(stale_events, STALE_EVENTS,                                                              \
	  "Connections that were open when their keys expired, with the second rotation.")         \
	X(rx_packets, RX_PACKETS, NULL)                                                            \
	X(rx_bytes, RX_BYTES, "Of TCP headers and what follows them.")                             \
	X(rx_auth_fail, RX_AUTH_FAIL, NULL)                                                        \
	X(rx_error, RX_ERROR, NULL)                                                                \
	X(rx_bad, RX_BAD, NULL)                                                                    \
	X(tx_packets, TX_PACKETS, NULL)                                                            \
	X(tx_bytes, TX_BYTES, "Of TCP headers and what follows them.")                             \
	X(tx_error, TX_ERROR, NULL)

struct nm_psp_stats {
#define NM_PSP_MEMBER(member, ...) uint64_t member;
	NM_PSP_COUNTERS(NM_PSP_MEMBER)
#undef NM_PSP_MEMBER
};

/* A netlink socket of the caller's network namespace; used by one thread at a time. */
struct nm_psp;
/* -ENOENT: the kernel has no PSP. */
int nm_psp_open(struct nm_psp **ret_psp);
struct nm_psp *nm_psp_close(struct nm_psp *psp); /* accepts NULL, returns NULL */
/* The devices that this network namespace has, at most NM_PSP_MAX_DEVICES of them. */
int nm_psp_devices(struct nm_psp *psp, struct nm_psp_device *devices, size_t *ret_count);
/* The counts of a device since it was made. -EOPNOTSUPP before Linux 6.19. */
int nm_psp_stats(struct nm_psp *psp, uint32_t device, struct nm_psp_stats *ret_stats);
/* Makes a connected TCP socket of this process accept PSP segments, and gives the key by which its
 * peer can send them. The device is the one by which the socket's route leaves; -EINVAL: it leaves
 * by none. */
int nm_psp_receive(struct nm_psp *psp, int fd, unsigned version, struct nm_psp_key *ret_key,
		   uint32_t *ret_device);
/* Makes the socket send nothing but PSP segments from now on, and accept nothing else. -EBUSY:
 * clear bytes are not read yet. */
int nm_psp_send(struct nm_psp *psp, int fd, unsigned version, const struct nm_psp_key *key);

/* Events of devices. */
enum nm_psp_event {
	NM_PSP_ROTATED = 1, /* keys given until now outlive one more rotation, and no second */
	NM_PSP_GONE,	    /* the device has gone, and with it all keys */
	NM_PSP_MISSED,	    /* the kernel had more to tell than there was room for */
};
/* Subscribes; the descriptor becomes readable when there is an event. */
int nm_psp_watch(struct nm_psp *psp);
int nm_psp_fd(const struct nm_psp *psp);
/* The next event of a socket that watches: 1, or 0 when there is none. */
int nm_psp_next(struct nm_psp *psp, enum nm_psp_event *ret_event, uint32_t *ret_device);

#endif
