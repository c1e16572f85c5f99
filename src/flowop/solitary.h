/* SPDX-License-Identifier: Apache-2.0 */
/* Which flows are made on the idle path, where the ideal times of others are measured. */
#ifndef NM_FLOWOP_SOLITARY_H
#define NM_FLOWOP_SOLITARY_H

#include <stdint.h>

#define NM_SOLITARY_TEXT 256

/* Writes the law of their sizes, for flows of `least` to `most` bytes, which are at least 1.
 * Returns how many are made: 20 of each size, and 10 of a large one. They are to be made in its
 * order, which is ascending: where the time is over before all are made it is the largest sizes
 * that are missing. */
uint64_t nm_solitary_law(uint64_t least, uint64_t most, char ret_law[NM_SOLITARY_TEXT]);

#endif
