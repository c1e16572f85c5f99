/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the shape of each phase, by which the engine decides how to wait: which waiter does, and
 * which waits are deferred. */
#include "plan/shape.h"

#include <stdarg.h>
#include <stdio.h>

#include "flowop/disconnect.h"
#include "flowop/mix.h"
#include "flowop/pseudo_ops.h"
#include "flowop/rounds.h"
#include "plan/plan.h"
#include "transport/transport.h"

/* With so few flows the accepting end is idle at times, and the reset wakes it in time for the next
 * pass. */
#define FEW_FLOWS 7

bool nm_phase_mixes(const struct nm_group *group, const struct nm_phase *phase)
{
	const struct nm_instr *i = &group->instrs[phase->first];

	for (; i < &group->instrs[group->n_instrs] && i->step; i++)
		if (nm_instr_mix(i) || i->op == &nm_pseudo_rounds)
			return true;
	return false;
}

bool nm_instr_is_plain(const struct nm_instr *instr)
{
	return nm_instr_moves_message(instr) && !instr->transport->send &&
	       !instr->transport->recv && !(instr->transport->caps & NM_TRANSPORT_MESSAGES) &&
	       !instr->can_fail && !instr->timeout_ns && instr->step == instr->op->step;
}

static bool is_plain_read(const struct nm_instr *instr)
{
	return nm_instr_is_plain(instr) && (instr->op->flags & NM_FLOWOP_FOLLOWS);
}

static bool is_plain_write(const struct nm_instr *instr)
{
	return nm_instr_is_plain(instr) && (instr->op->flags & NM_FLOWOP_INITIATES);
}

/* Whether the instruction moves messages that may be lost, by plain calls. */
static bool is_datagram(const struct nm_instr *instr)
{
	return instr->op && !instr->can_fail && instr->step == instr->op->lossy_step &&
	       instr->op->lossy_step != instr->op->step && !instr->transport->send &&
	       !instr->transport->recv;
}

static bool is_datagram_read(const struct nm_instr *instr)
{
	return is_datagram(instr) && (instr->op->flags & NM_FLOWOP_FOLLOWS);
}

static bool is_datagram_write(const struct nm_instr *instr)
{
	return is_datagram(instr) && (instr->op->flags & NM_FLOWOP_INITIATES);
}

/* Whether the instruction asks or serves by plain calls, and cannot fail by a time-out. */
static bool is_plain_ask(const struct nm_instr *instr)
{
	return nm_instr_asks(instr) && !instr->transport->send && !instr->transport->recv &&
	       (!instr->timeout_ns || instr->lossy);
}

/* The instruction at which a flow waits for input again and again when its passes are nothing but a
 * request and its answer, at either end, or one message after the other that comes; NULL: they are
 * something else. */
static const struct nm_instr *only_wait(const struct nm_phase *phase, const struct nm_instr *body)
{
	const struct nm_instr *second = phase->n_instrs == 2 ? body + 1 : NULL;

	if (phase->n_instrs == 1 && is_plain_ask(body))
		return body;
	if (phase->leads)
		return second && ((is_plain_write(body) && body->expects_reply &&
				   is_plain_read(second)) ||
				  (is_datagram_write(body) && is_datagram_read(second)))
			       ? second
			       : NULL;
	if (body->pass.drains || phase->n_instrs > 2)
		return NULL;
	return (is_plain_read(body) && (!second || is_plain_write(second))) ||
			       (is_datagram_read(body) && (!second || is_datagram_write(second)))
		       ? body
		       : NULL;
}

/* Whether the worker alone decides how its connection is waited for. The completion of a send
 * without a copy comes as an error, which stays until it is taken. */
