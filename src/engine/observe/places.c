/* SPDX-License-Identifier: Apache-2.0 */
/* Counts the flows of a worker by place and by kind of wait, when the control thread asks, and adds
 * up the workers' answers. */
#include "engine/places.h"

#include "engine/engine_priv.h"
#include "flowop/flowop.h"

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
	}
	return true;
}

void nm_flow_places_add(struct nm_flow_places *places, const struct nm_flow_place *place)
{
	if (!add(places->list, &places->count, NM_PLACES_MAX, place))
		places->more += place->flows;
}

static void count_flows(const struct nm_worker *worker, struct nm_worker_places *places)
{
	const struct nm_phase *phase = worker->run.phase;
	size_t count = 0;

	for (uint32_t i = 0; phase && i < worker->n_flows; i++) {
		const struct nm_flow *flow = nm_worker_flow(worker, i);

		if (flow->state == NM_FLOW_IDLE || flow->error || !flow->at)
			continue;
		const struct nm_flow_place place = {
			.group = worker->group_no,
			.site = (uint32_t)(flow->at - worker->run.body) + phase->first +
				phase->entry,
			.wait = nm_flow_wait_of(flow->state, flow->at),
			.flows = 1};

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
		}
	}
}
