/* SPDX-License-Identifier: Apache-2.0 */
/* epoll and poll of the simulated sim_kernel. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "object.h"
#include "world.h"

/* --- epoll and poll --- */

int sim_epoll_create(void)
{
	int fault = sim_call("epoll_create", 0);

	if (fault)
		return fault;
	return sim_give(sim_make(EPOLL, 1, true));
}

/* Whether something has come that it asks for since it was looked at. */
static bool has_edge(const struct item *item, const struct object *target)
{
	const uint32_t asks[N_EDGES] = {
		[EDGE_IN] = EPOLLIN, [EDGE_OUT] = EPOLLOUT, [EDGE_ANY] = UINT32_MAX};

	for (enum edge edge = 0; edge < N_EDGES; edge++)
		if (item->seen[edge] != target->edges[edge] && (item->event.events & asks[edge]))
			return true;
	return false;
}

static uint32_t due_of(const struct item *item)
{
	const struct object *target = sim_kernel.objects[item->target];
	uint32_t mask = sim_mask_of(target) & (item->event.events | EPOLLERR | EPOLLHUP);
	bool is_level = !(item->event.events & EPOLLET);

	return !item->off && (is_level || item->due || has_edge(item, target)) ? mask : 0;
}

int sim_epoll_ctl(int epoll_fd, int how, int fd, const struct epoll_event *event)
{
	struct object *epoll = sim_object_of(epoll_fd, EPOLL), *target = sim_object_of(fd, FREE);

	/* Only what is added needs memory. */
	int fault = sim_call(how == EPOLL_CTL_ADD ? "epoll_add" : "epoll_ctl", fd);

	if (fault)
		return fault;
	if (!sim_object_of(epoll_fd, FREE) || !target)
		return -EBADF;
	if (!epoll)
		return -EINVAL;
	unsigned at = sim_place_of(fd);
	struct item **item = &epoll->items;

	while (*item && (*item)->target != at)
		item = &(*item)->next;
	if (how == EPOLL_CTL_ADD && *item)
		return -EEXIST;
	if (how != EPOLL_CTL_ADD && !*item)
		return -ENOENT;
	if (how == EPOLL_CTL_DEL) {
		struct item *gone = *item;

		*item = gone->next;
		free(gone);
		return 0;
	}
	if (!*item)
		*item = sim_new(sizeof **item);
	(*item)->target = at;
	(*item)->event = *event;
	(*item)->off = false;
	(*item)->due = true; /* what is there already is reported */
	(*item)->due = due_of(*item);
	memcpy((*item)->seen, target->edges, sizeof target->edges);
	return 0;
}

bool sim_has_due(const struct object *epoll)
{
	for (const struct item *item = epoll->items; item; item = item->next)
		if (due_of(item))
			return true;
	return false;
}

static bool has_due(void *epoll)
{
	return sim_has_due(epoll);
}

static int take_due(struct object *epoll, struct epoll_event *events, int room)
{
	int n = 0;

	/* Those that are reported go to the end, so that others come first the next time. */
	for (struct item *item = epoll->items; item && n < room; item = item->next) {
		const struct object *target = sim_kernel.objects[item->target];
		uint32_t mask = due_of(item);
		bool again = mask && sim_kernel.config.spurious_in &&
			     sim_once_in(sim_kernel.config.spurious_in);

		if (mask && sim_kernel.config.spurious_in && room - n > 1 && sim_once_in(16))
			continue; /* it is reported by the next wait */
		if (!again) {
			memcpy(item->seen, target->edges, sizeof target->edges);
			item->due = false;
		}
		if (!mask)
			continue;
		events[n++] = (struct epoll_event){.events = mask, .data = item->event.data};
		item->off = item->event.events & EPOLLONESHOT;
	}
	for (int i = n - 1; i > 0; i--) { /* in any order */
		int other = (int)sim_random((uint64_t)i + 1);
		struct epoll_event event = events[i];

		events[i] = events[other];
		events[other] = event;
	}
	return n;
}

int sim_epoll_wait(int epoll_fd, struct epoll_event *events, int room, int64_t timeout_ns)
{
	struct object *epoll = sim_object_of(epoll_fd, EPOLL);
	int n = 0;

	int fault = sim_call("epoll_wait", (long)(timeout_ns / 1000));

	if (fault)
		return fault;
	if (!epoll)
		return sim_object_of(epoll_fd, FREE) ? -EINVAL : -EBADF;
	if (timeout_ns != 0 && !sim_has_due(epoll))
		(void)sim_block(has_due, epoll, sim_until(timeout_ns), "epoll_wait");
	do
		n = take_due(epoll, events, room);
	while (n == 0 && sim_has_due(epoll));
	return n;
}

struct polled {
	struct pollfd *fds;
	size_t n_fds;
	bool takes_signals;
	const struct sim_process *process; /* others ask whether it can go on */
};

static int look_at(const struct polled *polled)
{
	int n = 0;

	for (size_t i = 0; i < polled->n_fds; i++) {
		struct pollfd *one = &polled->fds[i];
		const struct object *object = sim_object_in(polled->process, one->fd);

		one->revents = object ? (short)(sim_mask_of(object) &
						((uint32_t)one->events | EPOLLERR | EPOLLHUP))
				      : 0;
		n += one->revents != 0;
	}
	return n;
}

static bool is_ready(void *arg)
{
	const struct polled *polled = arg;

	return look_at(polled) > 0 || (polled->takes_signals && polled->process->term_is_due);
}

int sim_poll(struct pollfd *fds, size_t n_fds, int64_t timeout_ns, bool takes_signals)
{
	struct polled polled = {.fds = fds,
				.n_fds = n_fds,
				.takes_signals = takes_signals,
				.process = sim_process()};

	int fault = sim_call("poll", (long)n_fds);

	if (fault)
		return fault;
	if (timeout_ns != 0 && !look_at(&polled))
		(void)sim_block(is_ready, &polled, sim_until(timeout_ns), "poll");
	if (takes_signals && sim_signal_handle())
		return -EINTR;
	return look_at(&polled);
}
