/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/accept/rendezvous.h"

#include <errno.h>
#include <linux/vm_sockets.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "engine/engine_priv.h"
#include "flowop/flowop.h"
#include "host/clock.h"
#include "transport/address.h"
#include "transport/preamble.h"
#include "transport/socket.h"
#include "transport/transport.h"

#define MAX_FDS	    64		 /* sockets of one door that share a port */
#define MAX_GUESTS  4096	 /* connections that have not greeted yet */
#define PREAMBLE_NS 10000000000u /* that they have for it */
#define EVENTS	    64

struct door {
	const struct nm_transport *transport;
	const void *opts;
	struct nm_addr local;
	uint16_t port; /* that the profile names; 0: none */
	uint32_t ports;
	char text[NM_ENDPOINT_TEXT];
	int *fds;
	uint32_t n_fds;
};

/* What an event of the epoll belongs to. */
struct source {
	enum { SOURCE_QUIT, SOURCE_LISTEN, SOURCE_GUEST } kind;
	struct door *door;
	int fd;
	/* A guest. */
	struct nm_addr peer;
	uint64_t until_ns;
	struct source *next, *before;
	struct nm_preamble_parser parser;
};

struct nm_rendezvous {
	struct nm_engine *engine;
	struct door *doors;
	size_t count;
	struct source *listeners;
	size_t n_listeners;
	struct source *guests; /* newest first */
	size_t n_guests;
	struct source quit;
	/* by group, flow and opening; NULL for groups that need none */
	struct nm_preamble_known **known;
	int epoll_fd;
	struct nm_thread thread;
	_Atomic bool ends;
};

/* ---- opening ---- */

static bool same_addr(const struct nm_addr *a, const struct nm_addr *b)
{
	return a->len == b->len && memcmp(&a->sa, &b->sa, a->len) == 0;
}

static int open_door(struct door *door, const struct nm_instr *instr, uint32_t n_flows)
{
	uint32_t sockets = 1 + n_flows / NM_FLOWS_PER_LISTEN_SOCKET;

	if (sockets > MAX_FDS)
		sockets = MAX_FDS;
	door->fds = calloc(door->ports > sockets ? door->ports : sockets, sizeof *door->fds);
	if (!door->fds)
		return -ENOMEM;
	int r = nm_listener_open(instr, &door->local, sockets, door->text, door->fds);

	door->n_fds = r > 0 ? (uint32_t)r : 0;
	return r < 0 ? r : 0;
}

static struct door *find_door(struct nm_rendezvous *doors, const struct nm_instr *instr,
			      const struct nm_addr *local)
{
	for (size_t i = 0; instr->port && i < doors->count; i++) {
		struct door *door = &doors->doors[i];

		if (door->port == instr->port && door->transport == instr->transport &&
		    door->ports == nm_listener_ports(instr) && same_addr(&door->local, local))
			return door;
	}
	return NULL;
}

static bool is_greeted(const struct nm_instr *instr)
{
	return instr->op && instr->has_preamble && !(instr->transport->caps & NM_TRANSPORT_MUX) &&
	       (instr->op->flags & NM_FLOWOP_OPENS) && (instr->op->flags & NM_FLOWOP_FOLLOWS);
}

/* The door of one accept, opened when there is none yet. */
static int provide(struct nm_rendezvous *doors, uint32_t g, const struct nm_instr *instr, char *why,
		   size_t why_size)
{
	struct nm_engine_group *group = &doors->engine->groups[g];
	const struct nm_addr *local = &doors->engine->hosts[instr->host].local;
	struct door *door = find_door(doors, instr, local);

	if (!door) {
		door = &doors->doors[doors->count];
		*door = (struct door){.transport = instr->transport,
				      .opts = instr->transport_opts,
				      .local = *local,
				      .port = instr->port,
				      .ports = nm_listener_ports(instr)};
		int r = open_door(door, instr, group->plan->n_flows);

		doors->count++; /* what is open is closed with the others */
		if (r < 0) {
			snprintf(why, why_size, "cannot listen for the %s at line %u%s%s: %s",
				 instr->op->name, instr->line, door->port ? " on port " : "",
				 door->port ? door->text : "", strerror(-r));
			return r;
		}
	}
	for (uint32_t w = 0; w < group->n_workers; w++)
		memcpy(group->workers[w].accept.texts[instr->opening], door->text,
		       sizeof door->text);
	return 0;
}

