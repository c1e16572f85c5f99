/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernel knows about each TCP connection (TCP_INFO, tcp(7)), read while the traffic runs.
 * The worker that has the connection reads it, when the control thread asks and a few flows at a
 * time: nobody else knows what its descriptors are. */
#ifndef NM_ENGINE_TCP_SAMPLER_H
#define NM_ENGINE_TCP_SAMPLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "transport/tcp_fields.h"

struct nm_engine;

struct nm_tcp_sample {
	uint64_t at_ns;
	uint32_t group, flow;
	uint32_t slot; /* of the connection, among those of its flow */
	uint64_t values[NM_TCP_N_FIELDS];
};

/* All of these need NM_OBSERVE_TCP; without it there are no samples. The control thread. */

/* Asks the workers; those that have not answered the last time are not asked again. */
void nm_engine_tcp_ask(const struct nm_engine *engine);
/* Whether all have answered: then their samples may be read, until they are asked again. */
bool nm_engine_tcp_answered(const struct nm_engine *engine);
typedef void (*nm_tcp_sample_fn)(void *arg, const struct nm_tcp_sample *sample);
/* Calls fn with each sample of the last answer; the sample is borrowed. */
void nm_engine_tcp_read(const struct nm_engine *engine, nm_tcp_sample_fn fn, void *arg);
/* Calls fn with each sample that was taken at the end of the last measured phase, which all workers
 * have left. */
void nm_engine_tcp_read_last(const struct nm_engine *engine, nm_tcp_sample_fn fn, void *arg);

#endif
