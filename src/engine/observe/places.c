/* SPDX-License-Identifier: Apache-2.0 */
/* Counts the flows of a worker by place and by kind of wait, when the control thread asks, and adds
 * up the workers' answers. */
#include "engine/places.h"

#include "engine/engine_priv.h"
#include "engine/tune.h"
#include "flowop/open_opts.h"
#include "flowop/flowop.h"
#include "flowop/queue.h"
#include "transport/address.h"
#include "transport/transport.h"

enum nm_flow_wait nm_flow_wait_of(unsigned state, const struct nm_instr *instr)
{
	unsigned flags = instr->op ? instr->op->flags : 0;

	switch (state) {
	case NM_FLOW_ASLEEP:
		return NM_FLOW_WAIT_TIME;
	case NM_FLOW_PARKED:
		return NM_FLOW_WAIT_CONNECTION;
	case NM_FLOW_IDLE:
	case NM_FLOW_READY:
		return NM_FLOW_WAIT_TURN;
	default:
		break;
	}
	if (flags & NM_FLOWOP_OPENS)
		return NM_FLOW_WAIT_CONNECTION;
	return (flags & NM_FLOWOP_MOVES) && !(flags & (NM_FLOWOP_FOLLOWS | NM_FLOWOP_BOTH))
		       ? NM_FLOW_WAIT_OUTPUT
		       : NM_FLOW_WAIT_INPUT;
}

static void add_ports(struct nm_flow_place *place, const struct nm_flow_place *more)
{
	place->more_ports |= more->more_ports;
	for (size_t k = 0; k < more->n_ports; k++) {
		size_t i = 0;

		while (i < place->n_ports && place->ports[i].port != more->ports[k].port)
			i++;
		if (i == NM_PLACE_PORTS)
			place->more_ports = true;
		else if (i == place->n_ports)
			place->ports[place->n_ports++] = more->ports[k];
	}
}

/* Adds the flows to their place in the list, or to a new entry; false: there is no room. */
static bool add(struct nm_flow_place *list, size_t *count, size_t room,
		const struct nm_flow_place *place)
{
	size_t i = 0;

	while (i < *count && (list[i].group != place->group || list[i].site != place->site ||
			      list[i].wait != place->wait))
		i++;
	if (i == room)
		return false;
	if (i == *count) {
		list[i] = *place;
		(*count)++;
	} else {
		list[i].flows += place->flows;
		add_ports(&list[i], place);
	}
	return true;
}

void nm_flow_places_add(struct nm_flow_places *places, const struct nm_flow_place *place)
{
	if (!add(places->list, &places->count, NM_PLACES_MAX, place))
		places->more += place->flows;
}

/* Whether the flow is at a write that finds out when its connection is there: see connect_step. */
static bool connects_by_write(const struct nm_flow *flow)
{
	return nm_instr_moves(flow->at) && flow->left == 0 &&
	       (flow->conn->flags & NM_CONN_CONNECTING) && nm_instr_opens(flow->at - 1);
}

uint32_t nm_flow_port(const struct nm_worker *worker, const struct nm_flow *flow,
		      const struct nm_instr *instr)
{
	if (!nm_instr_opens(instr) || nm_instr_accepts(instr))
		return 0;
	uint32_t port = nm_addr_port(nm_flow_endpoint(&worker->io, flow, instr));
	uint32_t row = nm_transport_ports(instr->transport, instr->open.transport_opts);

	return port && row > 1 ? port + flow->conn->number % row : port;
}

const struct nm_instr *nm_observe_original(const struct nm_worker *worker,
					   const struct nm_instr *instr)
{
	if (!nm_is_reopening(worker, instr))
		return instr;
	for (uint32_t i = 0; i < worker->group->n_instrs; i++) {
		const struct nm_instr *one = &worker->group->instrs[i];

		if (nm_instr_opens(one) && one->opening == instr->opening)
			return &nm_observe_program(&worker->observe, worker->group)[i];
	}
	return instr;
}

/* The place of a flow, and the port to which it connects. */
static void find_place(struct nm_worker *worker, struct nm_flow *flow, struct nm_flow_place *ret)
{
	const struct nm_phase *phase = worker->run.phase;
	const struct nm_instr *at = nm_observe_original(worker, flow->at);
	enum nm_flow_wait wait = nm_flow_wait_of(flow->state, at);

	if (wait == NM_FLOW_WAIT_OUTPUT && connects_by_write(flow)) {
		at--;
		wait = NM_FLOW_WAIT_CONNECTION;
	}
	if (nm_instr_is_queue(at))
		at = nm_queue_oldest(&worker->io, flow, at).instr;
	*ret = (struct nm_flow_place){.group = worker->group_no,
				      .site = (uint32_t)(at - worker->run.body) + phase->first +
					      phase->entry,
				      .wait = wait,
				      .flows = 1};
	uint32_t port = wait == NM_FLOW_WAIT_CONNECTION ? nm_flow_port(worker, flow, at) : 0;

	if (port)
		ret->ports[ret->n_ports++].port = port;
}

