/* SPDX-License-Identifier: Apache-2.0 */
/* The thread that takes connections for flows of all workers. A stream is accepted, and kept until
 * its preamble is complete; over a transport without connections the preamble is a datagram, which
 * is answered and makes the connection. Either way nm_pending_find_accept finds the accept that is
 * meant, and the descriptor is handed over. */
#include "engine/accept/rendezvous.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "engine/accept/handoff.h"
#include "engine/accept/pending.h"
#include "engine/accept/ports.h"
#include "engine/data_host.h"
#include "engine/engine_priv.h"
#include "host/clock.h"
#include "host/procfile.h"
#include "host/wake.h"
#include "plan/shape.h"
#include "transport/preamble.h"
#include "transport/prover.h"
#include "transport/socket.h"
#include "transport/strangers.h"
#include "transport/transport.h"

#define MAX_FDS 64 /* the most sockets of one place that share a port */
/* Streams whose preamble is not complete yet, beside one for each flow: when there are more the
 * oldest goes. nm_plan_descriptors has room for them. */
#define SPARE_NEWCOMERS 64
#define PREAMBLE_NS	5000000000u /* the time for a preamble */
#define DEFER_S		5	    /* seconds for the kernel to wait for its begin */
#define PAUSE_NS	100000000u  /* the pause when descriptors are lacked */
#define NO_PORT_NS	500000000u  /* so long a port may be lacked */
#define EVENTS		64

/* A place to which connections come: one listener of a transport, with all its sockets. */
struct place {
	const struct nm_transport *transport;
	const void *opts;
	struct nm_addr local;
	uint16_t port; /* as the profile names it; 0: none */
	uint32_t ports;
	char text[NM_ENDPOINT_TEXT];
	int *fds;
	uint32_t n_fds;
};

/* The source of an event of the epoll. */
struct source {
	enum { SOURCE_QUIT, SOURCE_LISTENER, SOURCE_NEWCOMER } kind;
	const struct place *place;
	int fd;
};

/* A stream whose preamble is not complete. */
struct newcomer {
	struct source source; /* the first member */
	struct nm_addr from;
	uint64_t until_ns;
	struct newcomer *next, *before;
	struct nm_preamble_parser parser;
};

/* Which streams of a group have come. */
struct once {
	struct nm_preamble_taken *taken; /* by flow and opening; NULL: no accept takes streams */
	uint64_t *bits;
	uint32_t words; /* of each */
};

struct nm_rendezvous {
	struct nm_engine *engine;
	struct place *places;
	size_t n_places;
	struct source *listeners;
	size_t n_listeners;
	struct newcomer *newcomers; /* the latest comes first */
	struct newcomer *oldest;
	size_t n_newcomers, most_newcomers;
	uint64_t paused_until_ns; /* no stream is accepted until then; 0: streams are accepted */
	struct once *once;	  /* by group */
	struct source quit;
	/* by group, then by flow and opening: the last answered preamble, over transports that may
	 * lose the answer; NULL: the group has no such accept */
	struct nm_preamble_known **known;
	struct nm_prover *prover, *keeper; /* of the run; of the cookies of challenges */
	int epoll_fd;
	struct nm_thread thread;
	_Atomic bool ends;
	uint64_t no_port_ns; /* since when there is none; 0: there was one */
	/* The first accept for which this host had no port left for long, set once. */
	_Atomic bool lacks_port;
	struct nm_engine_error no_port;
};

/* --- opening --- */

static bool is_accept(const struct nm_instr *instr)
{
	return nm_instr_accepts(instr) && instr->open.has_preamble &&
	       !nm_transport_is_mux(instr->transport);
}

static bool is_same_addr(const struct nm_addr *a, const struct nm_addr *b)
{
	return a->len == b->len && memcmp(&a->sa, &b->sa, a->len) == 0;
}

/* The place that serves the accept, when there is one already: accepts share a port that the
 * profile names. */
static struct place *find_place(struct nm_rendezvous *all, const struct nm_instr *accept,
				const struct nm_addr *local)
{
	for (size_t i = 0; accept->open.port && i < all->n_places; i++) {
		struct place *place = &all->places[i];

		if (place->port == accept->open.port && place->transport == accept->transport &&
		    place->ports == nm_ports_count(accept) && is_same_addr(&place->local, local))
			return place;
	}
	return NULL;
}