static bool is_simple(const struct nm_instr *instr)
{
	const uint32_t others = NM_TRANSPORT_MUX | NM_TRANSPORT_WAITS | NM_TRANSPORT_NO_PEER |
				NM_TRANSPORT_RECONNECTS;
	const uint32_t kind = instr->op->flags & (NM_FLOWOP_MOVES | NM_FLOWOP_FILES);

	if (!instr->transport)
		return true;
	return (instr->transport->caps & NM_TRANSPORT_RELIABLE) && !instr->transport->send &&
	       !instr->transport->recv && !(instr->transport->caps & others) &&
	       !instr->open.has_preamble && !instr->can_fail && !instr->open.defer_handshake &&
	       !(kind == NM_FLOWOP_MOVES &&
		 ((const struct nm_opts_message *)instr->opts)->zerocopy);
}

static void __attribute__((format(printf, 2, 3))) say(char (*why)[64], const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(*why, sizeof *why, format, args);
	va_end(args);
}

/* The connections of a phase: how they are opened, used and closed. */
struct conns {
	const struct nm_instr *first, *last, *opening, *accept; /* accept: the last, or NULL */
	const struct nm_instr *not_simple; /* the first such flowop; NULL: none is */
	unsigned n_opened, n_closed, n_accepts;
	bool connects;
};

static struct conns find_conns(const struct nm_group *group, const struct nm_phase *phase)
{
	struct conns found = {.first = &group->instrs[phase->first],
			      .last = &group->instrs[phase->first + phase->n_instrs] - 1};

	for (const struct nm_instr *i = found.first; i <= found.last; i++) {
		if (!found.not_simple && !is_simple(i))
			found.not_simple = i;
		found.n_closed += nm_instr_closes(i);
		if (!nm_instr_opens(i))
			continue;
		found.opening = i;
		found.n_opened++;
		found.n_accepts += nm_instr_accepts(i);
		if (nm_instr_accepts(i))
			found.accept = i;
		else
			found.connects = true;
	}
	return found;
}

/* Whether all connections that come in come to one listening socket, or none comes in. */
static bool has_one_listener(const struct conns *conns, uint32_t n_flows)
{
	const struct nm_instr *accept = conns->accept;

	return !accept || (conns->n_accepts == 1 && n_flows <= NM_FLOWS_PER_LISTEN_SOCKET &&
			   nm_transport_ports(accept->transport, accept->open.transport_opts) == 1);
}

/* Whether all that is moved are plain messages. */
static bool moves_plain_messages(const struct conns *conns)
{
	for (const struct nm_instr *i = conns->first; i <= conns->last; i++)
		if (nm_instr_moves(i) && !nm_instr_is_plain(i))
			return false;
	return true;
}

/* Whether the worker's epoll is to poll the network card before it sleeps, which poll(2) does
 * not. */
static bool polls_card(const struct nm_group *group)
{
	for (const struct nm_instr *i = group->instrs; i < &group->instrs[group->n_instrs]; i++)
		if (nm_instr_opens(i) &&
		    nm_transport_busy_poll_ns(i->transport, i->open.transport_opts))
			return true;
	return false;
}

/* Whether the poll waiter does for a phase whose passes have their own connections; otherwise notes
 * why not. */
static bool suits_poll(const struct nm_group *group, const struct nm_phase *phase,
		       const struct conns *conns, uint32_t n_flows, struct nm_phase_shape *shape)
{
	if (n_flows != 1)
		say(&shape->why_waiter, "not poll: %u flows", n_flows);
	else if (nm_phase_mixes(group, phase))
		say(&shape->why_waiter, "not poll: a mix or a sequence");
	else if (group->n_conns != 1)
		say(&shape->why_waiter, "not poll: %u connections a flow", group->n_conns);
	else if (group->spins)
		say(&shape->why_waiter, "not poll: wait=spin");
	else if (polls_card(group))
		say(&shape->why_waiter, "not poll: busy_poll");
	else if (!has_one_listener(conns, n_flows))
		say(&shape->why_waiter, "not poll: several listening sockets");
	return !*shape->why_waiter;
}

/* Whether the recv waiter does for any other phase; otherwise notes why not. */
static bool suits_recv(const struct nm_group *group, const struct nm_phase *phase, uint32_t n_flows,
		       struct nm_phase_shape *shape)
{
	const struct nm_instr *body = &group->instrs[phase->first + phase->entry];
	const struct nm_instr *read = phase->n_instrs ? only_wait(phase, body) : NULL;

