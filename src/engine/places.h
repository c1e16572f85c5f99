/* SPDX-License-Identifier: Apache-2.0 */
/* Where the flows of an engine are, and what they wait for: asked of the workers when a run does
 * not go on. */
#ifndef NM_ENGINE_PLACES_H
#define NM_ENGINE_PLACES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct nm_engine;
struct nm_instr;
struct nm_worker;

enum nm_flow_wait {
	NM_FLOW_WAIT_TURN,	 /* for nothing but its turn */
	NM_FLOW_WAIT_INPUT,	 /* for what its peer sends */
	NM_FLOW_WAIT_OUTPUT,	 /* for its peer to take what it sends */
	NM_FLOW_WAIT_CONNECTION, /* to be opened or accepted */
	NM_FLOW_WAIT_TIME,	 /* asleep */
	NM_FLOW_WAIT__COUNT
};

/* So many flows stand at one instruction of a group, and wait for one thing. */
struct nm_flow_place {
	uint32_t group;
	uint32_t site; /* the instruction, by its number in the group */
	uint32_t wait; /* enum nm_flow_wait */
	uint32_t flows;
};

#define NM_PLACES_MAX	      32u
#define NM_PLACES_OF_A_WORKER 8u

/* All zero: no flow is on its way. */
struct nm_flow_places {
	struct nm_flow_place list[NM_PLACES_MAX];
	size_t count;
	uint32_t more;	 /* flows at other places, for which there was no room */
	uint32_t silent; /* workers that have not answered */
};

/* What a worker answers; `list` and what follows it is the worker's until it has answered. */
struct nm_worker_places {
	_Atomic uint32_t answered;
	uint32_t count, more;
	struct nm_flow_place list[NM_PLACES_OF_A_WORKER];
};

/* --- the control thread --- */

/* Asks the workers; none of those that have not answered the last time. */
void nm_engine_places_ask(const struct nm_engine *engine);
/* Whether all have answered. */
bool nm_engine_places_answered(const struct nm_engine *engine);
/* What those have told that have answered. */
void nm_engine_places_read(const struct nm_engine *engine, struct nm_flow_places *ret_places);

/* Adds flows at a place to those that are known. */
void nm_flow_places_add(struct nm_flow_places *places, const struct nm_flow_place *place);

/* --- the worker --- */

/* Answers, when it was asked. */
void nm_worker_tell_places(struct nm_worker *worker);
/* What a flow waits for in such a state (enum nm_flow_state) at an instruction. */
enum nm_flow_wait nm_flow_wait_of(unsigned state, const struct nm_instr *instr);

#endif