/* Opens the next place. 0 or -errno; then its open sockets are closed with the others. */
static int open_place(struct nm_rendezvous *all, const struct nm_instr *accept,
		      const struct nm_addr *local, uint32_t n_flows)
{
	struct place *place = &all->places[all->n_places++];
	uint32_t sockets = 1 + n_flows / NM_FLOWS_PER_LISTEN_SOCKET;

	if (sockets > MAX_FDS)
		sockets = MAX_FDS;
	*place = (struct place){.transport = accept->transport,
				.opts = accept->open.transport_opts,
				.local = *local,
				.port = accept->open.port,
				.ports = nm_ports_count(accept)};
	place->fds = calloc(place->ports > sockets ? place->ports : sockets, sizeof *place->fds);
	if (!place->fds)
		return -ENOMEM;
	int r = nm_ports_open(accept, local, sockets, false, place->text, place->fds);

	place->n_fds = r > 0 ? (uint32_t)r : 0;
	/* A connection without any byte is not even accepted, where the kernel can wait for one. */
	for (uint32_t i = 0; (accept->transport->caps & NM_TRANSPORT_TCP) && i < place->n_fds; i++)
		(void)nm_socket_set(place->fds[i], IPPROTO_TCP, TCP_DEFER_ACCEPT, DEFER_S);
	return r < 0 ? r : 0;
}

/* Finds or opens the place that serves one accept. */
static int provide(struct nm_rendezvous *all, uint32_t g, const struct nm_instr *accept, char *why,
		   size_t why_size)
{
	struct nm_engine_group *group = &all->engine->groups[g];
	struct nm_addr room;
	const struct nm_addr *local = nm_data_local(all->engine, accept, &room);
	const struct place *place = find_place(all, accept, local);
	char no_port[96];

	if (!place) {
		int r = open_place(all, accept, local, group->plan->n_flows);

		place = &all->places[all->n_places - 1];
		if (r < 0) {
			snprintf(why, why_size, "cannot listen for the %s at line %u%s%s: %s",
				 accept->op->name, accept->line, place->port ? " on port " : "",
				 place->port ? place->text : "",
				 r == -EADDRINUSE && !accept->open.port
					 ? nm_procfile_no_port(no_port, sizeof no_port)
					 : strerror(-r));
			return r;
		}
	}
	for (uint32_t w = 0; w < group->n_workers; w++)
		memcpy(group->workers[w].accept.texts[accept->opening], place->text,
		       sizeof place->text);
	return 0;
}

static int provide_all(struct nm_rendezvous *all, char *why, size_t why_size)
{
	const struct nm_plan *plan = all->engine->plan;
	int r = 0;

	for (uint32_t g = 0; g < plan->n_groups; g++) {
		const struct nm_group *group = &plan->groups[g];

		for (uint32_t i = 0; r == 0 && group->runs && i < group->n_instrs; i++)
			if (is_accept(&group->instrs[i]))
				r = provide(all, g, &group->instrs[i], why, why_size);
	}
	return r;
}

static int watch(const struct nm_rendezvous *all, struct source *source)
{
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = source};

	return epoll_ctl(all->epoll_fd, EPOLL_CTL_ADD, source->fd, &event) < 0 ? -errno : 0;
}

static int watch_all(struct nm_rendezvous *all)
{
	size_t n = 0;

	for (size_t i = 0; i < all->n_places; i++)
		n += all->places[i].n_fds;
	all->listeners = calloc(n + 1, sizeof *all->listeners);
	if (!all->listeners)
		return -ENOMEM;
	all->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	all->quit = (struct source){.kind = SOURCE_QUIT, .fd = eventfd(0, EFD_CLOEXEC)};
	if (all->epoll_fd < 0 || all->quit.fd < 0)
		return -errno;
	int r = watch(all, &all->quit);

	for (size_t i = 0; i < all->n_places; i++) {
		for (uint32_t k = 0; r == 0 && k < all->places[i].n_fds; k++) {
			struct source *source = &all->listeners[all->n_listeners++];

			*source = (struct source){.kind = SOURCE_LISTENER,
						  .place = &all->places[i],
						  .fd = all->places[i].fds[k]};
			r = watch(all, source);
		}
	}
	return r;
}

static int make_once(struct once *once, const struct nm_group *group)
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

