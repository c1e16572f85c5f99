/* SPDX-License-Identifier: Apache-2.0 */
/* Listeners that serve several flows: opened for the accepts of a plan, and asked whose a
 * connection is. nm_pending_find_accept finds the accept that a preamble means. */
#include "engine/accept/rendezvous_listeners.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "engine/accept/handoff.h"
#include "engine/accept/pending.h"
#include "engine/accept/ports.h"
#include "engine/data_host.h"
#include "host/procfile.h"
#include "plan/shape.h"
#include "transport/prover.h"
#include "transport/socket.h"

#define MAX_SOCKETS 64 /* the most of one listener that share a port */
#define DEFER_S	    5  /* seconds for the kernel to wait for a preamble's begin */

static bool is_served(const struct nm_instr *instr)
{
	return nm_instr_accepts(instr) && instr->open.has_preamble &&
	       !nm_transport_is_mux(instr->transport);
}

bool nm_rendezvous_listeners_serve(const struct nm_group *group, bool datagrams)
{
	for (uint32_t i = 0; group->runs && i < group->n_instrs; i++)
		if (is_served(&group->instrs[i]) &&
		    (group->instrs[i].transport->datagram != NULL) == datagrams)
			return true;
	return false;
}

static bool is_same_addr(const struct nm_addr *a, const struct nm_addr *b)
{
	return a->len == b->len && memcmp(&a->sa, &b->sa, a->len) == 0;
}

/* The listener that serves the accept, when there is one already: accepts share a port that the
 * profile names. */
static struct nm_rendezvous_listener *find(const struct nm_rendezvous_listeners *listeners,
					   const struct nm_instr *accept,
					   const struct nm_addr *local)
{
	for (size_t i = 0; accept->open.port && i < listeners->count; i++) {
		struct nm_rendezvous_listener *one = &listeners->each[i];

		if (one->port == accept->open.port && one->transport == accept->transport &&
		    one->ports == nm_ports_count(accept) && is_same_addr(&one->local, local))
			return one;
	}
	return NULL;
}

int nm_rendezvous_socket_watch(const struct nm_rendezvous_listeners *listeners,
			       struct nm_rendezvous_socket *socket)
{
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = socket};

	return epoll_ctl(listeners->epoll_fd, EPOLL_CTL_ADD, socket->fd, &event) < 0 ? -errno : 0;
}

/* Adds a socket to those of its listener, which owns it from now on. */
static int add_socket(const struct nm_rendezvous_listeners *listeners,
		      struct nm_rendezvous_listener *one, int fd)
{
	struct nm_rendezvous_socket *socket = &one->sockets[one->n_sockets++];

	*socket = (struct nm_rendezvous_socket){.listener = one, .fd = fd, .listens = true};
	/* A connection without any byte is not even accepted, where the kernel can wait for one. */
	if (one->transport->caps & NM_TRANSPORT_TCP)
		(void)nm_socket_set(fd, IPPROTO_TCP, TCP_DEFER_ACCEPT, DEFER_S);
	return nm_rendezvous_socket_watch(listeners, socket);
}

/* Opens the next listener. 0 or -errno; then its open sockets are closed with the others. */
static int open_next(struct nm_rendezvous_listeners *listeners, const struct nm_instr *accept,
		     const struct nm_addr *local, uint32_t n_flows)
{
	struct nm_rendezvous_listener *one = &listeners->each[listeners->count++];
	uint32_t sockets = 1 + n_flows / NM_FLOWS_PER_LISTEN_SOCKET;

	if (sockets > MAX_SOCKETS)
		sockets = MAX_SOCKETS;
	*one = (struct nm_rendezvous_listener){.transport = accept->transport,
					       .local = *local,
					       .port = accept->open.port,
					       .ports = nm_ports_count(accept)};
	size_t room = one->ports > sockets ? one->ports : sockets;
	int *fds = calloc(room, sizeof *fds);

	one->sockets = calloc(room, sizeof *one->sockets);
	int opened = fds && one->sockets
			     ? nm_ports_open(accept, local, sockets, false, one->text, fds)
			     : -ENOMEM;
	int r = opened < 0 ? opened : 0;

	for (int i = 0; i < opened; i++) {
		int added = add_socket(listeners, one, fds[i]);

		r = r < 0 ? r : added;
	}
	free(fds);
	return r;
}

