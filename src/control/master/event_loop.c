/* SPDX-License-Identifier: Apache-2.0 */
/* Takes events from outside while the master runs: messages of slaves, events of the engine,
 * interrupts. */
#include "control/master/event_loop.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/host_port.h"
#include "control/master/embedded.h"
#include "host/clock.h"

/* A slave answers at once, unless its host is busy. */
#define GREETING_NS 3000000000u

/* The slaves of a group learn that its connections are to be replaced. */
static void tell_renewals(struct nm_master *master, struct nm_link *link)
{
	if (link->peer.state != NM_SESSION_IDLE && link->peer.state != NM_SESSION_PHASE)
		return;
	for (uint32_t g = 0; g < master->plan->n_groups; g++) {
		uint32_t renewals = nm_engine_reconnects(master->local.engine, g);

		if (!master->phases.hosts[link->host].parts[g].runs ||
		    renewals == link->told_renewals[g])
			continue;
		link->told_renewals[g] = renewals;
		nm_master_log(master, "connections of group %s to %s are to be replaced",
			      master->plan->groups[g].name, link->name);
		nm_master_send(master, link, NM_MESSAGE_RENEW, nm_renew_pack(g));
	}
}

static void lose(struct nm_master *master, struct nm_link *link, const char *why)
{
	char how[128] = "";

	/* A slave of ours that has died is asked how. */
	if (nm_embedded_is_started(&link->embedded) && link->peer.ended)
		nm_embedded_end(&link->embedded, 200000000u, how, sizeof how);
	nm_master_fail(master, link, NM_FAILURE_LOSS, "%s%s%s", why, *how ? ": " : "", how);
	nm_peer_fini(&link->peer);
	link->peer.state = NM_SESSION_END;
}

/* Before its first message the other end may be any program that listens on the port. */
static bool is_stranger(const struct nm_link *link)
{
	return link->peer.state == NM_SESSION_HELLO && !nm_embedded_is_started(&link->embedded);
}

static void lose_stranger(struct nm_master *master, struct nm_link *link, const char *verdict,
			  const char *why)
{
	char text[512], host[NM_HOST_MAX + 1];
	uint16_t port = 0;

	(void)nm_host_port_split(link->name, host, &port);
	(void)snprintf(text, sizeof text, "what listens on port %u is not a netmodel slave%s: %s",
		       port ? port : master->options->port, verdict, why);
	lose(master, link, text);
}

static void lose_silent(struct nm_master *master, struct nm_link *link, uint64_t limit_ns)
{
	char why[64];

	(void)snprintf(why, sizeof why, "no sign of life for %.3g s", (double)limit_ns / 1e9);
	if (is_stranger(link))
		lose_stranger(master, link, ", or does not answer", why);
	else
		lose(master, link, why);
}

static void take_messages(struct nm_master *master, struct nm_link *link)
{
	char why[256], text[288];
	struct nm_message message;
	int answer = 0;

	while (link->peer.fd >= 0 && link->peer.state != NM_SESSION_END &&
	       (answer = nm_peer_next(&link->peer, &message, why, sizeof why)) > 0) {
		link->wrong = NULL;
		answer = master->handlers[message.type](master, link, message.body);
		if (answer < 0)
			(void)snprintf(why, sizeof why, "a wrong message \"%s\"%s%s",
				       nm_message_word(message.type), link->wrong ? ": " : "",
				       link->wrong ? link->wrong : "");
		nm_message_fini(&message);
		if (answer < 0)
			break;
	}
	if (answer < 0) {
		(void)snprintf(text, sizeof text, "it sent %s", why);
		if (is_stranger(link))
			lose_stranger(master, link, "", text);
		else
			lose(master, link, text);
	}
}

/* What the end of the connection to a slave means. */
static const char *slave_ended_text(const struct nm_peer *peer)
{
	switch (peer->ended) {
	case -ESHUTDOWN:
		return "the slave has ended: it closed the control connection";
	case -ECONNRESET:
	case -EPIPE:
		return "the slave has ended, or something between has cut it off: the control "
		       "connection was reset";
	default:
		return nm_peer_ended_text(peer);
	}
}