static int watch(struct nm_rendezvous *doors, struct source *source)
{
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = source};

	return epoll_ctl(doors->epoll_fd, EPOLL_CTL_ADD, source->fd, &event) < 0 ? -errno : 0;
}

static int watch_all(struct nm_rendezvous *doors)
{
	size_t n = 0;

	for (size_t i = 0; i < doors->count; i++)
		n += doors->doors[i].n_fds;
	doors->listeners = calloc(n + 1, sizeof *doors->listeners);
	if (!doors->listeners)
		return -ENOMEM;
	doors->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	doors->quit = (struct source){.kind = SOURCE_QUIT, .fd = eventfd(0, EFD_CLOEXEC)};
	if (doors->epoll_fd < 0 || doors->quit.fd < 0)
		return -errno;
	int r = watch(doors, &doors->quit);

	for (size_t i = 0; i < doors->count; i++) {
		for (uint32_t k = 0; r == 0 && k < doors->doors[i].n_fds; k++) {
			struct source *source = &doors->listeners[doors->n_listeners++];

			*source = (struct source){.kind = SOURCE_LISTEN,
						  .door = &doors->doors[i],
						  .fd = doors->doors[i].fds[k]};
			r = watch(doors, source);
		}
	}
	return r;
}

static int remember(struct nm_rendezvous *doors)
{
	const struct nm_plan *plan = doors->engine->plan;

	doors->known = calloc(plan->n_groups + 1, sizeof *doors->known);
	if (!doors->known)
		return -ENOMEM;
	for (uint32_t g = 0; g < plan->n_groups; g++) {
		const struct nm_group *group = &plan->groups[g];
		bool lossy = false;

		for (uint32_t i = 0; group->runs && i < group->n_instrs; i++)
			lossy |= is_greeted(&group->instrs[i]) &&
				 group->instrs[i].transport->datagram;
		if (!lossy)
			continue;
		doors->known[g] =
			calloc((size_t)group->n_flows * group->n_openings, sizeof *doors->known[g]);
		if (!doors->known[g])
			return -ENOMEM;
	}
	return 0;
}

int nm_rendezvous_open(struct nm_engine *engine, struct nm_rendezvous **ret_doors, char *why,
		       size_t why_size)
{
	size_t needed = 0;
	int r = 0;

	for (uint32_t g = 0; g < engine->plan->n_groups; g++)
		for (uint32_t i = 0; i < engine->plan->groups[g].n_instrs; i++)
			needed += is_greeted(&engine->plan->groups[g].instrs[i]);
	*ret_doors = NULL;
	if (needed == 0)
		return 0;
	struct nm_rendezvous *doors = calloc(1, sizeof *doors);

	if (!doors)
		return -ENOMEM;
	doors->engine = engine;
	doors->epoll_fd = doors->quit.fd = -1;
	doors->doors = calloc(needed, sizeof *doors->doors);
	if (!doors->doors)
		r = -ENOMEM;
	for (uint32_t g = 0; g < engine->plan->n_groups; g++) {
		const struct nm_group *group = &engine->plan->groups[g];

		for (uint32_t i = 0; r == 0 && group->runs && i < group->n_instrs; i++)
			if (is_greeted(&group->instrs[i]))
				r = provide(doors, g, &group->instrs[i], why, why_size);
	}
	if (r == 0)
		r = remember(doors);
	if (r == 0)
		r = watch_all(doors);
	if (r < 0)
		nm_rendezvous_free(doors);
	else
		*ret_doors = doors;
	return r;
}

/* ---- the thread ---- */

static void drop_guest(struct nm_rendezvous *doors, struct source *guest)
{
	if (guest->before)
		guest->before->next = guest->next;
	else
		doors->guests = guest->next;
	if (guest->next)
		guest->next->before = guest->before;
	doors->n_guests--;
	free(guest);
}

/* The accept that a greeting means, or NULL. */
static const struct nm_instr *find_accept(const struct nm_rendezvous *doors,
					  const struct door *door,
					  const struct nm_preamble *preamble)
{
	const struct nm_engine *engine = doors->engine;

	if (preamble->cookie != engine->cookie || preamble->group >= engine->plan->n_groups)
		return NULL;
	const struct nm_group *group = &engine->plan->groups[preamble->group];

	if (!group->runs || preamble->flow >= group->n_flows)
		return NULL;
	for (uint32_t i = 0; i < group->n_instrs; i++) {
		const struct nm_instr *instr = &group->instrs[i];

		if (is_greeted(instr) && instr->opening == preamble->opening)
			return instr->transport == door->transport && instr->port == door->port
				       ? instr
				       : NULL;
	}
	return NULL;
}

