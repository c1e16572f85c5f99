/* SPDX-License-Identifier: Apache-2.0 */
#include "flowop/greeting.h"

#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <string.h>

#include "flowop/flow.h"
#include "transport/io.h"

static const char hello_word[4] = {'n', 'm', 'H', 'i'}, answer_word[4] = {'n', 'm', 'O', 'k'};

struct wire {
	char word[4];
	uint32_t cookie[2];
	uint32_t group, opening, flow, serial, port;
};

_Static_assert(sizeof(struct wire) == NM_GREETING_BYTES, "no padding");

void nm_greeting_write(const struct nm_greeting *greeting, bool answer, char to[NM_GREETING_BYTES])
{
	struct wire wire = {
		.cookie = {htonl((uint32_t)(greeting->cookie >> 32)),
			   htonl((uint32_t)greeting->cookie)},
		.group = htonl(greeting->group),
		.opening = htonl(greeting->opening),
		.flow = htonl(greeting->flow),
		.serial = htonl(greeting->serial),
		.port = htonl(greeting->port),
	};

	memcpy(wire.word, answer ? answer_word : hello_word, sizeof wire.word);
	memcpy(to, &wire, sizeof wire);
}

bool nm_greeting_read(const char *from, size_t size, struct nm_greeting *ret, bool *ret_answer)
{
	struct wire wire;

	if (size != sizeof wire)
		return false;
	memcpy(&wire, from, sizeof wire);
	*ret_answer = memcmp(wire.word, answer_word, sizeof answer_word) == 0;
	if (!*ret_answer && memcmp(wire.word, hello_word, sizeof hello_word) != 0)
		return false;
	*ret = (struct nm_greeting){
		.cookie = (uint64_t)ntohl(wire.cookie[0]) << 32 | ntohl(wire.cookie[1]),
		.group = ntohl(wire.group),
		.opening = ntohl(wire.opening),
		.flow = ntohl(wire.flow),
		.serial = ntohl(wire.serial),
		.port = ntohl(wire.port),
	};
	return true;
}

static struct nm_greeting greeting_of(const struct nm_io *io, const struct nm_flow *flow,
				      const struct nm_instr *instr)
{
	return (struct nm_greeting){.cookie = io->cookie,
				    .group = io->group,
				    .opening = instr->opening,
				    .flow = flow->index,
				    .serial = (uint32_t)flow->conn->window};
}

int nm_greeting_send(struct nm_io *io, struct nm_flow *flow, const struct nm_instr *instr)
{
	/* The window has no other use yet. */
	flow->conn->window = ++io->greeted;
	return nm_greeting_repeat(io, flow, instr);
}

int nm_greeting_repeat(const struct nm_io *io, struct nm_flow *flow, const struct nm_instr *instr)
{
	struct nm_greeting greeting = greeting_of(io, flow, instr);
	char wire[NM_GREETING_BYTES];

	/* Where the answer may redirect it, the socket is not connected yet. */
	const struct nm_addr *to =
		instr->transport->redirect ? &io->endpoints[instr->opening] : NULL;

	nm_greeting_write(&greeting, false, wire);
	ssize_t n = sendto(flow->conn->fd, wire, sizeof wire, MSG_NOSIGNAL,
			   to ? (const struct sockaddr *)&to->sa : NULL, to ? to->len : 0);

	if (n == (ssize_t)sizeof wire)
		return 0;
	return n < 0 ? -errno : -EMSGSIZE;
}

void nm_greeting_leave(struct nm_io *io, struct nm_flow *flow, const struct nm_instr *instr)
{
	flow->conn->window = ++io->greeted;
	struct nm_greeting greeting = greeting_of(io, flow, instr);
	char wire[NM_GREETING_BYTES];

	nm_greeting_write(&greeting, false, wire);
	instr->transport->greet(flow->conn, wire, sizeof wire);
}

int nm_greeting_answer(const struct nm_io *io, struct nm_flow *flow, const struct nm_instr *instr)
{
	struct nm_greeting mine = greeting_of(io, flow, instr), its;
	char wire[NM_GREETING_BYTES + 1];
	bool answer;

	for (;;) {
		ssize_t n = nm_sys_recv(flow->conn->fd, wire, sizeof wire, 0);

		if (n == -ECONNREFUSED) /* what an earlier greeting has met */
			continue;
		if (n < 0)
			return (int)n;
		if (!nm_greeting_read(wire, (size_t)n, &its, &answer) || !answer ||
		    its.cookie != mine.cookie || its.group != mine.group ||
		    its.opening != mine.opening || its.flow != mine.flow ||
		    its.serial != mine.serial)
			continue;
		flow->conn->window = 0;
		return instr->transport->redirect(flow->conn, &io->endpoints[instr->opening],
						  its.port);
	}
}