static void serve_link(struct nm_master *master, struct nm_link *link)
{
	nm_peer_flush(&link->peer);
	nm_peer_receive(&link->peer, nm_clock_ns());
	take_messages(master, link);
	if (link->peer.fd < 0)
		return;
	if (link->peer.ended && link->peer.state != NM_SESSION_END) {
		if (link->peer.ended == -EKEYREJECTED)
			lose(master, link,
			     "refused: it has another key than this master: give both the same "
			     "(--key-file FILE, or NETMODEL_KEY in the environment)");
		else if (is_stranger(link))
			lose_stranger(master, link, ", or has gone",
				      nm_peer_ended_text(&link->peer));
		else
			lose(master, link, slave_ended_text(&link->peer));
		return;
	}
	uint64_t now_ns = nm_clock_ns(), limit_ns = master->options->timeout_ns;
	/* Of several slaves it is not known which has sent the data. */
	bool one = master->n_links == 1 && master->local.engine;

	nm_peer_listen(&link->peer, one ? nm_engine_received(master->local.engine) : 0, now_ns);
	enum nm_heartbeat_due due = nm_heartbeat_due(&link->peer.beat, now_ns);

	if (is_stranger(link)) {
		limit_ns = nm_master_patience_ns(master);
		if (now_ns >= link->opened_ns + limit_ns)
			due = NM_HEARTBEAT_LOST;
	}
	if (due == NM_HEARTBEAT_LOST) {
		lose_silent(master, link, limit_ns);
	} else if (due == NM_HEARTBEAT_SEND && link->peer.state != NM_SESSION_HELLO) {
		nm_master_send(master, link, NM_MESSAGE_HEARTBEAT,
			       nm_number_pack(NM_MESSAGE_HEARTBEAT, nm_master_progress(master)));
	}
}

static void take_interrupts(struct nm_master *master)
{
	char byte, cut[64];
	ssize_t n = read(master->options->interrupt_fd, &byte, 1);

	if (n == 1) {
		nm_outcome_interrupt(&master->outcome, byte == NM_INTERRUPT_LIMIT, nm_clock_ns());
		nm_master_log(
			master, "%s%s",
			nm_outcome_cut_text(&master->outcome, master->options->max_duration.ns, cut,
					    sizeof cut),
			master->outcome.interrupts == 1 ? ": finishing" : " again: ending at once");
	} else if (n == 0 || (errno != EINTR && errno != EAGAIN)) {
		master->interrupt_closed = true;
	}
}

/* Sets what to wait for where readers have not taken all, and until when at most. */
static void push(const struct nm_master *master, struct pollfd *ret_fd, uint64_t *ret_until_ns)
{
	const struct nm_run_events *events = &master->options->events;

	*ret_fd = (struct pollfd){.fd = -1, .events = POLLOUT};
	if (!events->push || !events->push(events->arg, &ret_fd->fd))
		return;
	uint64_t next_ns = nm_clock_ns() + NM_PUSH_NS;

	*ret_until_ns = next_ns < *ret_until_ns ? next_ns : *ret_until_ns;
}

