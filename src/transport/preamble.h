/* SPDX-License-Identifier: Apache-2.0 */
/* The preamble: the first message of a connection that has to name its flow. The preamble names the
 * flow, and proves that its sender knows the token of the run: by a code over all its fields and
 * over a nonce of the accepting end, so that it is worth nothing anywhere else. Streams carry it
 * once.
 *
 * Over a transport without connections the accepting end answers, and the connecting end repeats
 * its hello until then. As the source address of a datagram proves nothing, the first answer to a
 * hello is a challenge: a cookie made of that address, which the next hello has to bring back.
 * Nothing is kept of a hello until then. No answer is longer than the message that it answers.
 *
 * Nothing here reads a clock or moves a byte: the caller passes bytes and times in, and is told
 * what to do. */
#ifndef NM_TRANSPORT_PREAMBLE_H
#define NM_TRANSPORT_PREAMBLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NM_PREAMBLE_BYTES 56
#define NM_NONCE_BYTES	  16
#define NM_COOKIE_BYTES	  16

struct nm_prover;

struct nm_preamble {
	uint32_t group, opening, flow;
	/* Tells the connections of a flow apart; it grows with each of them, modulo 2^32, and is
	 * never 0. */
	uint32_t serial;
	/* In an answer: the port on which the accepting end goes on; 0 otherwise. */
	uint32_t port;
	/* The cookie of a challenge, and of a hello after it; zeros otherwise. */
	unsigned char cookie[NM_COOKIE_BYTES];
};

enum nm_preamble_kind {
	NM_PREAMBLE_NONE, /* the bytes are no preamble */
	NM_PREAMBLE_HELLO,
	NM_PREAMBLE_CHALLENGE,
	NM_PREAMBLE_ANSWER,
};

/* Writes a preamble of that kind with its proof. nonce: NM_NONCE_BYTES of the end that accepts, in
 * either direction. */
void nm_preamble_pack(const struct nm_preamble *preamble, enum nm_preamble_kind kind,
		      struct nm_prover *prover, const unsigned char *nonce,
		      char to[NM_PREAMBLE_BYTES]);
/* Reads one whole message of `size` bytes, without checking its proof. *ret is written unless the
 * result is NM_PREAMBLE_NONE. */
enum nm_preamble_kind nm_preamble_unpack(const void *from, size_t size, struct nm_preamble *ret);
/* Whether the sender of a whole preamble knows the token, and made it for the end with that
 * nonce. */
bool nm_preamble_is_proved(const char wire[NM_PREAMBLE_BYTES], struct nm_prover *prover,
			   const unsigned char *nonce);

/* --- streams: the accepting end, which gets the bytes in pieces --- */

/* Zeroed before the first byte. */
struct nm_preamble_parser {
	uint32_t got;
	char bytes[NM_PREAMBLE_BYTES];
};

enum nm_preamble_status { NM_PREAMBLE_MORE, NM_PREAMBLE_DONE, NM_PREAMBLE_BAD };

/* Where to receive the next bytes, no more than *ret_room of them: bytes behind the preamble are
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
	uint64_t since_ns;		       /* when it was sent first */
	uint32_t serial;		       /* 0: none is on the way */
	uint32_t tries;			       /* repetitions that are due since then */
	unsigned char cookie[NM_COOKIE_BYTES]; /* of the challenge; zeros: none has come */
};

enum nm_preamble_action { NM_PREAMBLE_SEND, NM_PREAMBLE_WAIT, NM_PREAMBLE_GIVE_UP };

/* Begins with a new connection, whose serial is the next of *serials. The preamble is to be sent
 * now. */
void nm_preamble_begin(struct nm_preamble_sender *sender, uint32_t *serials, uint64_t now_ns);
/* Says what to do at now_ns while no answer has come. SEND, WAIT: *ret_next_ns is when to ask
 * again. The time between two repetitions doubles a few times, and then stays. GIVE_UP: limit_ns
 * have passed since the first preamble. */
enum nm_preamble_action nm_preamble_due(struct nm_preamble_sender *sender, uint64_t limit_ns,
					uint64_t now_ns, uint64_t *ret_next_ns);
enum nm_preamble_reply {
	NM_PREAMBLE_UNRELATED,	/* to be ignored, as are replies to earlier connections */
	NM_PREAMBLE_CHALLENGED, /* the hello must bring back sender->cookie, at once */
	NM_PREAMBLE_ANSWERED,
};

/* Reads a message of `size` bytes for the sender of a preamble. ANSWERED: *ret_port is the port
 * that the message names. */
enum nm_preamble_reply nm_preamble_read_reply(struct nm_preamble_sender *sender,
					      const struct nm_preamble *sent, const void *from,
					      size_t size, struct nm_prover *prover,
					      const unsigned char *nonce, uint32_t *ret_port);

/* --- datagrams: the accepting end --- */

/* The last hello of a flow that has been answered. Zeroed before the first. */
struct nm_preamble_known {
	uint32_t serial; /* 0: none yet */
	uint32_t port;	 /* the port that the answer named */
};

enum nm_preamble_verdict {
	NM_PREAMBLE_NEW,      /* of a connection that is not there yet */
	NM_PREAMBLE_REPEATED, /* the answer is lost, or late: it is sent again */
	NM_PREAMBLE_OLD,      /* of an earlier connection, and late: no answer */
};

/* Judges the hello of a connection with that serial by the last one of its flow that was
 * answered. */
enum nm_preamble_verdict nm_preamble_judge(const struct nm_preamble_known *known, uint32_t serial);
/* Whether the hello brings back the cookie of its challenge. Otherwise its cookie becomes that
 * cookie, and it is to be sent back as a challenge. keeper: of this end alone
 * (nm_prover_new_random); from: the address that the hello comes from, in from_size bytes. */
bool nm_preamble_is_returned(struct nm_preamble *hello, struct nm_prover *keeper, const void *from,
			     size_t from_size);

/* --- streams: the accepting end, once a preamble is read --- */

/* The serials of a flow that have been taken, as far as they are remembered; zeroed before the
 * first. */
struct nm_preamble_taken {
	uint32_t last;
	uint64_t *bits; /* by serial, `words` of them */
};

/* Whether a connection with that serial is the first that has it; later ones are not, nor is one
 * that is 64 times `words` or more behind the last. words: a power of 2. */
bool nm_preamble_take(struct nm_preamble_taken *taken, uint32_t words, uint32_t serial);

#endif
