/* SPDX-License-Identifier: Apache-2.0 */
/* The preamble of a connection as a pure protocol: its form on the wire, how it is parsed from
 * pieces, when it is repeated, and how it is answered. The caller owns the socket and the clock. */
#include "transport/preamble.h"

#include <arpa/inet.h>
#include <string.h>

#include <openssl/crypto.h>

#include "transport/prover.h"

static const char words[][4] = {
	[NM_PREAMBLE_HELLO] = {'n', 'm', 'H', 'i'},
	[NM_PREAMBLE_CHALLENGE] = {'n', 'm', 'W', 'h'},
	[NM_PREAMBLE_ANSWER] = {'n', 'm', 'O', 'k'},
};

struct wire {
	char word[4];
	uint32_t group, opening, flow, serial, port;
	unsigned char cookie[NM_COOKIE_BYTES];
	unsigned char proof[NM_PROOF_BYTES];
};

_Static_assert(sizeof(struct wire) == NM_PREAMBLE_BYTES, "no padding");

static bool prove(const struct wire *wire, struct nm_prover *prover, const unsigned char *nonce,
		  unsigned char ret[NM_PROOF_BYTES])
{
	return nm_prover_code(prover, nonce, NM_NONCE_BYTES, wire, offsetof(struct wire, proof),
			      ret);
}

void nm_preamble_pack(const struct nm_preamble *preamble, enum nm_preamble_kind kind,
		      struct nm_prover *prover, const unsigned char *nonce,
		      char to[NM_PREAMBLE_BYTES])
{
	struct wire wire = {
		.group = htonl(preamble->group),
		.opening = htonl(preamble->opening),
		.flow = htonl(preamble->flow),
		.serial = htonl(preamble->serial),
		.port = htonl(preamble->port),
	};

	memcpy(wire.word, words[kind], sizeof wire.word);
	memcpy(wire.cookie, preamble->cookie, sizeof wire.cookie);
	/* Without memory the preamble proves nothing, and the other end says so. */
	(void)prove(&wire, prover, nonce, wire.proof);
	memcpy(to, &wire, sizeof wire);
}

enum nm_preamble_kind nm_preamble_unpack(const void *from, size_t size, struct nm_preamble *ret)
{
	enum nm_preamble_kind kind = NM_PREAMBLE_HELLO;
	struct wire wire;

	if (size != sizeof wire)
		return NM_PREAMBLE_NONE;
	memcpy(&wire, from, sizeof wire);
	while (kind <= NM_PREAMBLE_ANSWER && memcmp(wire.word, words[kind], sizeof wire.word) != 0)
		kind++;
	if (kind > NM_PREAMBLE_ANSWER)
		return NM_PREAMBLE_NONE;
	*ret = (struct nm_preamble){
		.group = ntohl(wire.group),
		.opening = ntohl(wire.opening),
		.flow = ntohl(wire.flow),
		.serial = ntohl(wire.serial),
		.port = ntohl(wire.port),
	};
	memcpy(ret->cookie, wire.cookie, sizeof ret->cookie);
	return kind;
}

bool nm_preamble_is_proved(const char from[NM_PREAMBLE_BYTES], struct nm_prover *prover,
			   const unsigned char *nonce)
{
	unsigned char proof[NM_PROOF_BYTES];
	struct wire wire;

	memcpy(&wire, from, sizeof wire);
	return prove(&wire, prover, nonce, proof) &&
	       CRYPTO_memcmp(proof, wire.proof, sizeof proof) == 0;
}

/* --- streams --- */

char *nm_preamble_next(struct nm_preamble_parser *parser, size_t *ret_room)
{
	*ret_room = sizeof parser->bytes - parser->got;
	return parser->bytes + parser->got;
}

enum nm_preamble_status nm_preamble_parse(struct nm_preamble_parser *parser, size_t n,
					  struct nm_preamble *ret)
{
	const char *hello_word = words[NM_PREAMBLE_HELLO];
	const size_t word = sizeof words[NM_PREAMBLE_HELLO];

	parser->got += (uint32_t)n;
	/* A stranger is found out by the first bytes. */
	if (memcmp(parser->bytes, hello_word, parser->got < word ? parser->got : word) != 0)
		return NM_PREAMBLE_BAD;
	if (parser->got < sizeof parser->bytes)
		return NM_PREAMBLE_MORE;
	(void)nm_preamble_unpack(parser->bytes, sizeof parser->bytes, ret);
	return NM_PREAMBLE_DONE;
}

/* --- datagrams: the connecting end --- */

/* How often the time between two repetitions doubles: where many are lost they must not come too
 * seldom. */
#define DOUBLINGS 4u

