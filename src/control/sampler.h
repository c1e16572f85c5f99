/* SPDX-License-Identifier: Apache-2.0 */
/* Samplers read figures by the clock while a phase runs. Each sampler says when it is due next; the
 * event loop that owns the list wakes up for the first of them, and knows none of them by name.
 * Master and slave sessions each have a list.
 *
 * A sampler is called by the thread of its event loop alone. */
#ifndef NM_CONTROL_SAMPLER_H
#define NM_CONTROL_SAMPLER_H

#include <stdbool.h>
#include <stdint.h>

#include "control/wire/codec.h"

struct nm_sampler;

struct nm_sampler_ops {
	/* A phase begins, after the one before has ended. */
	void (*begin)(struct nm_sampler *sampler, const struct nm_phase_order *order,
		      uint64_t begin_ns);
	/* When run is due, by the monotonic clock; UINT64_MAX: not now. */
	uint64_t (*next_ns)(const struct nm_sampler *sampler);
	/* Reads the figures that are due. Also called earlier, whenever the event loop has woken
	 * up. */
	void (*run)(struct nm_sampler *sampler, uint64_t now_ns);
	/* The phase is over. Does nothing when none runs. */
	void (*end)(struct nm_sampler *sampler, uint64_t now_ns);
	/* The phase is over for this sampler when all hosts have finished it, not already when this
	 * one has. */
	bool until_all;
};

/* The first member of each sampler. */
struct nm_sampler {
	const struct nm_sampler_ops *ops;
	struct nm_sampler *next;
	/* Out of memory: figures are missing. */
	bool failed;
};

/* Samplers in the order in which they are called. All zero is an empty list. */
struct nm_samplers {
	struct nm_sampler *first;
};

/* Appends a sampler, which is borrowed as long as the list is used. */
void nm_samplers_add(struct nm_samplers *samplers, struct nm_sampler *sampler);
/* Puts it before all others. */
void nm_samplers_add_first(struct nm_samplers *samplers, struct nm_sampler *sampler);
void nm_samplers_begin(const struct nm_samplers *samplers, const struct nm_phase_order *order,
		       uint64_t begin_ns);
/* When nm_samplers_run is due; UINT64_MAX: not now. */
uint64_t nm_samplers_next_ns(const struct nm_samplers *samplers);
void nm_samplers_run(const struct nm_samplers *samplers, uint64_t now_ns);
/* This host has finished the phase; `all`: so have all others, or the phase is given up. */
void nm_samplers_end(const struct nm_samplers *samplers, bool all, uint64_t now_ns);
bool nm_samplers_failed(const struct nm_samplers *samplers);

#endif
