/* SPDX-License-Identifier: Apache-2.0 */
/* Watches the figures that transactions wait for (plan/plateau.h), on the master. */
#ifndef NM_CONTROL_PLATEAUS_H
#define NM_CONTROL_PLATEAUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "control/sampler.h"
#include "engine/engine.h"

struct nm_plateaus;

/* NULL when out of memory. The engine and the plan are borrowed; values are those of intervals of
 * that length, or of 1 s where it is 0. */
struct nm_plateaus *nm_plateaus_new(const struct nm_plan *plan, const struct nm_engine *engine,
				    uint64_t interval_ns);
struct nm_plateaus *nm_plateaus_free(struct nm_plateaus *plateaus);
/* For a list of samplers; borrowed. */
struct nm_sampler *nm_plateaus_base(struct nm_plateaus *plateaus);
/* When the figure of the group has settled in the present phase; 0: it has not, or none is
 * watched. */
uint64_t nm_plateaus_settled_ns(const struct nm_plateaus *plateaus, uint32_t group);
/* The group has done its passes of the present phase, or is told to stop: what it does afterwards
 * says nothing about its figure. */
void nm_plateaus_leave(struct nm_plateaus *plateaus, uint32_t group);
/* Whether a figure of the group is watched in the present phase or the last one, and has not
 * settled; then with a phrase in why. */
bool nm_plateaus_missed(const struct nm_plateaus *plateaus, uint32_t group, char *why,
			size_t why_size);

#endif