void nm_master_poll(struct nm_master *master, uint64_t until_ns)
{
	struct pollfd *fds = master->pollfds;
	size_t n = master->n_links;

	for (size_t i = 0; i < n; i++) {
		const struct nm_link *link = &master->links[i];
		bool open = link->peer.fd >= 0;

		fds[i] = (struct pollfd){.fd = open ? link->peer.fd : -1,
					 .events = open ? nm_peer_events(&link->peer) : 0};
		if (open && nm_heartbeat_next_ns(&link->peer.beat) < until_ns)
			until_ns = nm_heartbeat_next_ns(&link->peer.beat);
		if (open && is_stranger(link) &&
		    link->opened_ns + nm_master_patience_ns(master) < until_ns)
			until_ns = link->opened_ns + nm_master_patience_ns(master);
	}
	fds[n] = (struct pollfd){.fd = master->local.engine ? nm_engine_fd(master->local.engine)
							    : -1,
				 .events = POLLIN};
	fds[n + 1] =
		(struct pollfd){.fd = master->interrupt_closed ? -1 : master->options->interrupt_fd,
				.events = POLLIN};
	push(master, &fds[n + 2], &until_ns);

	uint64_t now_ns = nm_clock_ns();
	uint64_t wait_ns = until_ns > now_ns ? until_ns - now_ns : 0;
	const struct timespec wait = {.tv_sec = (time_t)(wait_ns / 1000000000u),
				      .tv_nsec = (long)(wait_ns % 1000000000u)};

	if (ppoll(fds, n + 3, &wait, NULL) < 0) {
		if (errno != EINTR)
			nm_master_fail(master, NULL, NM_FAILURE_LOSS, "cannot wait: %s",
				       strerror(errno));
		return;
	}
	if (fds[n].revents)
		nm_engine_clear(master->local.engine);
	for (size_t i = 0; fds[n].revents && i < n; i++)
		tell_renewals(master, &master->links[i]);
	if (fds[n + 1].revents)
		take_interrupts(master);
	for (size_t i = 0; i < n; i++) {
		if (master->links[i].peer.fd >= 0)
			serve_link(master, &master->links[i]);
	}
}

void nm_master_send(struct nm_master *master, struct nm_link *link, enum nm_message_type type,
		    json_t *body)
{
	if (link->peer.fd < 0) {
		json_decref(body);
		return;
	}
	int error = nm_peer_send(&link->peer, type, body, nm_clock_ns());

	if (error)
		nm_master_fail(master, link, NM_FAILURE_LOSS, "cannot send \"%s\": %s",
			       nm_message_word(type), strerror(-error));
}

bool nm_master_await(struct nm_master *master, enum nm_session_state state, uint64_t until_ns)
{
	for (;;) {
		struct nm_link *late = NULL;

		for (size_t i = 0; i < master->n_links && !late; i++) {
			if (master->links[i].peer.state < state)
				late = &master->links[i];
		}
		if (nm_outcome_ends(&master->outcome))
			return false;
		if (!late)
			return true;
		if (nm_clock_ns() >= until_ns) {
			if (is_stranger(late))
				lose_silent(master, late, master->options->timeout_ns);
			else
				nm_master_fail(master, late, NM_FAILURE_LOSS,
					       "waited %.3g s for %s",
					       (double)master->options->timeout_ns / 1e9,
					       nm_session_state_waits(late->peer.state));
			return false;
		}
		nm_master_poll(master, until_ns);
	}
}

void nm_master_take_interrupt(struct nm_master *master)
{
	const uint64_t until_ns = nm_master_timeout_ns(master);

	while (!nm_outcome_ends(&master->outcome) && !master->interrupt_closed &&
	       nm_clock_ns() < until_ns)
		nm_master_poll(master, until_ns);
}

uint64_t nm_master_progress(const struct nm_master *master)
{
	uint64_t progress = master->local.engine ? nm_engine_progress(master->local.engine) : 0;

	/* The slaves have not to give up while the master waits. */
	progress += master->phases.waits;
	for (size_t i = 0; i < master->n_links; i++)
		progress += master->links[i].progress;
	return progress;
}

uint64_t nm_master_patience_ns(const struct nm_master *master)
{
	uint64_t timeout_ns = master->options->timeout_ns;

	if (timeout_ns <= GREETING_NS)
		return timeout_ns;
	return timeout_ns / 2 > GREETING_NS ? timeout_ns / 2 : GREETING_NS;
}

uint64_t nm_master_timeout_ns(const struct nm_master *master)
{
	return nm_clock_ns() + master->options->timeout_ns;
}
