/* SPDX-License-Identifier: Apache-2.0 */
/* Listening sockets of one worker, whose accepts take the connections that are queued there. */
#include "engine/accept/listener.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/accept/mux.h"
#include "engine/accept/ports.h"
#include "engine/data_host.h"
#include "engine/engine_priv.h"
#include "host/procfile.h"
#include "plan/shape.h"
#include "transport/transport.h"

static int tell_epoll(struct nm_worker *worker, struct nm_listen_fd *one, int how, uint32_t events)
{
	struct epoll_event event = {.events = events,
				    .data.u64 = (uint64_t)(uintptr_t)one | NM_TAG_LISTEN};

	return epoll_ctl(worker->epoll_fd, how, one->fd, &event) < 0 ? -errno : 0;
}

/* The socket stays in epoll, since adding it anew might fail. */
int nm_listener_watch(struct nm_worker *worker, struct nm_listen_fd *one, bool watch)
{
	return tell_epoll(worker, one, EPOLL_CTL_MOD, watch ? EPOLLIN | EPOLLET : 0);
}

/* Adds one socket of the listener to the worker's epoll; level-triggered for a demultiplexer, which
 * so may leave datagrams for later, while others have their turn. */
static int begin(struct nm_worker *worker, struct nm_listen_fd *one, const struct nm_instr *accept,
		 const char *text)
{
	if (nm_shape_takes_messages(accept)) {
		one->ready = true;
		return 0;
	}
	if (!nm_transport_is_mux(accept->transport))
		return tell_epoll(worker, one, EPOLL_CTL_ADD, EPOLLIN | EPOLLET);
	one->mux = nm_mux_new(worker, one, accept, text);
	return one->mux ? tell_epoll(worker, one, EPOLL_CTL_ADD, EPOLLIN) : -ENOMEM;
}

/* Which file is there; 0: none. */
static ino_t file_at(const char *path)
{
	struct stat is;

	return path && lstat(path, &is) == 0 ? is.st_ino : 0;
}

static int open_listener(struct nm_worker *worker, const struct nm_instr *accept, char *text)
{
	struct nm_listener *listener = &worker->accept.listeners[accept->opening];
	struct nm_addr at;
	uint32_t sockets =
		(worker->n_flows + NM_FLOWS_PER_LISTEN_SOCKET - 1) / NM_FLOWS_PER_LISTEN_SOCKET;
	uint32_t ports = nm_ports_count(accept);
	size_t room = ports > sockets ? ports : sockets;
	int *fds = calloc(room, sizeof *fds);

	listener->fds = calloc(room, sizeof(*listener->fds));
	if (!fds || !listener->fds) {
		free(fds);
		return -ENOMEM;
	}
	if (!nm_instr_is_public(accept))
		listener->peers = &worker->engine->hosts[accept->host].peers;
	listener->single = nm_shape_takes_messages(accept) ||
			   (worker->n_flows == 1 && nm_shape_accepts_singly(worker->group, accept));
	const struct nm_addr *local = nm_data_local(worker->engine, accept, &at);
	const bool shares = nm_instr_is_public(accept) && worker->group->n_workers > 1;
	int r = 0;

	/* Another program with a port is found before they share it. */
	if (shares && worker->worker_no == 0) {
		r = nm_ports_open(accept, local, 1, false, text, fds);
		for (int i = 0; i < r; i++)
			(void)close(fds[i]);
	}
	if (r >= 0)
		r = nm_ports_open(accept, local, sockets, shares, text, fds);

	for (int i = 0; i < r; i++)
		listener->fds[i] = (struct nm_listen_fd){.fd = fds[i], .listener = listener};
	listener->n_fds = r > 0 ? (size_t)r : 0;
	free(fds);
	if (r > 0)
		listener->file = file_at(nm_ports_path(accept));
	for (size_t i = 0; r >= 0 && i < listener->n_fds; i++)
		r = begin(worker, &listener->fds[i], accept, text);
	return r < 0 ? r : 0;
}

/* Whether the worker has a listener of its own for the instruction. */
static bool is_own_accept(const struct nm_instr *instr)
{
	return nm_instr_accepts(instr) && instr->transport->listen &&
	       (!instr->open.has_preamble || nm_transport_is_mux(instr->transport));
}

static void say_why(const struct nm_instr *accept, const char *text, int r, char *why,
		    size_t why_size)
{
	const bool fixed = nm_ports_is_fixed(accept);
	char no_port[96];

	snprintf(why, why_size, "cannot listen for the %s at line %u%s%s: %s", accept->op->name,
		 accept->line,
		 nm_ports_path(accept) ? " at "
		 : fixed	       ? " on port "
				       : "",
		 fixed ? text : "",
		 r == -EADDRINUSE && !fixed ? nm_procfile_no_port(no_port, sizeof no_port)
					    : strerror(-r));
}

int nm_listeners_open(struct nm_worker *worker, char *why, size_t why_size)
{
	for (uint32_t i = 0; i < worker->group->n_instrs; i++) {
		const struct nm_instr *instr = &worker->group->instrs[i];

		if (!is_own_accept(instr))
			continue;
		char *text = worker->accept.texts[instr->opening];
		int r = open_listener(worker, instr, text);

		if (r < 0) {
			say_why(instr, text, r, why, why_size);
			return r;
		}
	}
	return 0;
}

/* Removes the files that the sockets have made, unless others are there by now. They must still be
 * open: that keeps the number of a file from being given to another. */
static void remove_files(const struct nm_worker *worker)
{
	for (uint32_t i = 0; i < worker->group->n_instrs; i++) {
		const struct nm_instr *instr = &worker->group->instrs[i];
		const char *path = is_own_accept(instr) ? nm_ports_path(instr) : NULL;
		const ino_t file = path ? worker->accept.listeners[instr->opening].file : 0;

		if (file && file_at(path) == file)
			(void)unlink(path);
	}
}

void nm_listeners_close(struct nm_worker *worker)
{
	if (worker->accept.listeners)
		remove_files(worker);
	for (uint32_t i = 0; worker->accept.listeners && i < worker->group->n_openings; i++) {
		struct nm_listener *listener = &worker->accept.listeners[i];

		for (size_t j = 0; j < listener->n_fds; j++) {
			listener->fds[j].mux = nm_mux_free(listener->fds[j].mux);
			(void)close(listener->fds[j].fd);
		}
		free(listener->fds);
	}
}

struct nm_flow *nm_listener_next(struct nm_listen_fd *one)
{
	struct nm_listener *listener = one->listener;
	struct nm_flow *flow = listener->first;

	if (!one->ready || !flow)
		return NULL;
	listener->first = flow->next;
	if (!listener->first)
		listener->last = NULL;
	flow->next = NULL;
	return flow;
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