static int make_known(struct nm_rendezvous *all)
{
	const struct nm_plan *plan = all->engine->plan;
	int r = 0;

	all->known = calloc(plan->n_groups + 1, sizeof *all->known);
	all->once = calloc(plan->n_groups + 1, sizeof *all->once);
	if (!all->known || !all->once)
		return -ENOMEM;
	all->most_newcomers = SPARE_NEWCOMERS;
	for (uint32_t g = 0; r == 0 && g < plan->n_groups; g++) {
		const struct nm_group *group = &plan->groups[g];
		bool answers = false, streams = false;

		all->most_newcomers += group->runs ? group->n_flows : 0;
		for (uint32_t i = 0; group->runs && i < group->n_instrs; i++) {
			bool datagram =
				group->instrs[i].transport && group->instrs[i].transport->datagram;

			answers |= is_accept(&group->instrs[i]) && datagram;
			streams |= is_accept(&group->instrs[i]) && !datagram;
		}
		if (streams)
			r = make_once(&all->once[g], group);
		if (!answers)
			continue;
		all->known[g] =
			calloc((size_t)group->n_flows * group->n_openings, sizeof *all->known[g]);
		if (!all->known[g])
			return -ENOMEM;
	}
	return r;
}

static size_t count_accepts(const struct nm_plan *plan)
{
	size_t n = 0;

	for (uint32_t g = 0; g < plan->n_groups; g++)
		for (uint32_t i = 0; i < plan->groups[g].n_instrs; i++)
			n += is_accept(&plan->groups[g].instrs[i]);
	return n;
}

int nm_rendezvous_open(struct nm_engine *engine, struct nm_rendezvous **ret_rendezvous, char *why,
		       size_t why_size)
{
	size_t n_accepts = count_accepts(engine->plan);

	*ret_rendezvous = NULL;
	if (n_accepts == 0)
		return 0;
	struct nm_rendezvous *all = calloc(1, sizeof *all);

	if (!all)
		return -ENOMEM;
	all->engine = engine;
	all->epoll_fd = all->quit.fd = -1;
	all->prover = nm_prover_new(engine->secret);
	all->keeper = nm_prover_new_random();
	all->places = calloc(n_accepts, sizeof *all->places);
	int r = all->places && all->prover && all->keeper ? provide_all(all, why, why_size)
							  : -ENOMEM;

	if (r == 0)
		r = make_known(all);
	if (r == 0)
		r = watch_all(all);
	if (r < 0)
		nm_rendezvous_free(all);
	else
		*ret_rendezvous = all;
	return r;
}

/* --- the thread --- */

/* The accept that the preamble means, if this place serves it and its host may come from that
 * address; otherwise NULL. */
static const struct nm_instr *find_accept(const struct nm_rendezvous *all,
					  const struct place *place, const struct nm_addr *from,
					  const struct nm_preamble *preamble)
{
	const struct nm_instr *accept = nm_pending_find_accept(all->engine->plan, preamble);

	if (accept && accept->transport == place->transport && accept->open.port == place->port &&
	    nm_peers_may_prove(&all->engine->hosts[accept->host].peers, from))
		return accept;
	return NULL;
}

/* Hands the connection to the worker of its flow. If that fails the run is over. */
static void hand_over(const struct nm_rendezvous *all, const struct nm_preamble *preamble, int fd)
{
	struct nm_engine_group *group = &all->engine->groups[preamble->group];
	struct nm_worker *worker = &group->workers[preamble->flow % group->n_workers];

	(void)nm_handoff_send(worker->accept.handoff, preamble->opening, preamble->flow, fd,
			      &worker->commands.quit);
}

static void drop(struct nm_rendezvous *all, struct newcomer *newcomer)
{
	if (newcomer->before)
		newcomer->before->next = newcomer->next;
	else
		all->newcomers = newcomer->next;
	if (newcomer->next)
		newcomer->next->before = newcomer->before;
	else
		all->oldest = newcomer->before;
	all->n_newcomers--;
	free(newcomer);
}

/* The newcomer does not belong to the run. */
static void turn_away(struct nm_rendezvous *all, struct newcomer *newcomer)
{
	nm_strangers_note(all->engine->strangers, &newcomer->from);
	(void)close(newcomer->source.fd);
	drop(all, newcomer);
}

/* Whether the complete preamble of a stream belongs to the run, and to a connection that has not
 * come before. */
static bool is_welcome(struct nm_rendezvous *all, const struct place *place,
		       const struct nm_addr *from, const char *wire,
		       const struct nm_preamble *preamble)
{
	if (!find_accept(all, place, from, preamble) ||
	    !nm_preamble_is_proved(wire, all->prover, all->engine->nonce))
		return false;
	const struct once *once = &all->once[preamble->group];
	size_t at = (size_t)preamble->flow * all->engine->plan->groups[preamble->group].n_openings +
		    preamble->opening;

	return nm_preamble_take(&once->taken[at], once->words, preamble->serial);
}