static int deliver(struct nm_rendezvous *doors, const struct nm_preamble *preamble, int fd)
{
	struct nm_engine_group *group = &doors->engine->groups[preamble->group];
	struct nm_worker *worker = &group->workers[preamble->flow % group->n_workers];

	return nm_handoff_send(worker, preamble->opening, preamble->flow, fd);
}

static void close_guest(struct nm_rendezvous *doors, struct source *guest)
{
	(void)close(guest->fd);
	drop_guest(doors, guest);
}

/* A stream's preamble is complete: hands it over, or closes it. */
static void admit(struct nm_rendezvous *doors, struct source *guest,
		  const struct nm_preamble *preamble)
{
	if (!find_accept(doors, guest->door, preamble)) {
		close_guest(doors, guest);
		return;
	}
	(void)epoll_ctl(doors->epoll_fd, EPOLL_CTL_DEL, guest->fd, NULL);
	(void)deliver(doors, preamble, guest->fd);
	drop_guest(doors, guest);
}

static void guest_event(struct nm_rendezvous *doors, struct source *guest)
{
	struct nm_preamble preamble;
	size_t room;
	char *to = nm_preamble_next(&guest->parser, &room);
	ssize_t n = recv(guest->fd, to, room, 0);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		close_guest(doors, guest);
		return;
	}
	switch (nm_preamble_parse(&guest->parser, (size_t)n, &preamble)) {
	case NM_PREAMBLE_MORE:
		break;
	case NM_PREAMBLE_DONE:
		admit(doors, guest, &preamble);
		break;
	case NM_PREAMBLE_BAD:
		close_guest(doors, guest);
		break;
	}
}

static void expire_guests(struct nm_rendezvous *doors, uint64_t now_ns)
{
	struct source *next;

	for (struct source *guest = doors->guests; guest; guest = next) {
		next = guest->next;
		if (now_ns >= guest->until_ns)
			close_guest(doors, guest);
	}
}

/* Takes all connections that are queued. */
static void take_guests(struct nm_rendezvous *doors, const struct source *listener)
{
	for (;;) {
		/* Not asked for later: a peer that has gone has no address any more. */
		struct nm_addr peer = {.len = sizeof peer.sa};
		int fd = accept4(listener->fd, (struct sockaddr *)&peer.sa, &peer.len,
				 SOCK_NONBLOCK | SOCK_CLOEXEC);

		if (fd < 0)
			return;
		struct source *guest =
			doors->n_guests < MAX_GUESTS ? calloc(1, sizeof *guest) : NULL;

		if (!guest) {
			(void)close(fd);
			continue;
		}
		*guest = (struct source){.kind = SOURCE_GUEST,
					 .door = listener->door,
					 .fd = fd,
					 .peer = peer,
					 .until_ns = nm_clock_ns() + PREAMBLE_NS,
					 .next = doors->guests};
		if (doors->guests)
			doors->guests->before = guest;
		doors->guests = guest;
		doors->n_guests++;
		if (watch(doors, guest) < 0) {
			close_guest(doors, guest);
			continue;
		}
		/* It has mostly come with the connection. But the flow's connection before it goes
		 * first. */
		if (doors->n_guests == 1)
			guest_event(doors, guest);
	}
}

/* Makes the other end of a connection over a transport that has none of its own. The answer leaves
 * before its flow can send anything. */
