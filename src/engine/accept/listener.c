/* SPDX-License-Identifier: Apache-2.0 */
/* Listening sockets of one worker. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "engine/engine_priv.h"
#include "engine/loop/interp.h"
#include "flowop/flowop.h"
#include "transport/transport.h"

static int tell_epoll(struct nm_worker *worker, struct nm_listen_fd *one, int how, uint32_t events)
{
	struct epoll_event event = {.events = events,
				    .data.u64 = (uint64_t)(uintptr_t)one | NM_TAG_LISTEN};

	return epoll_ctl(worker->epoll_fd, how, one->fd, &event) < 0 ? -errno : 0;
}

/* It stays known to epoll: that is what might fail another time. */
int nm_listener_watch(struct nm_worker *worker, struct nm_listen_fd *one, bool watch)
{
	return tell_epoll(worker, one, EPOLL_CTL_MOD, watch ? EPOLLIN | EPOLLET : 0);
}

static int open_fds(struct nm_worker *worker, const struct nm_instr *instr, char *text)
{
	struct nm_listener *listener = &worker->accept.listeners[instr->opening];
	const struct nm_engine_host *host = &worker->engine->hosts[instr->host];
	uint32_t sockets =
		(worker->n_flows + NM_FLOWS_PER_LISTEN_SOCKET - 1) / NM_FLOWS_PER_LISTEN_SOCKET;
	uint32_t ports = nm_listener_ports(instr);
	size_t room = ports > sockets ? ports : sockets;
	int *fds = calloc(room, sizeof *fds);

	listener->fds = calloc(room, sizeof(*listener->fds));
	if (!fds || !listener->fds) {
		free(fds);
		return -ENOMEM;
	}
	listener->from = host->peer;
	listener->lone = worker->n_flows == 1 && nm_shape_accepts_singly(worker->group, instr);
	int r = nm_listener_open(instr, &host->local, sockets, text, fds);

	for (int i = 0; i < r; i++)
		listener->fds[i] = (struct nm_listen_fd){.fd = fds[i], .listener = listener};
	listener->n_fds = r > 0 ? (size_t)r : 0;
	free(fds);
	for (size_t i = 0; r >= 0 && i < listener->n_fds; i++)
		r = instr->transport->caps & NM_TRANSPORT_MUX
			    ? nm_mux_new(worker, &listener->fds[i], instr, text)
			    : tell_epoll(worker, &listener->fds[i], EPOLL_CTL_ADD,
					 EPOLLIN | EPOLLET);
	return r < 0 ? r : 0;
}

void nm_worker_listen_to(struct nm_worker *worker, uint32_t host, const struct nm_addr *source)
{
	for (uint32_t i = 0; i < worker->group->n_instrs; i++) {
		const struct nm_instr *instr = &worker->group->instrs[i];

		if (!instr->op || !(instr->op->flags & NM_FLOWOP_OPENS) || instr->host != host)
			continue;
		if (worker->accept.listeners[instr->opening].from.len)
			worker->accept.listeners[instr->opening].from = *source;
	}
}

int nm_worker_listen(struct nm_worker *worker, char *why, size_t why_size)
{
	for (uint32_t i = 0; i < worker->group->n_instrs; i++) {
		const struct nm_instr *instr = &worker->group->instrs[i];

		if (!instr->op || !(instr->op->flags & NM_FLOWOP_OPENS) ||
		    !(instr->op->flags & NM_FLOWOP_FOLLOWS) || !instr->transport->listen ||
		    (instr->has_preamble && !(instr->transport->caps & NM_TRANSPORT_MUX)))
			continue;
		int r = open_fds(worker, instr, worker->accept.texts[instr->opening]);

		if (r < 0) {
			snprintf(why, why_size, "cannot listen for the %s at line %u: %s",
				 instr->op->name, instr->line, strerror(-r));
			return r;
		}
	}
	return 0;
}

void nm_worker_unlisten(struct nm_worker *worker)
{
	for (uint32_t i = 0; worker->accept.listeners && i < worker->group->n_openings; i++) {
		for (size_t j = 0; j < worker->accept.listeners[i].n_fds; j++) {
			struct nm_listen_fd *one = &worker->accept.listeners[i].fds[j];

			one->hub = nm_mux_free(one->hub);
			(void)close(one->fd);
		}
		free(worker->accept.listeners[i].fds);
	}
}

void nm_worker_listener_event(struct nm_worker *worker, struct nm_listen_fd *listen_fd)
{
	struct nm_listener *listener = listen_fd->listener;

	if (listen_fd->hub) {
		nm_mux_event(listen_fd->hub);
		return;
	}
	listen_fd->ready = true;
	while (listen_fd->ready && listener->first) {
		struct nm_flow *flow = listener->first;

		listener->first = flow->next;
		if (!listener->first)
			listener->last = NULL;
		flow->next = NULL;
		nm_timers_remove(&worker->timers, &flow->timer);
		flow->timer.at_ns = 0;
		nm_worker_run_flow(worker, flow);
	}
}

void nm_listener_unpark(struct nm_listener *listener, struct nm_flow *flow)
{
	struct nm_flow *before = NULL, *at = listener->first;

	while (at && at != flow) {
		before = at;
		at = at->next;
	}
	if (!at)
		return;
	if (before)
		before->next = flow->next;
	else
		listener->first = flow->next;
	if (listener->last == flow)
		listener->last = before;
	flow->next = NULL;
}

void nm_listener_unpark_all(struct nm_listener *listener)
{
	listener->first = listener->last = NULL;
}
