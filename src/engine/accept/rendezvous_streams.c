/* SPDX-License-Identifier: Apache-2.0 */
/* The streams of a rendezvous: accepted, kept until the preamble is complete, and handed over or
 * turned away. */
#include "engine/accept/rendezvous_streams.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "engine/accept/rendezvous_listeners.h"
#include "host/clock.h"
#include "transport/socket.h"
#include "transport/strangers.h"

/* Streams whose preamble is not complete yet, beside one for each flow: when there are more the
 * oldest goes. nm_plan_descriptors has room for them. */
#define SPARE_NEWCOMERS	 64
#define PREAMBLE_NS	 5000000000u   /* the least time for a preamble */
#define MOST_PREAMBLE_NS 120000000000u /* TCP sends again no later than that */
#define PAUSE_NS	 100000000u    /* the pause when descriptors are lacked */

/* A stream whose preamble is not complete. */
struct nm_newcomer {
	struct nm_rendezvous_socket socket; /* the first member */
	struct nm_addr from;
	uint64_t until_ns;
	struct nm_newcomer *next, *before;
	struct nm_preamble_parser parser;
};

/* Which streams of a group have come. */
struct nm_once {
	struct nm_preamble_taken *taken; /* by flow and opening; NULL: no accept takes streams */
	uint64_t *bits;
	uint32_t words; /* of each */
};

static int make_once(struct nm_once *once, const struct nm_group *group)
{
	size_t count = (size_t)group->n_flows * group->n_openings;

	/* A connection may be overtaken by all others that the flow has at the time. */
	for (once->words = 1; once->words * 64 < group->n_conns;)
		once->words *= 2;
	once->taken = calloc(count, sizeof *once->taken);
	once->bits = calloc(count * once->words, sizeof *once->bits);
	if (!once->taken || !once->bits)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		once->taken[i].bits = once->bits + i * once->words;
	return 0;
}

int nm_rendezvous_streams_init(struct nm_rendezvous_streams *streams,
			       const struct nm_rendezvous_listeners *listeners)
{
	const struct nm_plan *plan = listeners->engine->plan;
	int r = 0;

	*streams = (struct nm_rendezvous_streams){
		.listeners = listeners,
		.most_newcomers = SPARE_NEWCOMERS,
		.once = calloc(plan->n_groups + 1, sizeof *streams->once)};
	if (!streams->once)
		return -ENOMEM;
	for (uint32_t g = 0; r == 0 && g < plan->n_groups; g++) {
		const struct nm_group *group = &plan->groups[g];

		streams->most_newcomers += group->runs ? group->n_flows : 0;
		if (nm_rendezvous_listeners_serve(group, false))
			r = make_once(&streams->once[g], group);
	}
	return r;
}

static void drop(struct nm_rendezvous_streams *streams, struct nm_newcomer *newcomer)
{
	if (newcomer->before)
		newcomer->before->next = newcomer->next;
	else
		streams->latest = newcomer->next;
	if (newcomer->next)
		newcomer->next->before = newcomer->before;
	else
		streams->oldest = newcomer->before;
	streams->n_newcomers--;
	free(newcomer);
}

void nm_rendezvous_streams_fini(struct nm_rendezvous_streams *streams)
{
	while (streams->latest) {
		(void)close(streams->latest->socket.fd);
		drop(streams, streams->latest);
	}
	for (uint32_t g = 0; streams->once && g < streams->listeners->engine->plan->n_groups; g++) {
		free(streams->once[g].taken);
		free(streams->once[g].bits);
	}
	free(streams->once);
}

/* The newcomer does not belong to the run. */
static void reject(const struct nm_rendezvous_streams *streams, const struct nm_newcomer *newcomer)
{
	nm_strangers_note(streams->listeners->engine->strangers, &newcomer->from);
	(void)close(newcomer->socket.fd);
}

static void turn_away(struct nm_rendezvous_streams *streams, struct nm_newcomer *newcomer)
{
	reject(streams, newcomer);
	drop(streams, newcomer);
}

/* Whether the complete preamble of a stream belongs to the run, and to a connection that has not
 * come before. */
static bool is_welcome(const struct nm_rendezvous_streams *streams,
		       const struct nm_newcomer *newcomer, const struct nm_preamble *preamble)
{
	if (!nm_rendezvous_find_accept(streams->listeners, newcomer->socket.listener,
				       &newcomer->from, newcomer->parser.bytes, preamble))
		return false;
	const struct nm_once *once = &streams->once[preamble->group];

	return nm_preamble_take(&once->taken[nm_rendezvous_index(streams->listeners, preamble)],
				once->words, preamble->serial);
}

/* Reads more of a preamble. DONE: it is complete, in *ret, and welcome. BAD: the newcomer is a
 * stranger. */
