/* SPDX-License-Identifier: Apache-2.0 */
/* The places of an engine's flows in their programs, and the events that they wait for: the control
 * thread asks the workers for them when a run does not go on. */
#ifndef NM_ENGINE_PLACES_H
#define NM_ENGINE_PLACES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct nm_engine;
struct nm_flow;
struct nm_instr;
struct nm_worker;

enum nm_flow_wait {
	NM_FLOW_WAIT_TURN,	 /* for its turn only */
	NM_FLOW_WAIT_INPUT,	 /* for bytes from its peer */
	NM_FLOW_WAIT_OUTPUT,	 /* for its peer to take its bytes */
	NM_FLOW_WAIT_CONNECTION, /* for a connection to be opened or accepted */
	NM_FLOW_WAIT_TIME,	 /* until a time: it is asleep */
	NM_FLOW_WAIT__COUNT
};

#define NM_PLACE_PORTS 8u

struct nm_place_port {
	uint32_t port;
};

/* How many flows stand at one instruction of a group and wait for one thing. */
struct nm_flow_place {
	uint32_t group;
	uint32_t site; /* the instruction, by its number in the group */
	uint32_t wait; /* enum nm_flow_wait */
	uint32_t flows;
	/* Flows that connect: ports of the other end that have not answered yet. */
	struct nm_place_port ports[NM_PLACE_PORTS];
	size_t n_ports;
	bool more_ports; /* there are others, for which there was no room */
};

/* Connections whose bytes nothing acknowledges: nm_conn_info.unacked_bytes. */
struct nm_unacked {
	uint32_t connections; /* 0: there are none */
	uint64_t bytes;
	uint32_t segment; /* bytes of the largest segment that was sent again and again */
	/* The least nm_conn_info.again_ms of all connections, those others included; 0: none. */
	uint32_t again_ms;
};
/* Adds up those of two sets of connections. */
static inline void nm_unacked_add(struct nm_unacked *into, const struct nm_unacked *from)
{
	into->connections += from->connections;
	into->bytes += from->bytes;
	into->segment = from->segment > into->segment ? from->segment : into->segment;
	if (from->again_ms && (!into->again_ms || from->again_ms < into->again_ms))
		into->again_ms = from->again_ms;
}

#define NM_PLACES_MAX	      32u
#define NM_PLACES_OF_A_WORKER 8u

/* All zero: no flow is on its way. */
struct nm_flow_places {
	struct nm_flow_place list[NM_PLACES_MAX];
	size_t count;
	uint32_t more;	 /* flows at other places, for which there was no room */
	uint32_t silent; /* workers that have not answered */
	struct nm_unacked unacked;
};

/* The answer of a worker, which alone uses the members after `answered` until it has answered. */
struct nm_worker_places {
	_Atomic uint32_t answered;
	uint32_t count, more;
	struct nm_unacked unacked;
	struct nm_flow_place list[NM_PLACES_OF_A_WORKER];
};

/* --- the control thread --- */

/* Asks the workers, but for those that have not answered the last time. */
void nm_engine_places_ask(const struct nm_engine *engine);
/* Whether all have answered. */
bool nm_engine_places_answered(const struct nm_engine *engine);
/* Reads the answers of those workers that have answered. */
void nm_engine_places_read(const struct nm_engine *engine, struct nm_flow_places *ret_places);

/* Adds flows at a place to the list. */
void nm_flow_places_add(struct nm_flow_places *places, const struct nm_flow_place *place);

/* --- the worker --- */

/* Answers, when the control thread has asked. */
void nm_worker_tell_places(struct nm_worker *worker);
/* The port of the other end to which the flow connects with that instruction; 0: it connects with
 * none, or not to a port. */
uint32_t nm_flow_port(const struct nm_worker *worker, const struct nm_flow *flow,
		      const struct nm_instr *instr);
/* What a flow waits for in that state (enum nm_flow_state) at an instruction. */
enum nm_flow_wait nm_flow_wait_of(unsigned state, const struct nm_instr *instr);

#endif