/* How long after the first preamble the repetition with that number is due. */
static uint64_t due_ns(uint32_t number)
{
	const uint64_t first_ns = NM_PREAMBLE_FIRST_NS;
	uint32_t doubled = number < DOUBLINGS ? number : DOUBLINGS;

	return ((first_ns << doubled) - first_ns) +
	       (uint64_t)(number - doubled) * (first_ns << DOUBLINGS);
}

void nm_preamble_begin(struct nm_preamble_sender *sender, uint32_t *serials, uint64_t now_ns)
{
	uint32_t serial = ++*serials;

	if (!serial)
		serial = ++*serials;
	*sender = (struct nm_preamble_sender){.since_ns = now_ns, .serial = serial};
}

enum nm_preamble_action nm_preamble_due(struct nm_preamble_sender *sender, uint64_t limit_ns,
					uint64_t now_ns, uint64_t *ret_next_ns)
{
	uint64_t gone_ns = now_ns > sender->since_ns ? now_ns - sender->since_ns : 0;
	bool send = false;

	if (gone_ns >= limit_ns)
		return NM_PREAMBLE_GIVE_UP;
	/* A late caller sends one repetition for all that it has missed. */
	while (gone_ns >= due_ns(sender->tries + 1)) {
		sender->tries++;
		send = true;
	}
	uint64_t next_ns = due_ns(sender->tries + 1);

	*ret_next_ns = sender->since_ns + (next_ns < limit_ns ? next_ns : limit_ns);
	return send ? NM_PREAMBLE_SEND : NM_PREAMBLE_WAIT;
}

enum nm_preamble_reply nm_preamble_read_reply(struct nm_preamble_sender *sender,
					      const struct nm_preamble *sent, const void *from,
					      size_t size, struct nm_prover *prover,
					      const unsigned char *nonce, uint32_t *ret_port)
{
	struct nm_preamble its;
	enum nm_preamble_kind kind = nm_preamble_unpack(from, size, &its);

	if ((kind != NM_PREAMBLE_CHALLENGE && kind != NM_PREAMBLE_ANSWER) ||
	    its.group != sent->group || its.opening != sent->opening || its.flow != sent->flow ||
	    its.serial != sent->serial || !nm_preamble_is_proved(from, prover, nonce))
		return NM_PREAMBLE_UNRELATED;
	if (kind == NM_PREAMBLE_ANSWER) {
		*ret_port = its.port;
		return NM_PREAMBLE_ANSWERED;
	}
	/* A challenge that comes again has been heeded. */
	if (memcmp(sender->cookie, its.cookie, sizeof its.cookie) == 0)
		return NM_PREAMBLE_UNRELATED;
	memcpy(sender->cookie, its.cookie, sizeof sender->cookie);
	return NM_PREAMBLE_CHALLENGED;
}

/* --- datagrams: the accepting end --- */

enum nm_preamble_verdict nm_preamble_judge(const struct nm_preamble_known *known, uint32_t serial)
{
	if (!serial)
		return NM_PREAMBLE_OLD;
	if (serial == known->serial)
		return NM_PREAMBLE_REPEATED;
	if (known->serial && (int32_t)(serial - known->serial) < 0)
		return NM_PREAMBLE_OLD;
	return NM_PREAMBLE_NEW;
}

bool nm_preamble_is_returned(struct nm_preamble *hello, struct nm_prover *keeper, const void *from,
			     size_t from_size)
{
	const uint32_t ids[4] = {hello->group, hello->opening, hello->flow, hello->serial};
	unsigned char cookie[NM_COOKIE_BYTES];

	if (nm_prover_code(keeper, from, from_size, ids, sizeof ids, cookie) &&
	    CRYPTO_memcmp(cookie, hello->cookie, sizeof cookie) == 0)
		return true;
	memcpy(hello->cookie, cookie, sizeof cookie);
	return false;
}

/* --- streams: once --- */

static uint64_t bit_of(uint32_t serial)
{
	return UINT64_C(1) << (serial % 64);
}

bool nm_preamble_take(struct nm_preamble_taken *taken, uint32_t n_words, uint32_t serial)
{
	const uint32_t room = 64 * n_words;
	uint32_t ahead = serial - taken->last;
	uint64_t *word = &taken->bits[serial / 64 % n_words];

	if (!serial)
		return false;
	if (!taken->last || (int32_t)ahead > 0) {
		uint32_t forget = !taken->last ? 0 : ahead < room ? ahead : room;

		/* The serials between the last one and this take the places of the oldest, which
		 * are forgotten. */
		for (uint32_t i = 0; i < forget; i++)
			taken->bits[(serial - i) / 64 % n_words] &= ~bit_of(serial - i);
		taken->last = serial;
	} else if (-ahead >= room || (*word & bit_of(serial))) {
		return false;
	}
	*word |= bit_of(serial);
	return true;
}
