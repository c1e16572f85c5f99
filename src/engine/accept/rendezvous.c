/* SPDX-License-Identifier: Apache-2.0 */
/* The thread that takes connections for flows of all workers. Streams and datagrams come to
 * listeners of the rendezvous; a preamble tells the flow, and the descriptor is handed to the
 * worker of that flow. */
#include "engine/accept/rendezvous.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "engine/accept/rendezvous_datagrams.h"
#include "engine/accept/rendezvous_listeners.h"
#include "engine/accept/rendezvous_streams.h"
#include "engine/thread.h"
#include "host/clock.h"
#include "host/wake.h"

#define EVENTS 64

struct nm_rendezvous {
	struct nm_rendezvous_listeners listeners;
	struct nm_rendezvous_streams streams;
	struct nm_rendezvous_datagrams datagrams;
	int quit_fd;
	struct nm_thread thread;
	_Atomic bool ends;
};

static int prepare(struct nm_rendezvous *all)
{
	struct epoll_event quit = {.events = EPOLLIN, .data.ptr = NULL};
	int r = nm_rendezvous_streams_init(&all->streams, &all->listeners);

	if (r == 0)
		r = nm_rendezvous_datagrams_init(&all->datagrams, &all->listeners);
	if (r < 0)
		return r;
	all->quit_fd = eventfd(0, EFD_CLOEXEC);
	if (all->quit_fd < 0)
		return -errno;
	return epoll_ctl(all->listeners.epoll_fd, EPOLL_CTL_ADD, all->quit_fd, &quit) < 0 ? -errno
											  : 0;
}

int nm_rendezvous_open(struct nm_engine *engine, struct nm_rendezvous **ret_rendezvous, char *why,
		       size_t why_size)
{
	struct nm_rendezvous *all = calloc(1, sizeof *all);

	*ret_rendezvous = NULL;
	if (!all)
		return -ENOMEM;
	all->quit_fd = -1;
	int r = nm_rendezvous_listeners_open(&all->listeners, engine, why, why_size);

	if (r == 0 && all->listeners.count > 0)
		r = prepare(all);
	if (r < 0 || all->listeners.count == 0)
		nm_rendezvous_free(all);
	else
		*ret_rendezvous = all;
	return r;
}

/* Hears streams that have not said all, and takes their events out, as they may be gone then.
 * True: there were any. */
static bool hear_streams(struct nm_rendezvous *all, struct epoll_event *events, int n)
{
	bool any = false;

	for (int i = 0; i < n; i++) {
		struct nm_rendezvous_socket *socket = events[i].data.ptr;

		if (!socket || socket->listens)
			continue;
		any = true;
		events[i].data.ptr = NULL;
		nm_rendezvous_streams_hear(&all->streams, socket);
	}
	return any;
}

static void take_new(struct nm_rendezvous *all, const struct epoll_event *events, int n)
{
	for (int i = 0; i < n; i++) {
		const struct nm_rendezvous_socket *socket = events[i].data.ptr;

		if (!socket)
			continue;
		if (socket->listener->transport->datagram)
			nm_rendezvous_datagrams_take(&all->datagrams, socket);
		else
			nm_rendezvous_streams_take(&all->streams, socket);
	}
}

static void *run(void *arg)
{
	struct nm_rendezvous *all = arg;
	struct epoll_event events[EVENTS];

	while (!atomic_load_explicit(&all->ends, memory_order_relaxed)) {
		bool waits = nm_rendezvous_streams_have_timers(&all->streams);
		int n = epoll_wait(all->listeners.epoll_fd, events, EVENTS, waits ? 100 : -1);

		/* Preambles come before the next connections of their flows; a full list of events
		 * may have left some out. */
		if (!hear_streams(all, events, n) || n < EVENTS)
			take_new(all, events, n);
		if (waits)
			nm_rendezvous_streams_run_timers(&all->streams, nm_clock_ns());
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
		nm_wake(rendezvous->quit_fd);
	nm_thread_join(&rendezvous->thread);
	nm_rendezvous_streams_fini(&rendezvous->streams);
	nm_rendezvous_datagrams_fini(&rendezvous->datagrams);
	nm_rendezvous_listeners_close(&rendezvous->listeners);
	if (rendezvous->quit_fd >= 0)
		(void)close(rendezvous->quit_fd);
	free(rendezvous);
	return NULL;
}

bool nm_rendezvous_lacks_port(const struct nm_rendezvous *rendezvous,
			      struct nm_engine_error *ret_error)
{
	return rendezvous && nm_rendezvous_datagrams_lack_port(&rendezvous->datagrams, ret_error);
}
