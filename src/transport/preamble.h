/* SPDX-License-Identifier: Apache-2.0 */
/* The preamble: the first message of a connection whose listener serves several flows. It says
 * which flow the connection is for, and its cookie proves that it belongs to this run. Streams
 * carry it once. Over a transport that may lose it the accepting end answers, and the connecting
 * end repeats it until then.
 *
 * Nothing here reads a clock or moves a byte: bytes and times come in, and what is to be done goes
 * out. */
#ifndef NM_TRANSPORT_PREAMBLE_H
#define NM_TRANSPORT_PREAMBLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NM_PREAMBLE_BYTES 32

struct nm_preamble {
	uint64_t cookie; /* of the run */
	uint32_t group, opening, flow;
	/* Tells the connections of a flow apart; it grows with each of them, modulo 2^32, and is
	 * never 0. */
	uint32_t serial;
	/* In an answer: the port on which the accepting end goes on; 0 otherwise. */
	uint32_t port;
};

enum nm_preamble_kind {
	NM_PREAMBLE_NONE, /* the bytes are no preamble */
	NM_PREAMBLE_HELLO,
	NM_PREAMBLE_ANSWER,
};

/* Writes a hello or an answer. */
void nm_preamble_pack(const struct nm_preamble *preamble, enum nm_preamble_kind kind,
		      char to[NM_PREAMBLE_BYTES]);
/* Reads one whole message of `size` bytes. *ret is written unless the answer is
 * NM_PREAMBLE_NONE. */
enum nm_preamble_kind nm_preamble_unpack(const void *from, size_t size, struct nm_preamble *ret);

/* --- streams: the accepting end, which gets the bytes in pieces --- */

/* Zeroed before the first byte. */
struct nm_preamble_parser {
	uint32_t got;
	char bytes[NM_PREAMBLE_BYTES];
};

enum nm_preamble_status { NM_PREAMBLE_MORE, NM_PREAMBLE_DONE, NM_PREAMBLE_BAD };

/* Where the next bytes go. No more than *ret_room may be received: what is behind the preamble is
 * the flow's. */
char *nm_preamble_next(struct nm_preamble_parser *parser, size_t *ret_room);
/* So many bytes have come there. DONE with *ret: the hello is complete. BAD: the bytes cannot
 * become one. */
enum nm_preamble_status nm_preamble_parse(struct nm_preamble_parser *parser, size_t n,
					  struct nm_preamble *ret);

/* --- datagrams: the connecting end --- */

/* When the preamble is repeated for the first time. */
#define NM_PREAMBLE_FIRST_NS 20000000u
/* How long it is repeated where the profile does not say. */
#define NM_PREAMBLE_LIMIT_NS 10000000000u

/* Zeroed while nothing is sent. */
struct nm_preamble_sender {
	uint64_t since_ns; /* when it was sent first */
	uint32_t serial;   /* 0: none is on the way */
	uint32_t tries;	   /* repetitions that are due since then */
};

enum nm_preamble_action { NM_PREAMBLE_SEND, NM_PREAMBLE_WAIT, NM_PREAMBLE_GIVE_UP };

/* Begins with a new connection, whose serial is the next of *serials. The preamble is to be sent
 * now. */
void nm_preamble_begin(struct nm_preamble_sender *sender, uint32_t *serials, uint64_t now_ns);
/* What to do at now_ns while no answer has come. SEND, WAIT: *ret_next_ns is when to ask again. The
 * time between two repetitions doubles some times and is the same then. GIVE_UP: limit_ns are over
 * since the first. */
enum nm_preamble_action nm_preamble_due(struct nm_preamble_sender *sender, uint64_t limit_ns,
					uint64_t now_ns, uint64_t *ret_next_ns);
/* Whether a message of `size` bytes answers what was sent, *ret_port the port that it names. All
 * others, also answers to earlier connections, are to be ignored. */
bool nm_preamble_is_answered(const struct nm_preamble *sent, const void *from, size_t size,
			     uint32_t *ret_port);

/* --- datagrams: the accepting end --- */

/* The last hello of a flow that has been answered. Zeroed before the first. */
struct nm_preamble_known {
	uint32_t serial; /* 0: none yet */
	uint32_t port;	 /* what the answer said */
};

enum nm_preamble_verdict {
	NM_PREAMBLE_NEW,      /* of a connection that is not there yet */
	NM_PREAMBLE_REPEATED, /* the answer is lost, or late: the same answer once more */
	NM_PREAMBLE_OLD,      /* of an earlier connection, and late: no answer */
};

/* What the hello of a connection with that serial means, after what is known of its flow. */
enum nm_preamble_verdict nm_preamble_judge(const struct nm_preamble_known *known, uint32_t serial);

#endif
