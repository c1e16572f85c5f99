/* SPDX-License-Identifier: Apache-2.0 */
/* Single executions of flowops and single passes, taken from the engine of the master and told
 * while phases run. */
#ifndef NM_CONTROL_RESPONSES_H
#define NM_CONTROL_RESPONSES_H

#include "control/options.h"
#include "control/sampler.h"
#include "engine/engine.h"
#include "result/result.h"

struct nm_response_sampler;

/* Whether the options ask for such rows, and have a function that takes them. */
bool nm_responses_wanted(const struct nm_run_options *options);
/* NULL when out of memory. All are borrowed. Told to the event `responses` of the options, and
 * counted in the result, whose wall_offset_ns is known. */
struct nm_response_sampler *nm_response_sampler_new(const struct nm_plan *plan,
						    struct nm_engine *engine,
						    const struct nm_run_options *options,
						    struct nm_result *result);
struct nm_response_sampler *nm_response_sampler_free(struct nm_response_sampler *responses);
/* For a list of samplers; borrowed. */
struct nm_sampler *nm_response_sampler_base(struct nm_response_sampler *responses);
/* Takes the rows that are left after the last phase, and warns in the result of lost ones. */
void nm_response_sampler_finish(struct nm_response_sampler *responses);

#endif