/* Reads more of a preamble from fd. DONE: it is complete, in *ret, and welcome. BAD: fd is a
 * stranger's. */
static enum nm_preamble_status read_preamble(struct nm_rendezvous *all, const struct place *place,
					     const struct nm_addr *from, int fd,
					     struct nm_preamble_parser *parser,
					     struct nm_preamble *ret)
{
	size_t room;
	char *to = nm_preamble_next(parser, &room);
	ssize_t n = recv(fd, to, room, 0);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return NM_PREAMBLE_MORE;
	if (n <= 0)
		return NM_PREAMBLE_BAD;
	enum nm_preamble_status status = nm_preamble_parse(parser, (size_t)n, ret);

	if (status == NM_PREAMBLE_DONE && !is_welcome(all, place, from, parser->bytes, ret))
		status = NM_PREAMBLE_BAD;
	return status;
}

/* The newcomer may be gone after this. */
static void hear_newcomer(struct nm_rendezvous *all, struct newcomer *newcomer)
{
	int fd = newcomer->source.fd;
	struct nm_preamble preamble;

	switch (read_preamble(all, newcomer->source.place, &newcomer->from, fd, &newcomer->parser,
			      &preamble)) {
	case NM_PREAMBLE_MORE:
		break;
	case NM_PREAMBLE_DONE:
		/* The socket stays open at its worker, and epoll would go on to report it. */
		(void)epoll_ctl(all->epoll_fd, EPOLL_CTL_DEL, fd, NULL);
		drop(all, newcomer);
		hand_over(all, &preamble, fd);
		break;
	case NM_PREAMBLE_BAD:
		turn_away(all, newcomer);
		break;
	}
}

static void expire(struct nm_rendezvous *all, uint64_t now_ns)
{
	while (all->oldest && now_ns >= all->oldest->until_ns)
		turn_away(all, all->oldest);
}

/* Adds a stream whose preamble is not complete; owns fd from now on. */
static void add_newcomer(struct nm_rendezvous *all, const struct place *place,
			 const struct nm_addr *from, int fd,
			 const struct nm_preamble_parser *parser)
{
	struct newcomer *newcomer = calloc(1, sizeof *newcomer);

	if (all->n_newcomers >= all->most_newcomers)
		turn_away(all, all->oldest);
	if (!newcomer) {
		(void)close(fd);
		return;
	}
	newcomer->source = (struct source){.kind = SOURCE_NEWCOMER, .place = place, .fd = fd};
	newcomer->from = *from;
	newcomer->until_ns = nm_clock_ns() + PREAMBLE_NS;
	newcomer->parser = *parser;
	newcomer->next = all->newcomers;
	if (all->newcomers)
		all->newcomers->before = newcomer;
	else
		all->oldest = newcomer;
	all->newcomers = newcomer;
	all->n_newcomers++;
	if (watch(all, &newcomer->source) < 0)
		turn_away(all, newcomer);
}

/* Sets whether epoll reports connections at the listeners of streams. */
static void listen_to_streams(const struct nm_rendezvous *all, bool listens)
{
	for (size_t i = 0; i < all->n_listeners; i++) {
		struct source *source = &all->listeners[i];
		struct epoll_event event = {.events = listens ? EPOLLIN : 0, .data.ptr = source};

		if (!source->place->transport->datagram)
			(void)epoll_ctl(all->epoll_fd, EPOLL_CTL_MOD, source->fd, &event);
	}
}

/* No descriptor is left. True: the oldest newcomer has given its own; false: no stream is accepted
 * for a while, as epoll would report the queued ones again and again. */
static bool find_room(struct nm_rendezvous *all)
{
	if (all->oldest) {
		turn_away(all, all->oldest);
		return true;
	}
	listen_to_streams(all, false);
	all->paused_until_ns = nm_clock_ns() + PAUSE_NS;
	return false;
}

/* Takes all connections that are queued at a listener. */
static void take_streams(struct nm_rendezvous *all, const struct source *listener)
{
	for (;;) {
		struct nm_preamble_parser parser = {.got = 0};
		struct nm_preamble preamble;
		struct nm_addr from = {.len = sizeof from.sa};
		int fd = accept4(listener->fd, (struct sockaddr *)&from.sa, &from.len,
				 SOCK_NONBLOCK | SOCK_CLOEXEC);

		if (fd < 0 && nm_socket_lacks_room(errno) && find_room(all))
			continue;
		if (fd < 0)
			return;
		/* The preamble has mostly come with the connection. */
		switch (read_preamble(all, listener->place, &from, fd, &parser, &preamble)) {
		case NM_PREAMBLE_MORE:
			add_newcomer(all, listener->place, &from, fd, &parser);
			break;
		case NM_PREAMBLE_DONE:
			hand_over(all, &preamble, fd);
			break;
		case NM_PREAMBLE_BAD:
			nm_strangers_note(all->engine->strangers, &from);
			(void)close(fd);
			break;
		}
	}
}

