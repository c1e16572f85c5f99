/* SPDX-License-Identifier: Apache-2.0 */
/* Arrivals at equal distances. */
#include "flowop/arrival_law/arrival_law.h"

const struct nm_arrival_law nm_arrival_law_const = {
	.name = "const",
	.form = "const(RATE)",
	.args = {NM_ARRIVAL_RATE},
};