/* Finds or opens the listener that serves one accept. */
static int provide(struct nm_rendezvous_listeners *listeners, struct nm_engine_group *group,
		   const struct nm_instr *accept, char *why, size_t why_size)
{
	struct nm_addr room;
	const struct nm_addr *local = nm_data_local(listeners->engine, accept, &room);
	const struct nm_rendezvous_listener *one = find(listeners, accept, local);
	char no_port[96];

	if (!one) {
		int r = open_next(listeners, accept, local, group->plan->n_flows);

		one = &listeners->each[listeners->count - 1];
		if (r < 0) {
			snprintf(why, why_size, "cannot listen for the %s at line %u%s%s: %s",
				 accept->op->name, accept->line, one->port ? " on port " : "",
				 one->port ? one->text : "",
				 r == -EADDRINUSE && !accept->open.port
					 ? nm_procfile_no_port(no_port, sizeof no_port)
					 : strerror(-r));
			return r;
		}
	}
	for (uint32_t w = 0; w < group->n_workers; w++)
		memcpy(group->workers[w].accept.texts[accept->opening], one->text,
		       sizeof one->text);
	return 0;
}

static size_t count_accepts(const struct nm_plan *plan)
{
	size_t n = 0;

	for (uint32_t g = 0; g < plan->n_groups; g++)
		for (uint32_t i = 0; plan->groups[g].runs && i < plan->groups[g].n_instrs; i++)
			n += is_served(&plan->groups[g].instrs[i]);
	return n;
}

int nm_rendezvous_listeners_open(struct nm_rendezvous_listeners *listeners,
				 struct nm_engine *engine, char *why, size_t why_size)
{
	const struct nm_plan *plan = engine->plan;
	size_t n_accepts = count_accepts(plan);
	int r = 0;

	*listeners = (struct nm_rendezvous_listeners){.engine = engine, .epoll_fd = -1};
	if (n_accepts == 0)
		return 0;
	listeners->prover = nm_prover_new(engine->secret);
	listeners->each = calloc(n_accepts, sizeof *listeners->each);
	if (!listeners->prover || !listeners->each)
		return -ENOMEM;
	listeners->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (listeners->epoll_fd < 0)
		return -errno;
	for (uint32_t g = 0; g < plan->n_groups; g++) {
		const struct nm_group *group = &plan->groups[g];

		for (uint32_t i = 0; r == 0 && group->runs && i < group->n_instrs; i++)
			if (is_served(&group->instrs[i]))
				r = provide(listeners, &engine->groups[g], &group->instrs[i], why,
					    why_size);
	}
	return r;
}

void nm_rendezvous_listeners_close(struct nm_rendezvous_listeners *listeners)
{
	for (size_t i = 0; i < listeners->count; i++) {
		for (uint32_t k = 0; k < listeners->each[i].n_sockets; k++)
			(void)close(listeners->each[i].sockets[k].fd);
		free(listeners->each[i].sockets);
	}
	free(listeners->each);
	if (listeners->epoll_fd >= 0)
		(void)close(listeners->epoll_fd);
	nm_prover_free(listeners->prover);
}

void nm_rendezvous_listen_to_streams(const struct nm_rendezvous_listeners *listeners, bool listens)
{
	for (size_t i = 0; i < listeners->count; i++) {
		const struct nm_rendezvous_listener *one = &listeners->each[i];

		for (uint32_t k = 0; !one->transport->datagram && k < one->n_sockets; k++) {
			struct epoll_event event = {.events = listens ? EPOLLIN : 0,
						    .data.ptr = &one->sockets[k]};

			(void)epoll_ctl(listeners->epoll_fd, EPOLL_CTL_MOD, one->sockets[k].fd,
					&event);
		}
	}
}

const struct nm_instr *nm_rendezvous_find_accept(const struct nm_rendezvous_listeners *listeners,
						 const struct nm_rendezvous_listener *listener,
						 const struct nm_addr *from, const char *wire,
						 const struct nm_preamble *preamble)
{
	const struct nm_engine *engine = listeners->engine;
	const struct nm_instr *accept = nm_pending_find_accept(engine->plan, preamble);

	if (accept && accept->transport == listener->transport &&
	    accept->open.port == listener->port &&
	    nm_peers_may_prove(&engine->hosts[accept->host].peers, from) &&
	    nm_preamble_is_proved(wire, listeners->prover, engine->nonce))
		return accept;
	return NULL;
}

void nm_rendezvous_hand_over(const struct nm_rendezvous_listeners *listeners,
			     const struct nm_preamble *preamble, int fd)
{
	struct nm_engine_group *group = &listeners->engine->groups[preamble->group];
	struct nm_worker *worker = &group->workers[preamble->flow % group->n_workers];

	(void)nm_handoff_send(worker->accept.handoff, preamble->opening, preamble->flow, fd,
			      &worker->commands.quit);
}