	if (n_flows != 1)
		say(&shape->why_waiter, "not recv: %u flows", n_flows);
	else if (phase->anew.lives)
		say(&shape->why_waiter, "not recv: connections are replaced");
	else if (!read)
		say(&shape->why_waiter, "not recv: a pass is no request with its answer");
	else if (nm_phase_is_open(phase) || (phase->rate_per_s > 0 && phase->leads))
		say(&shape->why_waiter, "not recv: passes are paced");
	else
		shape->wait_at = (uint32_t)(read - group->instrs);
	return !*shape->why_waiter;
}

static void choose_waiter(const struct nm_group *group, const struct nm_phase *phase,
			  const struct conns *conns, uint32_t n_flows, struct nm_phase_shape *shape)
{
	if (phase->posts) {
		shape->waiter = NM_WAITER_URING;
	} else if (shape->short_lived) {
		if (suits_poll(group, phase, conns, n_flows, shape))
			shape->waiter = NM_WAITER_POLL;
	} else if (suits_recv(group, phase, n_flows, shape)) {
		shape->waiter = NM_WAITER_RECV;
	}
	shape->sleeps_in_recv = shape->waiter == NM_WAITER_POLL && conns->n_accepts &&
				!phase->drains && moves_plain_messages(conns);
}

/* Whether passes begin with a connection that comes in, and end when it is reset. */
static bool ends_by_reset(const struct nm_group *group, const struct nm_phase *phase,
			  const struct conns *conns)
{
	return nm_instr_accepts(&group->instrs[phase->first + phase->entry]) &&
	       nm_disconnect_resets(conns->last);
}

/* Chooses the policy, or notes why not. Where this end measures passes, it must not see their end
 * later than it was. */
static void choose_deferral(const struct nm_group *group, const struct nm_phase *phase, bool master,
			    const struct conns *conns, uint32_t n_flows,
			    struct nm_phase_shape *shape)
{
	bool polls = shape->waiter == NM_WAITER_POLL;

	if (!shape->short_lived && conns->n_opened && conns->n_closed)
		say(&shape->why_defer, "%.24s of line %u is not on a plain stream",
		    conns->not_simple->op->name, conns->not_simple->line);
	else if (!shape->short_lived)
		say(&shape->why_defer, "connections outlive a pass");
	else if (phase->drains)
		say(&shape->why_defer, "some hosts only send");
	else if (conns->connects && n_flows > 1)
		shape->defer = NM_DEFER_NEXT_TURN;
	else if (conns->connects)
		say(&shape->why_defer, "1 flow");
	else if (!ends_by_reset(group, phase, conns) || phase->leads)
		say(&shape->why_defer, "passes do not end by the other end's reset");
	else if (!has_one_listener(conns, n_flows))
		say(&shape->why_defer, "several listening sockets");
	else if (group->n_conns != 1)
		say(&shape->why_defer, "%u connections a flow", group->n_conns);
	else if (group->spins)
		say(&shape->why_defer, "wait=spin");
	else if (master && nm_phase_has_times(phase))
		say(&shape->why_defer, "this side measures the passes");
	else if (n_flows <= FEW_FLOWS && !polls)
		say(&shape->why_defer, "%u flow%s", n_flows, n_flows == 1 ? "" : "s");
	else
		shape->defer = NM_DEFER_UNTIL_NEEDED;
	if (shape->defer == NM_DEFER_UNTIL_NEEDED)
		shape->close_at = (uint32_t)(conns->last - group->instrs);
}

/* A flow that opens or closes a connection may look at it from time to time; one that asks may have
 * to open it anew. */
static bool has_deadlines(const struct nm_phase *phase, const struct conns *conns)
{
	for (const struct nm_instr *i = conns->first; i <= conns->last; i++)
		if (i->timeout_ns || nm_instr_opens(i) || nm_instr_closes(i) || nm_instr_asks(i))
			return true;
	return phase->pipeline || phase->anew.between_passes;
}

