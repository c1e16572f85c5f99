/* SPDX-License-Identifier: Apache-2.0 */
/* The preamble of a connection as a pure protocol: what stands on the wire, how it is parsed from
 * pieces, when it is repeated, and what is answered. Whoever calls owns the socket and the
 * clock. */
#include "transport/preamble.h"

#include <arpa/inet.h>
#include <string.h>

static const char hello_word[4] = {'n', 'm', 'H', 'i'}, answer_word[4] = {'n', 'm', 'O', 'k'};

struct wire {
	char word[4];
	uint32_t cookie[2];
	uint32_t group, opening, flow, serial, port;
};

_Static_assert(sizeof(struct wire) == NM_PREAMBLE_BYTES, "no padding");

void nm_preamble_pack(const struct nm_preamble *preamble, enum nm_preamble_kind kind,
		      char to[NM_PREAMBLE_BYTES])
{
	struct wire wire = {
		.cookie = {htonl((uint32_t)(preamble->cookie >> 32)),
			   htonl((uint32_t)preamble->cookie)},
		.group = htonl(preamble->group),
		.opening = htonl(preamble->opening),
		.flow = htonl(preamble->flow),
		.serial = htonl(preamble->serial),
		.port = htonl(preamble->port),
	};

	memcpy(wire.word, kind == NM_PREAMBLE_ANSWER ? answer_word : hello_word, sizeof wire.word);
	memcpy(to, &wire, sizeof wire);
}

enum nm_preamble_kind nm_preamble_unpack(const void *from, size_t size, struct nm_preamble *ret)
{
	enum nm_preamble_kind kind = NM_PREAMBLE_HELLO;
	struct wire wire;

	if (size != sizeof wire)
		return NM_PREAMBLE_NONE;
	memcpy(&wire, from, sizeof wire);
	if (memcmp(wire.word, answer_word, sizeof answer_word) == 0)
		kind = NM_PREAMBLE_ANSWER;
	else if (memcmp(wire.word, hello_word, sizeof hello_word) != 0)
		return NM_PREAMBLE_NONE;
	*ret = (struct nm_preamble){
		.cookie = (uint64_t)ntohl(wire.cookie[0]) << 32 | ntohl(wire.cookie[1]),
		.group = ntohl(wire.group),
		.opening = ntohl(wire.opening),
		.flow = ntohl(wire.flow),
		.serial = ntohl(wire.serial),
		.port = ntohl(wire.port),
	};
	return kind;
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
	const size_t word = sizeof hello_word;

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
	/* Those that a late caller has missed are one. */
	while (gone_ns >= due_ns(sender->tries + 1)) {
		sender->tries++;
		send = true;
	}
	uint64_t next_ns = due_ns(sender->tries + 1);

	*ret_next_ns = sender->since_ns + (next_ns < limit_ns ? next_ns : limit_ns);
	return send ? NM_PREAMBLE_SEND : NM_PREAMBLE_WAIT;
}

bool nm_preamble_is_answered(const struct nm_preamble *sent, const void *from, size_t size,
			     uint32_t *ret_port)
{
	struct nm_preamble its;

	if (nm_preamble_unpack(from, size, &its) != NM_PREAMBLE_ANSWER ||
	    its.cookie != sent->cookie || its.group != sent->group ||
	    its.opening != sent->opening || its.flow != sent->flow || its.serial != sent->serial)
		return false;
	*ret_port = its.port;
	return true;
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