/* Looks at the open connections of a flow, each for some microseconds. */
static void look_at_conns(const struct nm_worker *worker, struct nm_flow *flow,
			  struct nm_unacked *unacked)
{
	for (uint32_t c = 0; c < worker->group->n_conns; c++) {
		const struct nm_conn *conn = nm_flow_conn(flow, c);
		struct nm_conn_info info;

		if (!(conn->flags & NM_CONN_OPEN) || !conn->transport->info ||
		    conn->transport->info(conn, &info) < 0)
			continue;
		const struct nm_unacked one = {.connections = info.unacked_bytes > 0,
					       .bytes = info.unacked_bytes,
					       .segment = info.unacked_bytes < info.snd_mss
								  ? (uint32_t)info.unacked_bytes
								  : info.snd_mss,
					       .again_ms = info.again_ms};

		nm_unacked_add(unacked, &one);
	}
}

/* Also those of flows that have ended: what they have sent last may still be on its way. */
static void look_at_flows(const struct nm_worker *worker, struct nm_unacked *unacked)
{
	uint32_t n_looks = worker->n_flows < NM_TUNE_PLACES_LOOKED_AT ? worker->n_flows
								      : NM_TUNE_PLACES_LOOKED_AT;

	for (uint32_t i = 0; i < n_looks; i++)
		look_at_conns(worker, nm_worker_flow(worker, i), unacked);
}

static void count_flows(struct nm_worker *worker, struct nm_worker_places *places)
{
	size_t count = 0;

	for (uint32_t i = 0; worker->run.phase && i < worker->n_flows; i++) {
		struct nm_flow *flow = nm_worker_flow(worker, i);
		struct nm_flow_place place;

		if (flow->state == NM_FLOW_IDLE || flow->error || !flow->at)
			continue;
		find_place(worker, flow, &place);
		if (place.site >= worker->group->n_instrs ||
		    !add(places->list, &count, NM_PLACES_OF_A_WORKER, &place))
			places->more++;
	}
	places->count = (uint32_t)count;
}

void nm_worker_tell_places(struct nm_worker *worker)
{
	struct nm_worker_places *places = &worker->answers.places;
	uint32_t asked = atomic_load_explicit(&worker->commands.places, memory_order_acquire);

	if (asked == atomic_load_explicit(&places->answered, memory_order_relaxed))
		return;
	places->more = 0;
	places->unacked = (struct nm_unacked){.connections = 0};
	look_at_flows(worker, &places->unacked);
	count_flows(worker, places);
	atomic_store_explicit(&places->answered, asked, memory_order_release);
	nm_worker_notify_owner(worker);
}

/* --- the control thread --- */

static bool has_answered(const struct nm_worker *worker)
{
	return atomic_load_explicit(&worker->answers.places.answered, memory_order_acquire) ==
	       atomic_load_explicit(&worker->commands.places, memory_order_relaxed);
}

void nm_engine_places_ask(const struct nm_engine *engine)
{
	for (uint32_t g = 0; g < engine->plan->n_groups; g++) {
		for (uint32_t w = 0; w < engine->groups[g].n_workers; w++) {
			struct nm_worker *worker = &engine->groups[g].workers[w];

			if (!has_answered(worker))
				continue;
			atomic_fetch_add_explicit(&worker->commands.places, 1,
						  memory_order_release);
			nm_worker_wake(worker);
		}
	}
}

bool nm_engine_places_answered(const struct nm_engine *engine)
{
	for (uint32_t g = 0; g < engine->plan->n_groups; g++) {
		for (uint32_t w = 0; w < engine->groups[g].n_workers; w++) {
			if (!has_answered(&engine->groups[g].workers[w]))
				return false;
		}
	}
	return true;
}

void nm_engine_places_read(const struct nm_engine *engine, struct nm_flow_places *ret_places)
{
	*ret_places = (struct nm_flow_places){.count = 0};
	for (uint32_t g = 0; g < engine->plan->n_groups; g++) {
		for (uint32_t w = 0; w < engine->groups[g].n_workers; w++) {
			const struct nm_worker *worker = &engine->groups[g].workers[w];
			const struct nm_worker_places *places = &worker->answers.places;

			if (!has_answered(worker)) {
				ret_places->silent++;
				continue;
			}
			for (uint32_t i = 0; i < places->count; i++)
				nm_flow_places_add(ret_places, &places->list[i]);
			ret_places->more += places->more;
			nm_unacked_add(&ret_places->unacked, &places->unacked);
		}
	}
}
