/* SPDX-License-Identifier: Apache-2.0 */
/* The document's part about what a host's CPUs and interrupts have cost: struct nm_costs. */
#include "report/costs.h"
#include "report/figures.h"

static const struct nm_figure costs_figures[] = {
	NM_FIGURE(CHARS, struct nm_costs, nic, "nic", .is_label = true,
		  .doc = "The interface with the most packets, whose these are."),
#define COST(word, its_name, label, format, its_doc)                                               \
	NM_FIGURE(REAL, struct nm_costs, value[NM_COST_##word], its_name,                          \
		  .schema = NM_SCHEMA_REAL_OR_NULL, .doc = its_doc),
	NM_COSTS(COST)
#undef COST
		NM_FIGURE_END,
};

const struct nm_object nm_costs_object = {
	.name = "costs",
	.doc = "What CPU time and interrupts of the whole machine have moved, in the measured "
	       "window; null: not known.",
	.figures = costs_figures,
};