static void reply(const struct nm_rendezvous *all, const struct source *listener,
		  const struct nm_addr *peer, const struct nm_preamble *preamble,
		  enum nm_preamble_kind kind)
{
	char wire[NM_PREAMBLE_BYTES];

	nm_preamble_pack(preamble, kind, all->prover, all->engine->nonce, wire);
	(void)sendto(listener->fd, wire, sizeof wire, MSG_DONTWAIT | MSG_NOSIGNAL,
		     (const struct sockaddr *)&peer->sa, peer->len);
}

/* This end of a connection cannot be made, as the kernel has no port for it. Another program may
 * give some back, and the preamble will come again. */
static void tell_no_port(struct nm_rendezvous *all, const struct nm_instr *accept,
			 const struct nm_preamble *preamble)
{
	const struct nm_group *group = &all->engine->plan->groups[preamble->group];
	uint64_t now_ns = nm_clock_ns();

	if (!all->no_port_ns)
		all->no_port_ns = now_ns;
	if (now_ns - all->no_port_ns < NO_PORT_NS ||
	    atomic_load_explicit(&all->lacks_port, memory_order_relaxed))
		return;
	all->no_port = (struct nm_engine_error){.group = preamble->group,
						.flow = preamble->flow,
						.line = accept->line,
						.flowop = accept->op->name,
						.site = (uint32_t)(accept - group->instrs),
						.error = EAGAIN,
						.count = 1};
	atomic_store_explicit(&all->lacks_port, true, memory_order_release);
	nm_wake(all->engine->event_fd);
}

/* Makes the other end of a connection over a transport that has none of its own. The answer leaves
 * before its flow can send anything. */
static void meet(struct nm_rendezvous *all, const struct source *listener,
		 const struct nm_addr *peer, const struct nm_instr *accept,
		 struct nm_preamble *preamble)
{
	int fd = -1;
	uint32_t n_openings = all->engine->plan->groups[preamble->group].n_openings;
	struct nm_preamble_known *known =
		&all->known[preamble->group]
			   [(size_t)preamble->flow * n_openings + preamble->opening];
	enum nm_preamble_verdict verdict = nm_preamble_judge(known, preamble->serial);

	if (verdict == NM_PREAMBLE_OLD)
		return;
	if (verdict == NM_PREAMBLE_NEW) {
		fd = accept->transport->datagram->accept(listener->fd, accept->open.port != 0,
							 accept->open.transport_opts, peer);
		const struct nm_conn conn = {.fd = fd};

		/* A bind has one name for it, a connect another. */
		if (fd == -EADDRINUSE || fd == -EAGAIN)
			tell_no_port(all, accept, preamble);
		if (fd < 0)
			return;
		all->no_port_ns = 0;
		*known = (struct nm_preamble_known){
			.serial = preamble->serial,
			.port = accept->transport->datagram->port_of(&conn)};
	}
	preamble->port = known->port;
	reply(all, listener, peer, preamble, NM_PREAMBLE_ANSWER);
	if (fd >= 0)
		hand_over(all, preamble, fd);
}

/* A datagram has come. Until its address has returned a challenge nothing is made of it, and no
 * more bytes are sent there than have come from there. */
static void hear(struct nm_rendezvous *all, const struct source *listener,
		 const struct nm_addr *peer, const char *wire, size_t size)
{
	struct nm_preamble hello;

	if (nm_preamble_unpack(wire, size, &hello) != NM_PREAMBLE_HELLO)
		return;
	const struct nm_instr *accept = find_accept(all, listener->place, peer, &hello);

	if (!accept || !nm_preamble_is_proved(wire, all->prover, all->engine->nonce)) {
		nm_strangers_note(all->engine->strangers, peer);
		return;
	}
	if (nm_preamble_is_returned(&hello, all->keeper, &peer->sa, peer->len))
		meet(all, listener, peer, accept, &hello);
	else
		reply(all, listener, peer, &hello, NM_PREAMBLE_CHALLENGE);
}

