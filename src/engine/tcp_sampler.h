/* SPDX-License-Identifier: Apache-2.0 */
/* Samples of the kernel's numbers about each TCP connection (TCP_INFO, tcp(7)) while the traffic
 * runs. The worker of the connection reads them, a few flows at a time, when the control thread
 * asks: only the worker knows the descriptors. */
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
	uint32_t slot; /* the connection's number in its flow */
	uint64_t values[NM_TCP_N_FIELDS];
};

/* All of these need NM_OBSERVE_TCP; without it there are no samples. The control thread calls
 * them. */

/* Asks the workers, but for those that have not answered the last time. */
void nm_engine_tcp_ask(const struct nm_engine *engine);
/* Whether all workers have answered: then their samples may be read, until they are asked again. */
bool nm_engine_tcp_answered(const struct nm_engine *engine);
typedef void (*nm_tcp_sample_fn)(void *arg, const struct nm_tcp_sample *sample);
/* Calls fn with each sample of the last answer; the sample is borrowed. */
void nm_engine_tcp_read(const struct nm_engine *engine, nm_tcp_sample_fn fn, void *arg);
/* Calls fn with each sample that was taken at the end of the last measured phase, which all workers
 * have left. */
void nm_engine_tcp_read_last(const struct nm_engine *engine, nm_tcp_sample_fn fn, void *arg);

#endif