static enum nm_preamble_status read_preamble(const struct nm_rendezvous_streams *streams,
					     struct nm_newcomer *newcomer, struct nm_preamble *ret)
{
	size_t room;
	char *to = nm_preamble_next(&newcomer->parser, &room);
	ssize_t n = recv(newcomer->socket.fd, to, room, 0);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return NM_PREAMBLE_MORE;
	if (n <= 0)
		return NM_PREAMBLE_BAD;
	enum nm_preamble_status status = nm_preamble_parse(&newcomer->parser, (size_t)n, ret);

	if (status == NM_PREAMBLE_DONE && !is_welcome(streams, newcomer, ret))
		status = NM_PREAMBLE_BAD;
	return status;
}

void nm_rendezvous_streams_hear(struct nm_rendezvous_streams *streams,
				struct nm_rendezvous_socket *stream)
{
	struct nm_newcomer *newcomer = (struct nm_newcomer *)(void *)stream;
	int fd = stream->fd;
	struct nm_preamble preamble;

	switch (read_preamble(streams, newcomer, &preamble)) {
	case NM_PREAMBLE_MORE:
		break;
	case NM_PREAMBLE_DONE:
		/* The socket stays open at its worker, and epoll would go on to report it. */
		(void)epoll_ctl(streams->listeners->epoll_fd, EPOLL_CTL_DEL, fd, NULL);
		drop(streams, newcomer);
		nm_rendezvous_hand_over(streams->listeners, &preamble, fd);
		break;
	case NM_PREAMBLE_BAD:
		turn_away(streams, newcomer);
		break;
	}
}

/* How long a preamble may take: where packets are lost, as long as the run waits for it. */
static uint64_t preamble_ns(const struct nm_rendezvous_streams *streams)
{
	uint64_t ns = streams->listeners->engine->timeout_ns;

	if (ns < PREAMBLE_NS)
		return PREAMBLE_NS;
	return ns < MOST_PREAMBLE_NS ? ns : MOST_PREAMBLE_NS;
}

/* Adds a stream whose preamble is not complete; owns its descriptor from now on. */
static void add(struct nm_rendezvous_streams *streams, const struct nm_newcomer *begun)
{
	struct nm_newcomer *newcomer = malloc(sizeof *newcomer);

	if (streams->n_newcomers >= streams->most_newcomers)
		turn_away(streams, streams->oldest);
	if (!newcomer) {
		(void)close(begun->socket.fd);
		return;
	}
	*newcomer = *begun;
	newcomer->until_ns = nm_clock_ns() + preamble_ns(streams);
	newcomer->next = streams->latest;
	if (streams->latest)
		streams->latest->before = newcomer;
	else
		streams->oldest = newcomer;
	streams->latest = newcomer;
	streams->n_newcomers++;
	if (nm_rendezvous_socket_watch(streams->listeners, &newcomer->socket) < 0)
		turn_away(streams, newcomer);
}

/* No descriptor is left. True: the oldest newcomer has given its own; false: no stream is accepted
 * for a while, as epoll would report the queued ones again and again. */
static bool find_room(struct nm_rendezvous_streams *streams)
{
	if (streams->oldest) {
		turn_away(streams, streams->oldest);
		return true;
	}
	nm_rendezvous_listen_to_streams(streams->listeners, false);
	streams->paused_until_ns = nm_clock_ns() + PAUSE_NS;
	return false;
}

void nm_rendezvous_streams_take(struct nm_rendezvous_streams *streams,
				const struct nm_rendezvous_socket *at)
{
	for (;;) {
		struct nm_newcomer newcomer = {.socket = {.listener = at->listener},
					       .from = {.len = sizeof newcomer.from.sa}};
		struct nm_preamble preamble;
		int fd = accept4(at->fd, (struct sockaddr *)&newcomer.from.sa, &newcomer.from.len,
				 SOCK_NONBLOCK | SOCK_CLOEXEC);

		if (fd < 0 && nm_socket_lacks_room(errno) && find_room(streams))
			continue;
		if (fd < 0)
			return;
		newcomer.socket.fd = fd;
		/* The preamble has mostly come with the connection. */
		switch (read_preamble(streams, &newcomer, &preamble)) {
		case NM_PREAMBLE_MORE:
			add(streams, &newcomer);
			break;
		case NM_PREAMBLE_DONE:
			nm_rendezvous_hand_over(streams->listeners, &preamble, fd);
			break;
		case NM_PREAMBLE_BAD:
			reject(streams, &newcomer);
			break;
		}
	}
}

bool nm_rendezvous_streams_have_timers(const struct nm_rendezvous_streams *streams)
{
	return streams->oldest || streams->paused_until_ns;
}

void nm_rendezvous_streams_run_timers(struct nm_rendezvous_streams *streams, uint64_t now_ns)
{
	while (streams->oldest && now_ns >= streams->oldest->until_ns)
		turn_away(streams, streams->oldest);
	if (!streams->paused_until_ns || now_ns < streams->paused_until_ns)
		return;
	streams->paused_until_ns = 0;
	nm_rendezvous_listen_to_streams(streams->listeners, true);
}