static void meet(struct nm_rendezvous *doors, const struct source *listener,
		 const struct nm_addr *peer, struct nm_preamble *preamble)
{
	const struct nm_instr *accept = find_accept(doors, listener->door, preamble);
	char wire[NM_PREAMBLE_BYTES];
	int fd = -1;

	if (!accept)
		return;
	uint32_t n_openings = doors->engine->plan->groups[preamble->group].n_openings;
	struct nm_preamble_known *known =
		&doors->known[preamble->group]
			     [(size_t)preamble->flow * n_openings + preamble->opening];
	enum nm_preamble_verdict verdict = nm_preamble_judge(known, preamble->serial);

	if (verdict == NM_PREAMBLE_OLD)
		return;
	if (verdict == NM_PREAMBLE_NEW) {
		fd = accept->transport->datagram->accept(listener->fd, accept->port != 0,
							 accept->transport_opts, peer);
		const struct nm_conn conn = {.fd = fd};

		if (fd < 0)
			return;
		*known = (struct nm_preamble_known){
			.serial = preamble->serial,
			.port = accept->transport->datagram->port_of(&conn)};
	}
	preamble->port = known->port;
	nm_preamble_pack(preamble, NM_PREAMBLE_ANSWER, wire);
	(void)sendto(listener->fd, wire, sizeof wire, MSG_DONTWAIT | MSG_NOSIGNAL,
		     (const struct sockaddr *)&peer->sa, peer->len);
	if (fd >= 0)
		(void)deliver(doors, preamble, fd);
}

/* Reads all preambles that are queued at a listener of a transport without connections. */
static void take_preambles(struct nm_rendezvous *doors, const struct source *listener)
{
	for (;;) {
		char wire[NM_PREAMBLE_BYTES + 1];
		struct nm_addr peer = {.len = sizeof peer.sa};
		struct nm_preamble preamble;
		ssize_t n = recvfrom(listener->fd, wire, sizeof wire, MSG_DONTWAIT,
				     (struct sockaddr *)&peer.sa, &peer.len);

		if (n < 0 && errno != ECONNREFUSED)
			return;
		if (n > 0 && nm_preamble_unpack(wire, (size_t)n, &preamble) == NM_PREAMBLE_HELLO)
			meet(doors, listener, &peer, &preamble);
	}
}

/* True when there were any. They are taken out: a guest may be gone after it. */
static bool take_guest_events(struct nm_rendezvous *doors, struct epoll_event *events, int n)
{
	bool any = false;

	for (int i = 0; i < n; i++) {
		struct source *source = events[i].data.ptr;

		if (source->kind != SOURCE_GUEST)
			continue;
		any = true;
		events[i].data.ptr = NULL;
		guest_event(doors, source);
	}
	return any;
}

static void take_listener_events(struct nm_rendezvous *doors, const struct epoll_event *events,
				 int n)
{
	for (int i = 0; i < n; i++) {
		const struct source *source = events[i].data.ptr;

		if (!source || source->kind != SOURCE_LISTEN)
			continue;
		if (source->door->transport->datagram)
			take_preambles(doors, source);
		else
			take_guests(doors, source);
	}
}

static void *doors_main(void *arg)
{
	struct nm_rendezvous *doors = arg;
	struct epoll_event events[EVENTS];

	while (!atomic_load_explicit(&doors->ends, memory_order_relaxed)) {
		int n = epoll_wait(doors->epoll_fd, events, EVENTS, doors->guests ? 1000 : -1);

		/* Greetings have come before the connections that their flows open next; more may
		 * not have fitted in. */
		if (!take_guest_events(doors, events, n) || n < EVENTS)
			take_listener_events(doors, events, n);
		if (doors->guests)
			expire_guests(doors, nm_clock_ns());
	}
	return NULL;
}

int nm_rendezvous_start(struct nm_rendezvous *doors)
{
	return nm_thread_start(&doors->thread, 0, doors_main, doors);
}

struct nm_rendezvous *nm_rendezvous_free(struct nm_rendezvous *doors)
{
	const uint64_t one = 1;

	if (!doors)
		return NULL;
	atomic_store_explicit(&doors->ends, true, memory_order_relaxed);
	if (doors->thread.started)
		(void)!write(doors->quit.fd, &one, sizeof one);
	nm_thread_join(&doors->thread);
	while (doors->guests)
		close_guest(doors, doors->guests);
	for (size_t i = 0; i < doors->count; i++) {
		for (uint32_t k = 0; k < doors->doors[i].n_fds; k++)
			(void)close(doors->doors[i].fds[k]);
		free(doors->doors[i].fds);
	}
	if (doors->epoll_fd >= 0)
		(void)close(doors->epoll_fd);
	if (doors->quit.fd >= 0)
		(void)close(doors->quit.fd);
	free(doors->listeners);
	for (uint32_t g = 0; doors->known && g < doors->engine->plan->n_groups; g++)
		free(doors->known[g]);
	free(doors->known);
	free(doors->doors);
	free(doors);
	return NULL;
}