static void find_shape(const struct nm_group *group, const struct nm_phase *phase, bool master,
		       uint32_t n_flows, struct nm_phase_shape *shape)
{
	struct conns conns = find_conns(group, phase);
	bool lone = phase->n_instrs && conns.n_opened == 1 && conns.n_closed == 1 &&
		    nm_instr_closes(conns.last);

	*shape = (struct nm_phase_shape){.accept_at = NM_NO_INSTR,
					 .wait_at = NM_NO_INSTR,
					 .close_at = NM_NO_INSTR,
					 .make_ahead_at = NM_NO_INSTR,
					 .lone_conn = lone};
	if (conns.accept && has_one_listener(&conns, n_flows))
		shape->accept_at = (uint32_t)(conns.accept - group->instrs);
	shape->has_deadlines = has_deadlines(phase, &conns);
	shape->short_lived = conns.n_opened && conns.n_closed && !conns.not_simple;
	choose_waiter(group, phase, &conns, n_flows, shape);
	choose_deferral(group, phase, master, &conns, n_flows, shape);
	if (lone && conns.connects && nm_transport_makes_sockets(conns.opening->transport)) {
		shape->make_ahead_at = (uint32_t)(conns.opening - group->instrs);
		shape->resets = nm_disconnect_resets(conns.last);
	}
}

/* Workers have equally many flows, or the first of them one more. */
void nm_group_find_shapes(struct nm_group *group, bool master)
{
	uint32_t n_flows = group->n_flows / group->n_workers;

	for (uint32_t p = 0; p < group->n_phases; p++) {
		struct nm_phase *phase = &group->phases[p];

		find_shape(group, phase, master, n_flows + 1, &phase->shapes[0]);
		find_shape(group, phase, master, n_flows, &phase->shapes[1]);
	}
}

const struct nm_phase_shape *nm_phase_shape_of(const struct nm_group *group,
					       const struct nm_phase *phase, uint32_t worker)
{
	return &phase->shapes[worker >= group->n_flows % group->n_workers];
}

const char *nm_waiter_name(enum nm_waiter_kind kind)
{
	static const char *const names[] = {[NM_WAITER_EPOLL] = "epoll",
					    [NM_WAITER_POLL] = "poll",
					    [NM_WAITER_RECV] = "recv",
					    [NM_WAITER_URING] = "io_uring"};

	return names[kind];
}

const char *nm_defer_name(enum nm_defer_policy policy)
{
	static const char *const names[] = {[NM_DEFER_NO] = "none",
					    [NM_DEFER_NEXT_TURN] = "next turn",
					    [NM_DEFER_UNTIL_NEEDED] = "until needed"};

	return names[policy];
}

/* Whether the passes that the accept belongs to are several. */
static bool is_repeated(const struct nm_group *group, const struct nm_instr *accept)
{
	for (uint32_t k = 0; k < group->n_phases; k++) {
		const struct nm_phase *phase = &group->phases[k];
		const struct nm_instr *first = &group->instrs[phase->first];

		if (accept >= first && accept < first + phase->n_instrs)
			return phase->iterations != 1;
	}
	return true;
}

bool nm_shape_takes_messages(const struct nm_instr *accept)
{
	return nm_instr_is_public(accept) && (accept->transport->caps & NM_TRANSPORT_MESSAGES);
}

bool nm_shape_accepts_singly(const struct nm_group *group, const struct nm_instr *accept)
{
	const struct nm_instr *end = group->instrs + group->n_instrs;
	bool again = is_repeated(group, accept);

	if (nm_instr_is_public(accept)) /* nobody knows who connects */
		return false;

	for (const struct nm_instr *i = accept + 1; i < end && (i->step || !again); i++) {
		if (nm_instr_moves(i) && (i->op->flags & NM_FLOWOP_INITIATES))
			return true;
		if (nm_instr_closes(i) || nm_instr_mix(i) || i->op == &nm_pseudo_rounds)
			return false;
	}
	return false;
}