/* Reads all preambles that are queued at a listener of a transport without connections. */
static void take_datagrams(struct nm_rendezvous *all, const struct source *listener)
{
	for (;;) {
		char wire[NM_PREAMBLE_BYTES + 1];
		struct nm_addr peer = {.len = sizeof peer.sa};
		ssize_t n = recvfrom(listener->fd, wire, sizeof wire, MSG_DONTWAIT,
				     (struct sockaddr *)&peer.sa, &peer.len);

		if (n < 0 && errno != ECONNREFUSED)
			return;
		if (n > 0)
			hear(all, listener, &peer, wire, (size_t)n);
	}
}

/* Hears newcomers, and takes their events out, as they may be gone then. True: there were any. */
static bool take_newcomers(struct nm_rendezvous *all, struct epoll_event *events, int n)
{
	bool any = false;

	for (int i = 0; i < n; i++) {
		struct source *source = events[i].data.ptr;

		if (source->kind != SOURCE_NEWCOMER)
			continue;
		any = true;
		events[i].data.ptr = NULL;
		hear_newcomer(all, (struct newcomer *)(void *)source);
	}
	return any;
}

static void take_new(struct nm_rendezvous *all, const struct epoll_event *events, int n)
{
	for (int i = 0; i < n; i++) {
		const struct source *source = events[i].data.ptr;

		if (!source || source->kind != SOURCE_LISTENER)
			continue;
		if (source->place->transport->datagram)
			take_datagrams(all, source);
		else
			take_streams(all, source);
	}
}

static void run_timers(struct nm_rendezvous *all, uint64_t now_ns)
{
	expire(all, now_ns);
	if (!all->paused_until_ns || now_ns < all->paused_until_ns)
		return;
	all->paused_until_ns = 0;
	listen_to_streams(all, true);
}

static void *run(void *arg)
{
	struct nm_rendezvous *all = arg;
	struct epoll_event events[EVENTS];

	while (!atomic_load_explicit(&all->ends, memory_order_relaxed)) {
		bool waits = all->newcomers || all->paused_until_ns;
		int n = epoll_wait(all->epoll_fd, events, EVENTS, waits ? 100 : -1);

		/* Preambles come before the next connections of their flows; a full list of events
		 * may have left some out. */
		if (!take_newcomers(all, events, n) || n < EVENTS)
			take_new(all, events, n);
		if (waits)
			run_timers(all, nm_clock_ns());
	}
	return NULL;
}

int nm_rendezvous_start(struct nm_rendezvous *rendezvous)
{
	return nm_thread_start(&rendezvous->thread, 0, run, rendezvous);
}

struct nm_rendezvous *nm_rendezvous_free(struct nm_rendezvous *rendezvous)
{
	if (!rendezvous)
		return NULL;
	atomic_store_explicit(&rendezvous->ends, true, memory_order_relaxed);
	if (rendezvous->thread.started)
		nm_wake(rendezvous->quit.fd);
	nm_thread_join(&rendezvous->thread);
	while (rendezvous->newcomers) {
		(void)close(rendezvous->newcomers->source.fd);
		drop(rendezvous, rendezvous->newcomers);
	}
	for (size_t i = 0; i < rendezvous->n_places; i++) {
		for (uint32_t k = 0; k < rendezvous->places[i].n_fds; k++)
			(void)close(rendezvous->places[i].fds[k]);
		free(rendezvous->places[i].fds);
	}
	if (rendezvous->epoll_fd >= 0)
		(void)close(rendezvous->epoll_fd);
	if (rendezvous->quit.fd >= 0)
		(void)close(rendezvous->quit.fd);
	free(rendezvous->listeners);
	for (uint32_t g = 0; rendezvous->known && g < rendezvous->engine->plan->n_groups; g++)
		free(rendezvous->known[g]);
	free(rendezvous->known);
	for (uint32_t g = 0; rendezvous->once && g < rendezvous->engine->plan->n_groups; g++) {
		free(rendezvous->once[g].taken);
		free(rendezvous->once[g].bits);
	}
	free(rendezvous->once);
	free(rendezvous->places);
	nm_prover_free(rendezvous->prover);
	nm_prover_free(rendezvous->keeper);
	free(rendezvous);
	return NULL;
}

bool nm_rendezvous_lacks_port(const struct nm_rendezvous *all, struct nm_engine_error *ret_error)
{
	if (!all || !atomic_load_explicit(&all->lacks_port, memory_order_acquire))
		return false;
	*ret_error = all->no_port;
	return true;
}
