/* SPDX-License-Identifier: Apache-2.0 */
/* Solitary flows are of a few sizes, the smallest first: fewer of those that take long. */
#include "flowop/solitary.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "stats/idle_path.h"

#define OF_LARGE    10u
#define LARGE_BYTES 5000000u

uint64_t nm_solitary_law(uint64_t least, uint64_t most, char ret_law[NM_SOLITARY_TEXT])
{
	uint64_t sizes[NM_IDLE_SIZES], passes = 0;
	const size_t n = nm_idle_path_sizes(least, most, sizes);

	(void)snprintf(ret_law, NM_SOLITARY_TEXT, "discrete(");
	for (size_t i = 0; i < n; i++) {
		const unsigned weight = sizes[i] < LARGE_BYTES ? 2 : 1;
		const size_t used = strlen(ret_law);

		passes += (uint64_t)weight * OF_LARGE;
		(void)snprintf(ret_law + used, NM_SOLITARY_TEXT - used, "%" PRIu64 ":%u%s",
			       sizes[i], weight, i + 1 < n ? "," : ")");
	}
	return passes;
}
